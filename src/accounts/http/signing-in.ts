import { z } from 'zod';
import { ENVIRONMENTS, PLANS } from '../../domain/account.ts';
import { MEMBER_PERMISSIONS, MEMBER_ROLES, memberMay } from '../../domain/member-roles.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { ROLES } from '../../domain/operator-roles.ts';
import {
  isoTime,
  listSchema,
  text,
  yesNo,
  namedObject,
  dataObject,
} from '../../platform/http/answer-fields.ts';
import { routesWith } from '../../platform/http/define-routes.ts';
import { choiceField, textField } from '../../platform/http/fields.ts';
import { MAX_LINK_TOKEN_CHARACTERS } from '../../platform/http/limits.ts';
import type { Route } from '../../platform/http/route.ts';
import type { UserCases } from '../users/users.ts';
import {
  allowed,
  codeField,
  companyNameField,
  emailField,
  loginFields,
  mailSentSchema,
  newPasswordField,
  personNameField,
  passwordChangeBody,
  passwordField,
  mustAddSecondFactor,
} from './shared.ts';

const nameField = personNameField('Your name');

const tokenField = textField({ max: MAX_LINK_TOKEN_CHARACTERS, description: 'From the link in the mail' });

const signUpBody = namedObject('SignUpRequest', {
  email: emailField('You sign in with it. It must be able to receive mail'),
  password: newPasswordField,
  name: nameField,
  companyName: companyNameField('The name of the company'),
  currency: choiceField(ACCOUNT_CURRENCIES, {
    description: 'Of the wallet and of all prices. It never changes',
    example: 'USD',
  }),
});

const confirmUserBody = namedObject('ConfirmUserRequest', {
  token: tokenField,
  password: passwordField('The one that was chosen when signing up'),
});

const codeBody = namedObject('SecondFactorRequest', {
  code: codeField('Of your authenticator app, or one of your recovery codes'),
});

const firstCodeBody = namedObject('ConfirmSecondFactorRequest', {
  code: codeField('Of your authenticator app'),
});

const ownPasswordBody = namedObject('OwnPasswordRequest', { password: passwordField('Your password') });

const removeSecondFactorBody = ownPasswordBody
  .extend({
    code: codeField('Of your authenticator app, or a recovery code. Required once it is in use').optional(),
  })
  .meta({ id: 'RemoveSecondFactorRequest' });

const confirmSessionBody = ownPasswordBody
  .extend({
    code: codeField(
      'Of your authenticator app, or a recovery code. Required with a second factor',
    ).optional(),
  })
  .meta({ id: 'ConfirmSessionRequest' });

const requestResetBody = namedObject('PasswordResetRequest', {
  email: emailField('The one you sign in with'),
});

const confirmResetBody = namedObject('ConfirmPasswordResetRequest', {
  token: tokenField,
  newPassword: newPasswordField,
});

const acceptInvitationBody = z
  .object({ token: tokenField, name: nameField.optional(), password: newPasswordField.optional() })
  .meta({
    id: 'AcceptInvitationRequest',
    description: '`name` and `password` are needed where the e-mail address has no user yet',
  });

const signedInSchema = dataObject('SignedIn', {
  secondFactor: yesNo(
    'true: send a code to `POST /auth/sessions/second-factor` next. false: you are signed in',
  ),
});

const acceptedSchema = dataObject('AcceptedInvitation', {
  accountId: z.string(),
  isSignedIn: yesNo('false: sign in with your password'),
});

const secondFactorSchema = dataObject('NewSecondFactor', {
  otpauthUri: text('For an authenticator app, as text or as a QR code'),
  recoveryCodes: z
    .array(z.string())
    .describe('Each works once in place of a code. Shown in this answer only: keep them'),
});

const sessionItem = namedObject('OwnSession', {
  sessionId: z.string().meta({ example: '6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  device: text('The browser, or the program', 'Firefox on Windows'),
  address: text('Where it began; null: not known', '192.0.2.7').nullable(),
  createdAt: isoTime('When it began'),
  lastUsedAt: isoTime('To about a minute'),
  isCurrent: yesNo('The one that sends this request'),
});

const membership = namedObject('Membership', {
  accountId: z.string().meta({ example: 'acc-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  accountName: z.string(),
  currency: z.enum(ACCOUNT_CURRENCIES),
  plan: z.enum(PLANS),
  role: z.enum(MEMBER_ROLES),
  permissions: z.array(z.enum(MEMBER_PERMISSIONS)),
});

const currentUserSchema = dataObject('CurrentUser', {
  user: z.object({
    userId: z.string().meta({ example: 'user-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
    email: z.string(),
    name: z.string(),
    hasSecondFactor: z.boolean(),
  }),
  memberships: z.array(membership).describe('The accounts that you belong to'),
  operator: z
    .object({
      personId: z.string(),
      role: z.enum(ROLES),
      permissions: z.array(z.string()).describe('As in the document of operators'),
      actions: z.array(z.string()).describe('As in the document of operators'),
      mustChangePassword: yesNo(
        'Signed in with a one-time password: choose another first, `POST /auth/me/password`',
      ),
      mustAddSecondFactor,
    })
    .nullable()
    .describe('What you may do as an operator of this service, if you are one'),
  environments: z.array(z.enum(ENVIRONMENTS)).describe('The values that `Simway-Environment` may have here'),
  expiresAt: isoTime('When the session ends; it ends sooner after 30 minutes without a request'),
});

const forAnybody = routesWith<UserCases, 'anybody'>('anybody', 'Signing in');
const SESSION_ID = /^[\w-]{1,64}$/;
const forUser = routesWith<UserCases, 'user'>('user', 'Signing in', {
  params: {
    sessionId: {
      description: 'The `sessionId` of one of your sessions',
      example: '6f9619ff8b864d0191f1c2d3e4f5a6b7',
      isPossible: (text) => SESSION_ID.test(text),
      notFound: { code: 'NOT_FOUND', message: 'No such session' },
    },
  },
});

const SECOND_FACTOR = '/auth/me/second-factor';

export const authRoutes: readonly Route<UserCases>[] = [
  forAnybody.post('/auth/users', {
    body: signUpBody,
    answer: [202, 'A mail with a link is on its way', mailSentSchema],
    operationId: 'signUp',
    summary: 'Sign up',
    description:
      'Sends a mail with a link that is valid for 24 hours. The account exists once the link was opened. The answer is the same for an ' +
      'address that has a user already; the mail then says so. Several sign-ups of an address may wait: the first link that is opened decides.',
    handle: async ({ cases, browser, body, context }) => ({
      sandboxMail: await cases.signUp(body, { ...browser, ...context }),
    }),
  }),
  forAnybody.post('/auth/users/confirm', {
    body: confirmUserBody,
    errors: ['UNAUTHORIZED'],
    answer: [200, 'The account exists, and you are signed in', signedInSchema],
    operationId: 'confirmUser',
    summary: 'Confirm your e-mail address',
    description:
      'Makes the account, of which you are the owner, and signs you in. Takes the password that was chosen when signing up, so that no one ' +
      'can confirm the sign-up of another person. Ten wrong ones void the link. It works once: later, sign in with your password.',
    handle: ({ cases, browser, body }) => cases.confirmUser(body, browser),
  }),
  forAnybody.post('/auth/sessions', {
    body: namedObject('UserSignInRequest', loginFields('ada@merchant.example', 'Your password')),
    errors: ['UNAUTHORIZED'],
    answer: [200, 'Signed in, or a code is needed next', signedInSchema],
    operationId: 'signInUser',
    summary: 'Sign in with a cookie',
    description:
      'Sets the cookie of the session. With a second factor it sets a cookie for the next step, valid for 10 minutes. At most 10 tries a ' +
      'minute from one address. 10 wrong passwords in a row lock that address out of the user for 15 minutes. The answer is the same for an unknown e-mail ' +
      'address, a wrong password and a user who is locked out.',
    handle: ({ cases, browser, body }) => cases.signIn(body, browser),
  }),
  forAnybody.post('/auth/sessions/second-factor', {
    body: codeBody,
    errors: ['UNAUTHORIZED'],
    answer: [200, 'Signed in', signedInSchema],
    operationId: 'sendSecondFactor',
    summary: 'Send the code of your second factor',
    description:
      'After signing in with the password. 5 wrong codes end the step: sign in again. 10 in a row lock the second factor for 15 minutes.',
    handle: async ({ cases, browser, body }) => ({
      ...(await cases.sendSecondFactor(body.code, browser)),
      secondFactor: false,
    }),
  }),
  forUser.post('/auth/sessions/confirm', {
    body: confirmSessionBody,
    takesSecret: true,
    answer: 'Confirmed, for 15 minutes',
    operationId: 'confirmSession',
    summary: 'Give your password again',
    description:
      'Before what answers `CONFIRMATION_REQUIRED`; then repeat that request. Takes a code too, if you have a second factor. Signing in ' +
      'does the same. A wrong password or code counts like a failed sign-in.',
    handle: ({ cases, session, browser, body }) => cases.confirmSession(session, body, browser),
  }),
  forUser.delete('/auth/sessions/current', {
    answer: 'Signed out',
    operationId: 'signOutUser',
    summary: 'Sign out',
    description: 'Ends this session at once, and removes its cookie. Your other sessions stay open.',
    handle: ({ cases, session, browser }) => cases.signOut(session, browser),
  }),
  forUser.get('/auth/sessions', {
    answer: [200, 'All open ones, the last used first', listSchema(sessionItem, 'SessionList')],
    operationId: 'listSessions',
    summary: 'List where you are signed in',
    description: 'Browsers, and programs of operators. No session is shown with what opens it.',
    handle: async ({ cases, session, browser }) => ({ items: await cases.listSessions(session, browser) }),
  }),
  forUser.delete('/auth/sessions', {
    answer: 'Ended, all but this one',
    operationId: 'endOtherSessions',
    summary: 'Sign out everywhere else',
    description: 'Ends your other sessions at once, those of programs too.',
    handle: ({ cases, session, browser }) => cases.endOtherSessions(session, browser),
  }),
  forUser.delete('/auth/sessions/{sessionId}', {
    answer: 'Ended',
    operationId: 'endSession',
    summary: 'Sign out somewhere',
    description: 'Ends one of your sessions at once. One of another user is not found.',
    handle: ({ cases, session, params }) => cases.endOwnSession(session, params.sessionId),
  }),
  forUser.get('/auth/me', {
    answer: [200, 'Who is signed in', currentUserSchema],
    operationId: 'getCurrentUser',
    summary: 'Read who is signed in',
    description: 'With the accounts that you belong to, and what your role in each lets you do.',
    async handle({ cases, session }) {
      const { memberships, environments } = await cases.describe(session);
      const { operator } = session;
      return {
        ...session,
        memberships: memberships.map(({ account, role }) => ({
          ...account,
          accountId: account.id,
          accountName: account.name,
          role,
          permissions: MEMBER_PERMISSIONS.filter((permission) => memberMay(role, permission)),
        })),
        operator: operator ? { ...operator, ...operator.person, ...allowed(operator.person.role) } : null,
        environments,
      };
    },
  }),
  forUser.post('/auth/me/password', {
    body: passwordChangeBody('ChangeOwnPasswordRequest'),
    takesSecret: true,
    answer: 'Changed',
    operationId: 'changeOwnPassword',
    summary: 'Change your password',
    description:
      'Ends your other sessions, and links for a new password that were sent. A wrong current password counts like a failed sign-in.',
    handle: ({ cases, session, browser, body }) => cases.changePassword(session, body, browser),
  }),
  forUser.post(SECOND_FACTOR, {
    body: ownPasswordBody,
    takesSecret: true,
    answer: [200, 'Not in use yet: confirm it', secondFactorSchema],
    operationId: 'addSecondFactor',
    summary: 'Add a second factor',
    description:
      'For an authenticator app (TOTP). It is in use once you have sent a first code. Asking again before that replaces it.',
    handle: ({ cases, session, browser, body }) => cases.addSecondFactor(session, body.password, browser),
  }),
  forUser.post(`${SECOND_FACTOR}/confirm`, {
    body: firstCodeBody,
    confirmed: true,
    answer: 'In use from now on',
    operationId: 'confirmSecondFactor',
    summary: 'Confirm your second factor',
    description:
      'By a first code of the app. From now on signing in needs a code. Ends your other sessions, which began without one.',
    handle: ({ cases, session, browser, body }) => cases.confirmSecondFactor(session, body.code, browser),
  }),
  forUser.delete(SECOND_FACTOR, {
    body: removeSecondFactorBody,
    takesSecret: true,
    answer: 'Removed',
    operationId: 'removeSecondFactor',
    summary: 'Remove your second factor',
    description:
      'Takes a code too, once the second factor is in use. A wrong one counts like a failed sign-in. From now on the password is enough. ' +
      'Recovery codes stop working.',
    handle: ({ cases, session, browser, body }) => cases.removeSecondFactor(session, body, browser),
  }),
  forAnybody.post('/auth/password-resets', {
    body: requestResetBody,
    answer: [202, 'A mail is on its way, if there is such a user', mailSentSchema],
    operationId: 'requestPasswordReset',
    summary: 'Ask for a new password',
    description:
      'Sends a mail with a link that is valid for one hour. The answer is the same for an unknown address.',
    handle: async ({ cases, browser, body, context }) => ({
      sandboxMail: await cases.requestPasswordReset(body.email, { ...browser, ...context }),
    }),
  }),
  forAnybody.post('/auth/password-resets/confirm', {
    body: confirmResetBody,
    answer: 'Changed: sign in with it',
    operationId: 'confirmPasswordReset',
    summary: 'Choose a new password',
    description:
      'With the token from the mail, once. Ends a lockout, all sessions of the user and the other links.',
    handle: ({ cases, browser, body }) => cases.resetPassword(body, browser),
  }),
  forAnybody.post('/auth/invitations/accept', {
    body: acceptInvitationBody,
    answer: [200, 'You belong to the account', acceptedSchema],
    operationId: 'acceptInvitation',
    summary: 'Accept an invitation',
    description:
      'With the token from the mail, once. A new user sends `name` and `password` too, and is signed in. A user who exists already is ' +
      'added to the account, and signs in as always.',
    handle: ({ cases, browser, body }) => cases.acceptInvitation(body, browser),
  }),
];
