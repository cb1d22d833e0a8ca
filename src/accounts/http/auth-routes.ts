import type { z } from 'zod';
import { toJson } from '../../platform/http/json.ts';
import { doneSchema } from '../../platform/http/ops-route.ts';
import { routesFor, type Route, type RouteDefinition } from '../../platform/http/route.ts';
import {
  acceptInvitationBody,
  acceptedSchema,
  changeOwnPasswordBody,
  codeBody,
  confirmResetBody,
  confirmUserBody,
  currentUserSchema,
  firstCodeBody,
  mailSentSchema,
  ownPasswordBody,
  requestResetBody,
  secondFactorSchema,
  signedInSchema,
  signUpBody,
  removeSecondFactorBody,
  userSignInBody,
} from './auth-schema.ts';
import type { UserCases } from '../users/users.ts';
import { presentCurrentUser, presentMailSent } from './present-users.ts';

const defineRoute = routesFor<UserCases>();

const TAG = 'Signing in';

type Defaults = 'scope' | 'shapes' | 'errors' | 'key';
type Definition<Rule extends 'anybody' | 'user', Body extends z.ZodObject | undefined> = Omit<
  RouteDefinition<Rule, undefined, Body, UserCases>,
  Defaults
> & { readonly errors?: RouteDefinition<Rule, undefined, Body, UserCases>['errors'] };

const forAnybody = <Body extends z.ZodObject | undefined = undefined>(
  definition: Definition<'anybody', Body>,
): Route<UserCases> =>
  defineRoute<'anybody', undefined, Body>({
    errors: [],
    ...definition,
    key: 'anybody',
    scope: undefined,
    shapes: ['general'],
  });

const forUser = <Body extends z.ZodObject | undefined = undefined>(
  definition: Definition<'user', Body>,
): Route<UserCases> =>
  defineRoute<'user', undefined, Body>({
    errors: [],
    ...definition,
    key: 'user',
    scope: undefined,
    shapes: ['general'],
  });

const DONE = toJson({ success: true, data: { done: true } });
const signedIn = (secondFactor: boolean): string => toJson({ success: true, data: { secondFactor } });

const signUpRoute = forAnybody({
  method: 'POST',
  path: '/auth/users',
  body: signUpBody,
  responses: { 202: { description: 'A mail with a link is on its way', schema: mailSentSchema } },
  docs: {
    operationId: 'signUp',
    tag: TAG,
    summary: 'Sign up',
    description:
      'Sends a mail with a link that is valid for 24 hours. The account exists once the link was opened. The answer is the same for an ' +
      'address that has a user already; the mail then says so. Signing up again before that replaces what was sent before.',
  },
  async handle({ cases, browser, body, context }) {
    const mail = await cases.signUp(body, { ...browser, ...context });
    return { status: 202, body: toJson(presentMailSent(mail)) };
  },
});

const confirmRoute = forAnybody({
  method: 'POST',
  path: '/auth/users/confirm',
  body: confirmUserBody,
  errors: ['UNAUTHORIZED'],
  responses: { 200: { description: 'The account exists, and you are signed in', schema: signedInSchema } },
  docs: {
    operationId: 'confirmUser',
    tag: TAG,
    summary: 'Confirm your e-mail address',
    description:
      'Makes the account, of which you are the owner, and signs you in. Takes the password that was chosen when signing up, so that no one ' +
      'can confirm the sign-up of another person. A wrong one counts like a failed sign-in. A link works once: later, sign in with your password.',
  },
  async handle({ cases, browser, body }) {
    const { cookies } = await cases.confirmUser(body, browser);
    return { status: 200, body: signedIn(false), cookies };
  },
});

const signInRoute = forAnybody({
  method: 'POST',
  path: '/auth/sessions',
  body: userSignInBody,
  errors: ['UNAUTHORIZED', 'FORBIDDEN'],
  responses: { 200: { description: 'Signed in, or a code is needed next', schema: signedInSchema } },
  docs: {
    operationId: 'signInUser',
    tag: TAG,
    summary: 'Sign in with a cookie',
    description:
      'Sets the cookie of the session. With a second factor it sets a cookie for the next step, valid for 10 minutes. At most 10 tries a ' +
      'minute from one address. 10 wrong passwords in a row lock a user out for 15 minutes. The answer is the same for an unknown e-mail ' +
      'address, a wrong password and a user who is locked out.',
  },
  async handle({ cases, browser, body }) {
    const { cookies, secondFactor } = await cases.signIn(body, browser);
    return { status: 200, body: signedIn(secondFactor), cookies };
  },
});

const secondStepRoute = forAnybody({
  method: 'POST',
  path: '/auth/sessions/second-factor',
  body: codeBody,
  errors: ['UNAUTHORIZED'],
  responses: { 200: { description: 'Signed in', schema: signedInSchema } },
  docs: {
    operationId: 'sendSecondFactor',
    tag: TAG,
    summary: 'Send the code of your second factor',
    description:
      'After signing in with the password. 5 wrong codes end the step: sign in again. 10 in a row lock the second factor for 15 minutes.',
  },
  async handle({ cases, browser, body }) {
    const { cookies } = await cases.sendSecondFactor(body.code, browser);
    return { status: 200, body: signedIn(false), cookies };
  },
});

const signOutRoute = forUser({
  method: 'DELETE',
  path: '/auth/sessions/current',
  responses: { 200: { description: 'Signed out', schema: doneSchema } },
  docs: {
    operationId: 'signOutUser',
    tag: TAG,
    summary: 'Sign out',
    description: 'Ends this session at once, and removes its cookie. Your other sessions stay open.',
  },
  async handle({ cases, session, browser }) {
    const { cookies } = await cases.signOut(session, browser);
    return { status: 200, body: DONE, cookies };
  },
});

const meRoute = forUser({
  method: 'GET',
  path: '/auth/me',
  responses: { 200: { description: 'Who is signed in', schema: currentUserSchema } },
  docs: {
    operationId: 'getCurrentUser',
    tag: TAG,
    summary: 'Read who is signed in',
    description: 'With the accounts that you belong to, and what your role in each lets you do.',
  },
  async handle({ cases, session }) {
    return { status: 200, body: toJson(presentCurrentUser(await cases.describe(session))) };
  },
});

const passwordRoute = forUser({
  method: 'POST',
  path: '/auth/me/password',
  body: changeOwnPasswordBody,
  takesPassword: true,
  responses: { 200: { description: 'Changed', schema: doneSchema } },
  docs: {
    operationId: 'changeOwnPassword',
    tag: TAG,
    summary: 'Change your password',
    description:
      'Ends your other sessions, and links for a new password that were sent. A wrong current password counts like a failed sign-in.',
  },
  async handle({ cases, session, browser, body }) {
    await cases.changePassword(session, body, browser);
    return { status: 200, body: DONE };
  },
});

const SECOND_FACTOR = '/auth/me/second-factor';

const addSecondFactorRoute = forUser({
  method: 'POST',
  path: SECOND_FACTOR,
  body: ownPasswordBody,
  takesPassword: true,
  responses: { 200: { description: 'Not in use yet: confirm it', schema: secondFactorSchema } },
  docs: {
    operationId: 'addSecondFactor',
    tag: TAG,
    summary: 'Add a second factor',
    description:
      'For an authenticator app (TOTP). It is in use once you have sent a first code. Asking again before that replaces it.',
  },
  async handle({ cases, session, browser, body }) {
    const made = await cases.addSecondFactor(session, body.password, browser);
    return { status: 200, body: toJson({ success: true, data: made }) };
  },
});

const confirmSecondFactorRoute = forUser({
  method: 'POST',
  path: `${SECOND_FACTOR}/confirm`,
  body: firstCodeBody,
  responses: { 200: { description: 'In use from now on', schema: doneSchema } },
  docs: {
    operationId: 'confirmSecondFactor',
    tag: TAG,
    summary: 'Confirm your second factor',
    description:
      'By a first code of the app. From now on signing in needs a code. Ends your other sessions, which began without one.',
  },
  async handle({ cases, session, browser, body }) {
    const { cookies } = await cases.confirmSecondFactor(session, body.code, browser);
    return { status: 200, body: DONE, cookies };
  },
});

const removeSecondFactorRoute = forUser({
  method: 'DELETE',
  path: SECOND_FACTOR,
  body: removeSecondFactorBody,
  takesPassword: true,
  responses: { 200: { description: 'Removed', schema: doneSchema } },
  docs: {
    operationId: 'removeSecondFactor',
    tag: TAG,
    summary: 'Remove your second factor',
    description:
      'Takes a code too, once the second factor is in use. A wrong one counts like a failed sign-in. From now on the password is enough. ' +
      'Recovery codes stop working.',
  },
  async handle({ cases, session, browser, body }) {
    const { cookies } = await cases.removeSecondFactor(session, body, browser);
    return { status: 200, body: DONE, cookies };
  },
});

const requestResetRoute = forAnybody({
  method: 'POST',
  path: '/auth/password-resets',
  body: requestResetBody,
  responses: {
    202: { description: 'A mail is on its way, if there is such a user', schema: mailSentSchema },
  },
  docs: {
    operationId: 'requestPasswordReset',
    tag: TAG,
    summary: 'Ask for a new password',
    description:
      'Sends a mail with a link that is valid for one hour. The answer is the same for an unknown address.',
  },
  async handle({ cases, browser, body, context }) {
    const mail = await cases.requestPasswordReset(body.email, { ...browser, ...context });
    return { status: 202, body: toJson(presentMailSent(mail)) };
  },
});

const confirmResetRoute = forAnybody({
  method: 'POST',
  path: '/auth/password-resets/confirm',
  body: confirmResetBody,
  responses: { 200: { description: 'Changed: sign in with it', schema: doneSchema } },
  docs: {
    operationId: 'confirmPasswordReset',
    tag: TAG,
    summary: 'Choose a new password',
    description:
      'With the token from the mail, once. Ends a lockout, all sessions of the user and the other links.',
  },
  async handle({ cases, browser, body }) {
    await cases.resetPassword(body, browser);
    return { status: 200, body: DONE };
  },
});

const acceptRoute = forAnybody({
  method: 'POST',
  path: '/auth/invitations/accept',
  body: acceptInvitationBody,
  responses: { 200: { description: 'You belong to the account', schema: acceptedSchema } },
  docs: {
    operationId: 'acceptInvitation',
    tag: TAG,
    summary: 'Accept an invitation',
    description:
      'With the token from the mail, once. A new user sends `name` and `password` too, and is signed in. A user who exists already is ' +
      'added to the account, and signs in as always.',
  },
  async handle({ cases, browser, body }) {
    const { accountId, isSignedIn, cookies } = await cases.acceptInvitation(body, browser);
    return { status: 200, body: toJson({ success: true, data: { accountId, isSignedIn } }), cookies };
  },
});

export const authRoutes: readonly Route<UserCases>[] = [
  signUpRoute,
  confirmRoute,
  signInRoute,
  secondStepRoute,
  signOutRoute,
  meRoute,
  passwordRoute,
  addSecondFactorRoute,
  confirmSecondFactorRoute,
  removeSecondFactorRoute,
  requestResetRoute,
  confirmResetRoute,
  acceptRoute,
];
