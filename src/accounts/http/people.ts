import { z } from 'zod';
import { PERMISSIONS, ROLES } from '../../domain/operator-roles.ts';
import {
  count,
  dataAnswer,
  dataObject,
  isoTime,
  namedObject,
  text,
  yesNo,
} from '../../platform/http/answer-fields.ts';
import { routesWith } from '../../platform/http/define-routes.ts';
import { changesBody, choiceField, idParameter, textField } from '../../platform/http/fields.ts';
import { pageFields, pageSchema, presentPage } from '../../platform/http/page.ts';
import { fromRow } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import { OPERATOR_ACTIONS } from '../operators/action-table.ts';
import type { OperatorAccessCases } from '../operators/use-cases.ts';
import {
  allowed,
  codeField,
  emailField,
  loginFields,
  passwordChangeBody,
  personNameField,
  presentSession,
  recoveryOutcome,
  sessionSchema,
  signedIn,
  who,
} from './shared.ts';

const roleField = choiceField(ROLES, { description: 'What the person may do', example: 'SUPPORT' });

const nameField = personNameField('The person’s name');

const signInBody = namedObject('SignInRequest', {
  ...loginFields('ada@operator.example', 'Your own, or your one-time password'),
  code: codeField('Of your second factor, if you have one: of the app, or a recovery code').optional(),
});

const createPersonBody = namedObject('CreatePersonRequest', {
  email: emailField('For signing in and for the record; it never changes', 'ada@operator.example'),
  name: nameField,
  role: roleField,
});

const changePersonBody = changesBody('ChangePersonRequest', {
  name: nameField.optional(),
  role: roleField.optional(),
  disabled: z
    .boolean('must be true or false')
    .optional()
    .describe('true: signed out everywhere, and cannot sign in until it is false again'),
});

const confirmBody = namedObject('ConfirmAccessRequest', {
  role: choiceField(ROLES, {
    description: 'The role that you confirm; refused where the person would have another',
    example: 'FINANCE',
  }),
});

const meSchema = dataObject('Me', {
  ...signedIn,
  permissions: z.array(z.enum(PERMISSIONS)),
  actions: z.array(z.enum(OPERATOR_ACTIONS)).describe('The actions that your role may request'),
  temporalUi: z
    .object({
      url: z.string().meta({ example: 'https://temporal.example' }),
      namespaces: z.object({
        test: z.string().meta({ example: 'simway-test' }),
        live: text('Null while live is switched off').nullable(),
      }),
    })
    .nullable()
    .describe(
      'A workflow is at `<url>/namespaces/<namespace>/workflows/<workflowId>`; null: the address of the Temporal UI is not configured',
    ),
});

const person = namedObject('Person', {
  ...who,
  hasSecondFactor: yesNo('The person has set up a second factor'),
  awaitsConfirmation: z
    .object({ askedBy: z.string(), askedAt: isoTime('ISO 8601') })
    .nullable()
    .describe('Access that another administrator than `askedBy` must confirm before the person can sign in'),
  awaitsRemoval: z
    .object({
      change: text('`reset`, `disable`, `second-factor`, or `role` and the new role', 'disable'),
      askedBy: z.string(),
      askedAt: isoTime('ISO 8601'),
    })
    .nullable()
    .describe(
      'What an administrator asked for; it happens when another one asks for the same within 24 hours',
    ),
  lockedUntil: isoTime('After too many wrong passwords').nullable(),
  disabledAt: isoTime('ISO 8601').nullable(),
  createdAt: isoTime('ISO 8601'),
});

const HALF =
  'of the one-time password: `<firstHalf>-<secondHalf>`. Give it to the person yourself. Shown in this answer only';
const firstHalf = text(`The first half ${HALF}`);
const oneTimeUntil = isoTime('The one-time password expires then');

const firstHalfSchema = dataObject('FirstHalf', { person, firstHalf, oneTimeUntil });
const secondHalfSchema = dataObject('SecondHalf', {
  person,
  secondHalf: text(`The second half ${HALF}`),
  oneTimeUntil,
});
const REMOVAL_WAITS = 'Nothing changed yet: another administrator must ask for the same within 24 hours';
const removalWaitsSchema = dataObject('RemovalWaits', { outcome: z.literal('waits'), person });
const resetSchema = dataObject('PasswordReset', {
  outcome: z.literal('done'),
  person,
  firstHalf,
  oneTimeUntil,
});
const personChangeSchema = dataObject('PersonChange', {
  outcome: z.literal('done'),
  person,
  given: z.object({ firstHalf, oneTimeUntil }).nullable().describe('Null where the change gives no access'),
});

const evidenceBody = namedObject('RecoveryRequest', {
  evidence: textField({
    max: 500,
    description: 'Where can be seen that the user themselves asked, and how you made sure of it',
    example: 'https://tickets.example/4711',
  }),
});
const recoverySchema = dataObject('Recovery', { outcome: recoveryOutcome });

const forSignIn = routesWith<OperatorAccessCases, 'login'>('login', 'Signing in');
const forOneself = routesWith<OperatorAccessCases, 'session'>('session', 'Signing in');
const forAdmins = routesWith<OperatorAccessCases, 'session'>('session', 'People', {
  params: {
    personId: idParameter('user', 'The `personId` of a person', 'No such person'),
    userId: idParameter('user', 'The `userId` of a merchant’s user', 'No such user'),
  },
});

const PEOPLE = '/ops/people';
const ONE = `${PEOPLE}/{personId}` as const;

export const peopleRoutes: readonly Route<OperatorAccessCases>[] = [
  forSignIn.post('/ops/sessions', {
    body: signInBody,
    answer: [201, 'Signed in', sessionSchema],
    operationId: 'signIn',
    summary: 'Sign in',
    description:
      'At most 10 attempts a minute from one address. 10 wrong passwords in a row lock a person out for 15 minutes. The answer is the ' +
      'same for an unknown e-mail address, a wrong password and a person who is locked out or disabled.',
    async handle({ cases, clientAddress, body }) {
      const { token, session } = await cases.sessions.signIn({ ...body, address: clientAddress });
      return { token, ...presentSession(session) };
    },
  }),
  forOneself.delete('/ops/sessions/current', {
    confirmed: false,
    permission: 'own',
    answer: 'Signed out',
    operationId: 'signOut',
    summary: 'Sign out',
    description: 'Ends this session at once. Your other sessions stay open.',
    handle: ({ cases, session, browser }) => cases.sessions.signOut(session, browser),
  }),
  forOneself.get('/ops/me', {
    permission: 'own',
    answer: [200, 'Who is signed in', meSchema],
    operationId: 'getMe',
    summary: 'Read who is signed in',
    description:
      'With what your role may do, so that a screen can show only that, and where workflows can be seen.',
    handle: ({ cases, session }) => ({
      ...presentSession(session),
      ...allowed(session.person.role),
      temporalUi: cases.temporalUi,
    }),
  }),
  forOneself.post('/ops/me/password', {
    confirmed: false,
    permission: 'own',
    body: passwordChangeBody('ChangePasswordRequest'),
    answer: 'Changed',
    operationId: 'changePassword',
    summary: 'Change your password',
    description: 'Ends your other sessions. A wrong current password counts like a failed sign-in.',
    handle: ({ cases, session, browser, body }) => cases.sessions.changePassword(session, body, browser),
  }),
  forAdmins.get(PEOPLE, {
    permission: 'people',
    query: z.object(pageFields),
    answer: [200, 'One page, newest first', pageSchema(person, 'PersonPage')],
    operationId: 'listPeople',
    summary: 'List people',
    description: 'Includes disabled people: people are never removed.',
    handle: async ({ cases, query }) => presentPage(await cases.people.list(query)),
  }),
  forAdmins.post(PEOPLE, {
    permission: 'people',
    body: createPersonBody,
    answer: [201, 'It awaits confirmation', firstHalfSchema],
    operationId: 'createPerson',
    summary: 'Add a person',
    description:
      'Another administrator must confirm it before the person can sign in. You get the first half of the one-time password, they get the ' +
      'second. It is valid for 72 hours and only lets the person choose another.',
    handle: ({ cases, session, body }) => cases.people.create(session, body),
  }),
  forAdmins.patch(ONE, {
    permission: 'people',
    body: changePersonBody,
    errors: ['RATE_LIMIT_EXCEEDED'],
    answer: {
      200: { description: 'The person after the change', schema: personChangeSchema },
      202: { description: REMOVAL_WAITS, schema: removalWaitsSchema },
    },
    operationId: 'changePerson',
    summary: 'Change a person',
    description:
      'Changes only the given fields. Another role, or being disabled, signs the person out everywhere. After another role, and after ' +
      'being enabled, the person needs a new one-time password, and another administrator must confirm it. You cannot change your own ' +
      'role or disable yourself. An administrator is disabled, or gets another role, when two administrators ask for it and two others than ' +
      'that one remain. One person resets and disables at most 10 people and accounts in 24 hours.',
    async handle({ cases, session, params, body }) {
      const made = await cases.people.change(session, params.personId, body);
      if (made.outcome === 'waits') return dataAnswer(made, 202);
      return dataAnswer({ ...made, given: made.given ?? null }, 200);
    },
  }),
  forAdmins.post(`${ONE}/reset-password`, {
    permission: 'people',
    errors: ['RATE_LIMIT_EXCEEDED'],
    answer: {
      200: { description: 'It awaits confirmation', schema: resetSchema },
      202: { description: REMOVAL_WAITS, schema: removalWaitsSchema },
    },
    operationId: 'resetPassword',
    summary: 'Reset a person’s password',
    description:
      'Ends a lockout and all sessions of the person. Another administrator must confirm it before the person can sign in. Change your ' +
      'own password instead of resetting it. For an administrator two must ask, as for disabling.',
    async handle({ cases, session, params }) {
      const made = await cases.people.resetPassword(session, params.personId);
      return made.outcome === 'waits' ? dataAnswer(made, 202) : dataAnswer(made, 200);
    },
  }),
  forAdmins.post(`${ONE}/remove-second-factor`, {
    permission: 'people',
    body: evidenceBody,
    errors: ['RATE_LIMIT_EXCEEDED'],
    answer: [200, 'Whether it is removed', recoverySchema],
    operationId: 'recoverPerson',
    summary: 'Remove a person’s lost second factor',
    description:
      'For a person who has lost the app and the recovery codes. Two administrators ask for it within 24 hours; then every session of the ' +
      'person ends, and the password alone signs in, to set up another.',
    handle: ({ cases, session, params, body }) => cases.people.recover(session, params.personId, body),
  }),
  forAdmins.post('/ops/users/{userId}/remove-second-factor', {
    permission: 'accounts',
    body: evidenceBody,
    errors: ['RATE_LIMIT_EXCEEDED'],
    answer: [200, 'Whether it is removed', recoverySchema],
    operationId: 'recoverUser',
    summary: 'Remove the lost second factor of a merchant’s user',
    description:
      'For a user whose account has no two other owners, or who is a member of several accounts. Two operators ask for it within 24 hours; ' +
      'then every session of the user ends, and the password alone signs in.',
    handle: ({ cases, session, params, body }) => cases.people.recoverUser(session, params.userId, body),
  }),
  forAdmins.post(`${ONE}/confirm`, {
    permission: 'people',
    body: confirmBody,
    answer: [200, 'The person can sign in', secondHalfSchema],
    operationId: 'confirmAccess',
    summary: 'Confirm a person’s access',
    description:
      'For access that another administrator gave: a new person, another role, an enabled person or a new password. You get the second ' +
      'half of the one-time password. First make sure that this is the person you know, with the role that they should have.',
    handle: ({ cases, session, params, body }) => cases.people.confirm(session, params.personId, body.role),
  }),
];

/** A command signs in as a person, who lets it in at the dashboard. */
const DEVICE_LOGINS = '/ops/device-logins';
const MAX_MACHINE_CHARACTERS = 100;
const MAX_CODE_CHARACTERS = 100;

const machine = textField({
  max: MAX_MACHINE_CHARACTERS,
  description: 'The name of the machine, shown to the person',
  example: 'adas-laptop',
});

const askedSchema = dataObject('DeviceLogin', {
  deviceCode: text('Kept by the command. Shown in this answer only'),
  userCode: text('For the person to type', 'BCDF-GHJK'),
  verificationUrl: text('Where the person types it'),
  expiresInSeconds: count('Both codes expire then', 600),
  intervalSeconds: count('Wait so long before each `takeDeviceLogin`', 3),
});

const takeBody = namedObject('TakeDeviceLoginRequest', {
  deviceCode: textField({ max: MAX_CODE_CHARACTERS, description: 'From `askForDeviceLogin`' }),
});
const waitingSchema = dataObject('DeviceLoginWaits', { status: z.literal('waits') });

const codeBody = namedObject('DeviceLoginCode', {
  userCode: textField({
    max: MAX_CODE_CHARACTERS,
    description: 'The code that the command shows, in any case, with or without its hyphen',
    example: 'BCDF-GHJK',
  }),
});
const CODE = {
  // Every role has it; with a one-time password nothing is permitted.
  permission: 'see',
  takesSecret: true,
  body: codeBody,
  errors: ['NOT_FOUND'],
} as const;

const previewSchema = dataObject('DeviceLoginPreview', {
  machine: z.string().meta({ example: 'adas-laptop' }),
  address: text('Where the command asked from', '192.0.2.7'),
  createdAt: isoTime('When it asked'),
  expiresAt: isoTime('The code expires then'),
});

export const deviceLoginRoutes: readonly Route<OperatorAccessCases>[] = [
  forSignIn.post(DEVICE_LOGINS, {
    body: namedObject('DeviceLoginRequest', { machine }),
    answer: [201, 'Show the code, and wait for the person', askedSchema],
    operationId: 'askForDeviceLogin',
    summary: 'Ask to be signed in by a person',
    description:
      'For programs without a page, as in RFC 8628. A person who has signed in types the code at the dashboard. Counts as a sign-in of ' +
      'this address.',
    handle: ({ cases, clientAddress, body }) => cases.deviceLogins.ask({ ...body, address: clientAddress }),
  }),
  forSignIn.post(`${DEVICE_LOGINS}/token`, {
    isPolled: true,
    body: takeBody,
    errors: ['NOT_FOUND'],
    answer: {
      201: { description: 'A session of the person who let it in', schema: sessionSchema },
      202: { description: 'Nobody has let it in yet', schema: waitingSchema },
    },
    operationId: 'takeDeviceLogin',
    summary: 'Take the session that a person let in',
    description:
      'Works once. The session ends with that of the person who let it in. Refused with `RATE_LIMIT_EXCEEDED` where it is asked more often ' +
      'than the interval, and with `NOT_FOUND` for a code that is wrong, was used or has expired.',
    async handle({ cases, body }) {
      const opened = await cases.deviceLogins.redeem(body.deviceCode);
      if (!opened) return dataAnswer({ status: 'waits' }, 202);
      return dataAnswer({ token: opened.token, ...presentSession(opened.session) }, 201);
    },
  }),
  forOneself.post(`${DEVICE_LOGINS}/preview`, {
    confirmed: false,
    ...CODE,
    answer: [200, 'Who asks', previewSchema],
    operationId: 'previewDeviceLogin',
    summary: 'Read which machine asks with a code',
    description: 'At most 10 codes a minute can be tried.',
    handle: async ({ cases, body }) => fromRow(await cases.deviceLogins.preview(body.userCode)),
  }),
  forOneself.post(`${DEVICE_LOGINS}/approve`, {
    ...CODE,
    answer: 'The command is let in',
    operationId: 'approveDeviceLogin',
    summary: 'Let a command in as yourself',
    description:
      'Only if you started that command. It then acts under your name until your present session would end. A code works once. Recorded ' +
      'in the audit log.',
    handle: ({ cases, session, browser, body }) =>
      cases.deviceLogins.approve(session, body.userCode, browser),
  }),
];
