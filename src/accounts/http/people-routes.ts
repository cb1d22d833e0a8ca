import { isId } from '../../domain/ids.ts';
import { toJson } from '../../platform/http/json.ts';
import { presentPage } from '../../platform/http/page.ts';
import { routesFor, type PathParameter, type Route } from '../../platform/http/route.ts';
import { opsRoutesFor, doneSchema } from '../../platform/http/ops-route.ts';
import {
  presentChange,
  presentFirstHalf,
  presentMe,
  presentNewSession,
  presentPerson,
  presentSecondHalf,
} from './present-people.ts';
import {
  changePasswordBody,
  changePersonBody,
  confirmBody,
  createPersonBody,
  firstHalfSchema,
  meSchema,
  peoplePageSchema,
  peopleQuery,
  personChangeSchema,
  secondHalfSchema,
  sessionSchema,
  signInBody,
} from './people-schema.ts';
import type { OperatorAccessCases } from '../operators/use-cases.ts';

const defineOpsRoute = opsRoutesFor<OperatorAccessCases>();

const ME = 'Signing in';
const TAG = 'People';
const PEOPLE = '/ops/people';
const ONE = `${PEOPLE}/{personId}`;

const personId: PathParameter = {
  description: 'The `personId` of a person',
  example: 'user-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('user', text),
  notFound: { code: 'NOT_FOUND', message: 'No such person' },
};

const DONE = toJson({ success: true, data: { done: true } });

const signInRoute = routesFor<OperatorAccessCases>()({
  method: 'POST',
  path: '/ops/sessions',
  key: 'login',
  scope: undefined,
  shapes: ['general'],
  body: signInBody,
  errors: [],
  responses: { 201: { description: 'Signed in', schema: sessionSchema } },
  docs: {
    operationId: 'signIn',
    tag: ME,
    summary: 'Sign in',
    description:
      'At most 10 attempts a minute from one address. 10 wrong passwords in a row lock a person out for 15 minutes. The answer is the ' +
      'same for an unknown e-mail address, a wrong password and a person who is locked out or disabled.',
  },
  async handle({ cases, clientAddress, body }) {
    const { token, session } = await cases.sessions.signIn({ ...body, address: clientAddress });
    return { status: 201, body: toJson(presentNewSession(token, session)) };
  },
});

const signOutRoute = defineOpsRoute({
  method: 'DELETE',
  path: '/ops/sessions/current',
  permission: 'own',
  responses: { 200: { description: 'Signed out', schema: doneSchema } },
  docs: {
    operationId: 'signOut',
    tag: ME,
    summary: 'Sign out',
    description: 'Ends this session at once. Your other sessions stay open.',
  },
  async handle({ cases, session, browser }) {
    await cases.sessions.signOut(session, browser);
    return { status: 200, body: DONE };
  },
});

const meRoute = defineOpsRoute({
  method: 'GET',
  path: '/ops/me',
  permission: 'own',
  responses: { 200: { description: 'Who is signed in', schema: meSchema } },
  docs: {
    operationId: 'getMe',
    tag: ME,
    summary: 'Read who is signed in',
    description:
      'With what your role may do, so that a screen can show only that, and where workflows can be seen.',
  },
  handle: ({ cases, session }) =>
    Promise.resolve({ status: 200, body: toJson(presentMe(session, cases.temporalUi)) }),
});

const passwordRoute = defineOpsRoute({
  method: 'POST',
  path: '/ops/me/password',
  permission: 'own',
  body: changePasswordBody,
  responses: { 200: { description: 'Changed', schema: doneSchema } },
  docs: {
    operationId: 'changePassword',
    tag: ME,
    summary: 'Change your password',
    description: 'Ends your other sessions. A wrong current password counts like a failed sign-in.',
  },
  async handle({ cases, session, browser, body }) {
    await cases.sessions.changePassword(session, body, browser);
    return { status: 200, body: DONE };
  },
});

const listRoute = defineOpsRoute({
  method: 'GET',
  path: PEOPLE,
  permission: 'people',
  query: peopleQuery,
  responses: { 200: { description: 'One page, oldest first', schema: peoplePageSchema } },
  docs: {
    operationId: 'listPeople',
    tag: TAG,
    summary: 'List people',
    description: 'Includes disabled people: people are never removed.',
  },
  async handle({ cases, query }) {
    return { status: 200, body: toJson(presentPage(await cases.people.list(query), presentPerson)) };
  },
});

const createRoute = defineOpsRoute({
  method: 'POST',
  path: PEOPLE,
  permission: 'people',
  body: createPersonBody,
  responses: { 201: { description: 'It awaits confirmation', schema: firstHalfSchema } },
  docs: {
    operationId: 'createPerson',
    tag: TAG,
    summary: 'Add a person',
    description:
      'Another administrator must confirm it before the person can sign in. You get the first half of the one-time password, they get the ' +
      'second. It is valid for 72 hours and only lets the person choose another.',
  },
  async handle({ cases, session, body }) {
    const made = await cases.people.create(session, body);
    return { status: 201, body: toJson(presentFirstHalf(made)) };
  },
});

const changeRoute = defineOpsRoute({
  method: 'PATCH',
  path: ONE,
  permission: 'people',
  params: { personId },
  body: changePersonBody,
  errors: ['NOT_FOUND'],
  responses: { 200: { description: 'The person after the change', schema: personChangeSchema } },
  docs: {
    operationId: 'changePerson',
    tag: TAG,
    summary: 'Change a person',
    description:
      'Changes only the given fields. Another role, or being disabled, signs the person out everywhere. After another role, and after ' +
      'being enabled, the person needs a new one-time password, and another administrator must confirm it. You cannot change your own ' +
      'role or disable yourself.',
  },
  async handle({ cases, session, params, body }) {
    const change = await cases.people.change(session, params['personId'] ?? '', body);
    return { status: 200, body: toJson(presentChange(change)) };
  },
});

const resetRoute = defineOpsRoute({
  method: 'POST',
  path: `${ONE}/reset-password`,
  permission: 'people',
  params: { personId },
  errors: ['NOT_FOUND'],
  responses: { 200: { description: 'It awaits confirmation', schema: firstHalfSchema } },
  docs: {
    operationId: 'resetPassword',
    tag: TAG,
    summary: 'Reset a person’s password',
    description:
      'Ends a lockout and all sessions of the person. Another administrator must confirm it before the person can sign in. Change your ' +
      'own password instead of resetting it.',
  },
  async handle({ cases, session, params }) {
    const made = await cases.people.resetPassword(session, params['personId'] ?? '');
    return { status: 200, body: toJson(presentFirstHalf(made)) };
  },
});

const confirmRoute = defineOpsRoute({
  method: 'POST',
  path: `${ONE}/confirm`,
  permission: 'people',
  params: { personId },
  body: confirmBody,
  errors: ['NOT_FOUND'],
  responses: { 200: { description: 'The person can sign in', schema: secondHalfSchema } },
  docs: {
    operationId: 'confirmAccess',
    tag: TAG,
    summary: 'Confirm a person’s access',
    description:
      'For access that another administrator gave: a new person, another role, an enabled person or a new password. You get the second ' +
      'half of the one-time password. First make sure that this is the person you know, with the role that they should have.',
  },
  async handle({ cases, session, params, body }) {
    const confirmed = await cases.people.confirm(session, params['personId'] ?? '', body.role);
    return { status: 200, body: toJson(presentSecondHalf(confirmed)) };
  },
});

export const peopleRoutes: readonly Route<OperatorAccessCases>[] = [
  signInRoute,
  signOutRoute,
  meRoute,
  passwordRoute,
  listRoute,
  createRoute,
  changeRoute,
  resetRoute,
  confirmRoute,
];
