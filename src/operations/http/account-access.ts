/**
 * Who acts for an account, with which keys, and where its webhooks go. No secret is read: of a key its ends,
 * of a URL its host.
 */
import { z } from 'zod';
import { keyItem, memberItem } from '../../accounts/http/shared.ts';
import { isId } from '../../domain/ids.ts';
import {
  dataAnswer,
  isoTime,
  listSchema,
  presenter,
  text,
  count,
} from '../../platform/http/answer-fields.ts';
import type { Wire } from '../../platform/http/json.ts';
import { environmentField, opsRoutesFor } from '../../platform/http/ops-route.ts';
import { cursorFields, cursorPageSchema } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import { DISABLED_REASONS, MESSAGE_STATUSES } from '../../webhooks/rules.ts';
import { MAX_LISTED_ENDPOINTS } from '../account-access.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { type FoundMessage, MAX_ATTEMPTS } from '../store/account-webhooks.ts';
import { ONE_ACCOUNT, READ_ACCOUNT } from './shared.ts';

const defineOpsRoute = opsRoutesFor<OperatorCases>();
const TAG = 'Accounts';

const member = memberItem
  .extend({
    lastSignInAt: isoTime('Null: never').nullable(),
    lockedUntil: isoTime('After too many wrong passwords; null: not locked').nullable(),
  })
  .meta({ id: 'AccountMember' });

const key = keyItem.omit({ environment: true, websiteUrl: true }).meta({ id: 'AccountKey' });

const endpoint = z
  .object({
    endpointId: z.string().meta({ example: 'ep-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
    host: text('Of its URL', 'shop.example'),
    events: z.array(z.string()),
    enabled: z.boolean(),
    disabledReason: z.enum(DISABLED_REASONS).nullable(),
    failingSince: isoTime('The first failure since the last success').nullable(),
    createdAt: isoTime('ISO 8601'),
    deletedAt: isoTime('Null: it exists').nullable(),
  })
  .meta({ id: 'AccountEndpoint' });

const message = z
  .object({
    messageId: z.string().meta({ example: 'msg-1b4e28ba2fa14d2e883f0016d3cca427' }),
    event: z.string(),
    endpointId: z.string(),
    host: text('Of the endpoint’s URL'),
    transactionId: text('Null for events without one').nullable(),
    status: z.enum(MESSAGE_STATUSES),
    attempts: count('Attempts so far'),
    nextAttemptAt: isoTime('While PENDING').nullable(),
    createdAt: isoTime('ISO 8601'),
    closedAt: isoTime('When it was delivered or failed').nullable(),
    latestAttempts: z
      .array(
        z.object({
          attempt: z.number().int(),
          at: isoTime('When it began'),
          milliseconds: z.number().int(),
          outcome: text('`answered`, or why there was no complete answer'),
          status: count('HTTP status of the answer').nullable(),
        }),
      )
      .describe(`The last ${MAX_ATTEMPTS}, oldest first`),
  })
  .meta({ id: 'AccountMessage' });

const messagesSchema = cursorPageSchema(message, 'AccountMessages');
const isMessageId = (text: string): boolean => isId('message', text);

const messagesQuery = z.object({
  ...environmentField,
  messageId: z
    .string()
    .refine(isMessageId, 'must be the id of a message')
    .optional()
    .describe('Only this one, also when it was delivered'),
  ...cursorFields(isMessageId, 'Messages'),
});

const membersRoute = defineOpsRoute({
  ...READ_ACCOUNT,
  path: `${ONE_ACCOUNT}/members`,
  responses: {
    200: { description: 'All members, the oldest first', schema: listSchema(member, 'AccountMembers') },
  },
  docs: {
    operationId: 'listAccountMembers',
    tag: TAG,
    summary: 'List the members of an account',
    description: 'Users who act for the account, in both environments, and when they last signed in.',
  },
  async handle({ cases, params }) {
    const members = await cases.listAccountMembers(params['accountId'] ?? '');
    return dataAnswer({ items: members.map(presenter(member)) });
  },
});

const keysRoute = defineOpsRoute({
  ...READ_ACCOUNT,
  path: `${ONE_ACCOUNT}/keys`,
  responses: {
    200: {
      description: 'All keys of this environment, the newest first',
      schema: listSchema(key, 'AccountKeys'),
    },
  },
  docs: {
    operationId: 'listAccountKeys',
    tag: TAG,
    summary: 'List the API keys of an account',
    description: 'With revoked and expired ones. No key is shown whole.',
  },
  async handle({ cases, params }) {
    const keys = await cases.listAccountKeys(params['accountId'] ?? '');
    return dataAnswer({
      items: keys.map(({ company, ...one }) => presenter(key)({ ...one, companyName: company })),
    });
  },
});

const endpointsRoute = defineOpsRoute({
  ...READ_ACCOUNT,
  path: `${ONE_ACCOUNT}/endpoints`,
  responses: {
    200: {
      description: `At most ${MAX_LISTED_ENDPOINTS}: those that exist, then deleted ones, each newest first`,
      schema: listSchema(endpoint, 'AccountEndpoints'),
    },
  },
  docs: {
    operationId: 'listAccountEndpoints',
    tag: TAG,
    summary: 'List the webhook endpoints of an account',
    description:
      'Of this environment. Of a URL only the host is shown: the rest may be a secret of the merchant.',
  },
  async handle({ cases, params }) {
    const endpoints = await cases.listAccountEndpoints(params['accountId'] ?? '');
    return dataAnswer({ items: endpoints.map(presenter(endpoint)) });
  },
});

const messagesRoute = defineOpsRoute({
  ...READ_ACCOUNT,
  path: `${ONE_ACCOUNT}/messages`,
  query: messagesQuery,
  responses: { 200: { description: 'One page, newest first', schema: messagesSchema } },
  docs: {
    operationId: 'listUndeliveredMessages',
    tag: TAG,
    summary: 'List undelivered webhook messages of an account',
    description:
      'Messages that failed or are still to be delivered, with their latest attempts; without bodies, headers and answers.',
  },
  async handle({ cases, params, query: { messageId, after, limit } }) {
    const found = await cases.listUndeliveredMessages(params['accountId'] ?? '', {
      ...{ messageId, after, limit },
    });
    return dataAnswer({ items: found.items.map(presentMessage), nextCursor: found.next ?? null });
  },
});

function presentMessage({ latestAttempts, ...one }: FoundMessage): Wire<z.output<typeof message>> {
  const attempts = latestAttempts.map(({ ms, ...made }) => ({ ...made, milliseconds: ms }));
  return presenter(message)({ ...one, latestAttempts: attempts });
}

export const accountAccessRoutes: readonly Route<OperatorCases>[] = [
  membersRoute,
  keysRoute,
  endpointsRoute,
  messagesRoute,
];
