/**
 * Who acts for an account, with which keys, and where its webhooks go. No secret is read: of a key its ends,
 * of a URL its host.
 */
import { z } from 'zod';
import { keyItem, memberItem } from '../../accounts/http/shared.ts';
import { isId } from '../../domain/ids.ts';
import { isoTime, listSchema, text, count, namedObject } from '../../platform/http/answer-fields.ts';
import { environmentField } from '../../platform/http/ops-route.ts';
import { cursorFields, cursorPageSchema } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import { DISABLED_REASONS, MESSAGE_STATUSES } from '../../webhooks/rules.ts';
import { MAX_LISTED_ENDPOINTS } from '../account-access.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { MAX_ATTEMPTS } from '../store/account-webhooks.ts';
import { accountRoutes, ONE_ACCOUNT } from './shared.ts';

const member = memberItem
  .extend({
    lastSignInAt: isoTime('Null: never').nullable(),
    lockedUntil: isoTime('After too many wrong passwords; null: not locked').nullable(),
  })
  .meta({ id: 'AccountMember' });

const key = keyItem.omit({ environment: true, websiteUrl: true }).meta({ id: 'AccountKey' });

const endpoint = namedObject('AccountEndpoint', {
  endpointId: z.string().meta({ example: 'ep-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  host: text('Of its URL', 'shop.example'),
  events: z.array(z.string()),
  enabled: z.boolean(),
  disabledReason: z.enum(DISABLED_REASONS).nullable(),
  failingSince: isoTime('The first failure since the last success').nullable(),
  createdAt: isoTime('ISO 8601'),
  deletedAt: isoTime('Null: it exists').nullable(),
});

const message = namedObject('AccountMessage', {
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
});

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

export const accountAccessRoutes: readonly Route<OperatorCases>[] = [
  accountRoutes.get(`${ONE_ACCOUNT}/members`, {
    permission: 'see',
    answer: [200, 'All members, the oldest first', listSchema(member, 'AccountMembers')],
    operationId: 'listAccountMembers',
    summary: 'List the members of an account',
    description: 'Users who act for the account, in both environments, and when they last signed in.',
    handle: async ({ cases, params }) => ({ items: await cases.listAccountMembers(params.accountId) }),
  }),
  accountRoutes.get(`${ONE_ACCOUNT}/keys`, {
    permission: 'see',
    answer: [200, 'All keys of this environment, the newest first', listSchema(key, 'AccountKeys')],
    operationId: 'listAccountKeys',
    summary: 'List the API keys of an account',
    description: 'With revoked and expired ones. No key is shown whole.',
    async handle({ cases, params }) {
      const keys = await cases.listAccountKeys(params.accountId);
      return { items: keys.map(({ company, ...one }) => ({ ...one, companyName: company })) };
    },
  }),
  accountRoutes.get(`${ONE_ACCOUNT}/endpoints`, {
    permission: 'see',
    answer: [
      200,
      `At most ${MAX_LISTED_ENDPOINTS}: those that exist, then deleted ones, each newest first`,
      listSchema(endpoint, 'AccountEndpoints'),
    ],
    operationId: 'listAccountEndpoints',
    summary: 'List the webhook endpoints of an account',
    description:
      'Of this environment. Of a URL only the host is shown: the rest may be a secret of the merchant.',
    handle: async ({ cases, params }) => ({ items: await cases.listAccountEndpoints(params.accountId) }),
  }),
  accountRoutes.get(`${ONE_ACCOUNT}/messages`, {
    permission: 'see',
    query: messagesQuery,
    answer: [200, 'One page, newest first', messagesSchema],
    operationId: 'listUndeliveredMessages',
    summary: 'List undelivered webhook messages of an account',
    description:
      'Messages that failed or are still to be delivered, with their latest attempts; without bodies, headers and answers.',
    async handle({ cases, params, query: { messageId, after, limit } }) {
      const { items, next } = await cases.listUndeliveredMessages(params.accountId, {
        ...{ messageId, after, limit },
      });
      return { items, nextCursor: next ?? null };
    },
  }),
];
