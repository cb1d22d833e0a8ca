/** A command signs in as a person, who lets it in at the dashboard. */
import { z } from 'zod';
import {
  dataAnswer,
  isoTime,
  text,
  count,
  namedObject,
  dataObject,
} from '../../platform/http/answer-fields.ts';
import { routesWith } from '../../platform/http/define-routes.ts';
import { textField } from '../../platform/http/fields.ts';
import { fromRow } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import type { OperatorAccessCases } from '../operators/use-cases.ts';
import { presentSession, sessionSchema } from './shared.ts';

const TAG = 'Signing in';
const forCommands = routesWith<OperatorAccessCases, 'login'>('login', TAG);
const forPeople = routesWith<OperatorAccessCases, 'session'>('session', TAG);
const PATH = '/ops/device-logins';
const MAX_MACHINE_CHARACTERS = 100;
const MAX_CODE_CHARACTERS = 100;

const machine = textField({
  max: MAX_MACHINE_CHARACTERS,
  description: 'The name of the machine, shown to the person',
  example: 'adas-laptop',
});

const askBody = namedObject('DeviceLoginRequest', { machine });
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
  forCommands.post(PATH, {
    body: askBody,
    answer: [201, 'Show the code, and wait for the person', askedSchema],
    operationId: 'askForDeviceLogin',
    summary: 'Ask to be signed in by a person',
    description:
      'For programs without a page, as in RFC 8628. A person who has signed in types the code at the dashboard. Counts as a sign-in of ' +
      'this address.',
    handle: ({ cases, clientAddress, body }) => cases.deviceLogins.ask({ ...body, address: clientAddress }),
  }),
  forCommands.post(`${PATH}/token`, {
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
  forPeople.post(`${PATH}/preview`, {
    ...CODE,
    answer: [200, 'Who asks', previewSchema],
    operationId: 'previewDeviceLogin',
    summary: 'Read which machine asks with a code',
    description: 'At most 10 codes a minute can be tried.',
    handle: async ({ cases, body }) => fromRow(await cases.deviceLogins.preview(body.userCode)),
  }),
  forPeople.post(`${PATH}/approve`, {
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
