/** A command signs in as a person, who lets it in at the dashboard. */
import { z } from 'zod';
import {
  DONE,
  dataAnswer,
  dataJson,
  dataSchema,
  doneSchema,
  isoTime,
} from '../../platform/http/answer-fields.ts';
import { textField } from '../../platform/http/fields.ts';
import { opsRoutesFor } from '../../platform/http/ops-route.ts';
import { routesFor, type Route } from '../../platform/http/route.ts';
import type { OperatorAccessCases } from '../operators/use-cases.ts';
import { presentSession, sessionSchema } from './shared.ts';

const defineOpsRoute = opsRoutesFor<OperatorAccessCases>();
const defineOpenRoute = routesFor<OperatorAccessCases>();

const TAG = 'Signing in';
const PATH = '/ops/device-logins';
const MAX_MACHINE_CHARACTERS = 100;
const MAX_CODE_CHARACTERS = 100;
const OPEN = { method: 'POST', key: 'login', scope: undefined, shapes: ['general'] } as const;

const machine = textField({
  max: MAX_MACHINE_CHARACTERS,
  description: 'The name of the machine, shown to the person',
  example: 'adas-laptop',
});
const seconds = (description: string, example: number) => z.number().int().meta({ description, example });

const askBody = z.object({ machine }).meta({ id: 'DeviceLoginRequest' });
const askedSchema = dataSchema(
  z.object({
    deviceCode: z.string().meta({ description: 'Kept by the command. Shown in this answer only' }),
    userCode: z.string().meta({ description: 'For the person to type', example: 'BCDF-GHJK' }),
    verificationUrl: z.string().meta({ description: 'Where the person types it' }),
    expiresInSeconds: seconds('Both codes expire then', 600),
    intervalSeconds: seconds('Wait so long before each `takeDeviceLogin`', 3),
  }),
  'DeviceLogin',
);

const askRoute = defineOpenRoute({
  ...OPEN,
  path: PATH,
  body: askBody,
  errors: [],
  responses: { 201: { description: 'Show the code, and wait for the person', schema: askedSchema } },
  docs: {
    operationId: 'askForDeviceLogin',
    tag: TAG,
    summary: 'Ask to be signed in by a person',
    description:
      'For programs without a page, as in RFC 8628. A person who has signed in types the code at the dashboard. Counts as a sign-in of ' +
      'this address.',
  },
  async handle({ cases, clientAddress, body }) {
    const data = await cases.deviceLogins.ask({ ...body, address: clientAddress });
    return dataAnswer(data, 201);
  },
});

const takeBody = z
  .object({
    deviceCode: textField({ max: MAX_CODE_CHARACTERS, description: 'From `askForDeviceLogin`' }),
  })
  .meta({ id: 'TakeDeviceLoginRequest' });
const waitingSchema = dataSchema(z.object({ status: z.literal('waits') }), 'DeviceLoginWaits');

const takeRoute = defineOpenRoute({
  ...OPEN,
  path: `${PATH}/token`,
  isPolled: true,
  body: takeBody,
  errors: ['NOT_FOUND'],
  responses: {
    201: { description: 'A session of the person who let it in', schema: sessionSchema },
    202: { description: 'Nobody has let it in yet', schema: waitingSchema },
  },
  docs: {
    operationId: 'takeDeviceLogin',
    tag: TAG,
    summary: 'Take the session that a person let in',
    description:
      'Works once. The session ends with that of the person who let it in. Refused with `RATE_LIMIT_EXCEEDED` where it is asked more often ' +
      'than the interval, and with `NOT_FOUND` for a code that is wrong, was used or has expired.',
  },
  async handle({ cases, body }) {
    const opened = await cases.deviceLogins.redeem(body.deviceCode);
    if (!opened) return dataAnswer({ status: 'waits' }, 202);
    return {
      status: 201,
      body: dataJson(sessionSchema, { token: opened.token, ...presentSession(opened.session) }),
    };
  },
});

const codeBody = z
  .object({
    userCode: textField({
      max: MAX_CODE_CHARACTERS,
      description: 'The code that the command shows, in any case, with or without its hyphen',
      example: 'BCDF-GHJK',
    }),
  })
  .meta({ id: 'DeviceLoginCode' });
const CODE = {
  method: 'POST',
  // Every role has it; with a one-time password nothing is permitted.
  permission: 'see',
  takesSecret: true,
  body: codeBody,
  errors: ['NOT_FOUND'],
} as const;

const previewSchema = dataSchema(
  z.object({
    machine: z.string().meta({ example: 'adas-laptop' }),
    address: z.string().meta({ description: 'Where the command asked from', example: '192.0.2.7' }),
    createdAt: isoTime('When it asked'),
    expiresAt: isoTime('The code expires then'),
  }),
  'DeviceLoginPreview',
);

const previewRoute = defineOpsRoute({
  ...CODE,
  path: `${PATH}/preview`,
  responses: { 200: { description: 'Who asks', schema: previewSchema } },
  docs: {
    operationId: 'previewDeviceLogin',
    tag: TAG,
    summary: 'Read which machine asks with a code',
    description: 'At most 10 codes a minute can be tried.',
  },
  async handle({ cases, body }) {
    const found = await cases.deviceLogins.preview(body.userCode);
    const { machine: name, address, created_at: createdAt, expires_at: expiresAt } = found;
    return dataAnswer({ machine: name, address, createdAt, expiresAt });
  },
});

const approveRoute = defineOpsRoute({
  ...CODE,
  path: `${PATH}/approve`,
  responses: { 200: { description: 'The command is let in', schema: doneSchema } },
  docs: {
    operationId: 'approveDeviceLogin',
    tag: TAG,
    summary: 'Let a command in as yourself',
    description:
      'Only if you started that command. It then acts under your name until your present session would end. A code works once. Recorded ' +
      'in the audit log.',
  },
  async handle({ cases, session, browser, body }) {
    await cases.deviceLogins.approve(session, body.userCode, browser);
    return { status: 200, body: DONE };
  },
});

export const deviceLoginRoutes: readonly Route<OperatorAccessCases>[] = [
  askRoute,
  takeRoute,
  previewRoute,
  approveRoute,
];
