/** No secret is read: of a key its ends, of a URL its host. */
import { searchText } from 'simway-client/search-text.ts';
import { z } from 'zod';
import { keyItem, memberItem } from '../../accounts/http/shared.ts';
import { ACCOUNT_TYPES, hasOwnLimit, PLANS } from '../../domain/account.ts';
import { isId } from '../../domain/ids.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { PURCHASE_STATUSES } from '../../domain/states.ts';
import {
  isoTime,
  listSchema,
  money,
  percent,
  text,
  count,
  namedObject,
  dataObject,
  answer,
  CSV,
  csvAnswer,
  NEXT_HEADER,
} from '../../platform/http/answer-fields.ts';
import { columnsOf, csvLines } from '../../platform/http/csv-lines.ts';
import {
  amountField,
  choiceField,
  countField,
  idParameter,
  reasonField,
  textField,
} from '../../platform/http/fields.ts';
import { MAX_ACCOUNT_REQUESTS_PER_MINUTE, MAX_EMAIL_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import {
  cursorFields,
  cursorPageSchema,
  pageFields,
  pageSchema,
  presentPage,
} from '../../platform/http/page.ts';
import { presenter } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import { TRANSACTION_TYPES } from '../../purchases/store/list-transactions.ts';
import { DISABLED_REASONS, MESSAGE_STATUSES } from '../../webhooks/rules.ts';
import { MAX_LISTED_ENDPOINTS } from '../accounts.ts';
import { MAX_FILE_LINES } from '../lists.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { MAX_ATTEMPTS } from '../store/accounts.ts';

const ACCOUNTS = '/ops/accounts';
const ONE_ACCOUNT = `${ACCOUNTS}/{accountId}` as const;

const accountRoutes = operatorRoutes<OperatorCases>('Accounts', {
  accountId: idParameter('account', 'The `accountId` of an account', 'No such account'),
});

const accountsQuery = z.object({
  ...environmentField,
  ...pageFields,
  plan: choiceField(PLANS, { description: 'Only on this plan' }).optional(),
  type: choiceField(ACCOUNT_TYPES, { description: 'Only of this type' }).optional(),
  currency: choiceField(ACCOUNT_CURRENCIES, { description: 'Only with a wallet in it' }).optional(),
  disabled: choiceField(['true', 'false'], { description: 'Only disabled ones, or only those that work' })
    .transform((text) => text === 'true')
    .optional(),
  text: textField({
    max: MAX_EMAIL_CHARACTERS,
    description: 'An id, or a part of the name, of the e-mail address of the account or of a member’s',
    example: 'merchant.example',
  })
    .transform(searchText)
    .optional(),
});

const transactionsQuery = z.object({
  ...environmentField,
  ...cursorFields((text) => isId('transaction', text), 'Transactions'),
});

const changeBody = z
  .object({
    plan: choiceField(PLANS, { description: 'The new plan', example: 'PREMIUM' }).optional(),
    requestsPerMinute: countField({
      min: 1,
      max: MAX_ACCOUNT_REQUESTS_PER_MINUTE,
      description: 'Required with the plan ENTERPRISE, and only valid there',
      example: 2_000,
    }).optional(),
    disabled: z
      .boolean('must be true or false')
      .optional()
      .describe(
        'true: keys and members of the account are refused within 5 s, in both environments, until it is false again. What was begun goes on',
      ),
    returns: z
      .object(
        {
          allowed: z.boolean('must be true or false').describe('Whether the account may return eSIMs'),
          windowDays: countField({
            ...{ min: 0, max: 365, example: 60 },
            description: 'How many days after its delivery an eSIM can be returned',
          }),
          feePercent: amountField({
            ...{ minMinor: 0n, maxMinor: 100_00n, example: 5 },
            description: 'What is kept of the price, in percent',
          }),
        },
        'must be an object or null',
      )
      .nullable()
      .optional()
      .describe('Of unused eSIMs, in place of the settings; null: as the settings say'),
    replacements: z
      .object(
        {
          allowed: z.boolean('must be true or false').describe('Whether the account may have eSIMs replaced'),
          windowDays: countField({
            ...{ min: 0, max: 365, example: 60 },
            description: 'How many days after its delivery an eSIM can be replaced',
          }),
          sharePercent: amountField({
            ...{ minMinor: 0n, maxMinor: 100_00n, example: 50 },
            description: 'What the account pays of the first price, in percent; we pay the rest',
          }),
          maxCount: countField({
            ...{ min: 1, max: 100, example: 2 },
            description: 'How often one purchase can be replaced',
          }),
        },
        'must be an object or null',
      )
      .nullable()
      .optional()
      .describe('Of deleted or broken eSIMs, in place of the settings; null: as the settings say'),
    reason: reasonField('Signed the contract, ticket 4711'),
  })
  .refine(
    ({ plan, disabled, returns, replacements }) =>
      [plan, disabled, returns, replacements].some((term) => term !== undefined),
    { message: 'must hold plan, disabled, returns or replacements' },
  )
  .refine(({ plan, requestsPerMinute }) => hasOwnLimit(plan) === (requestsPerMinute !== undefined), {
    path: ['requestsPerMinute'],
    message: 'is required with the plan ENTERPRISE, and only valid there',
  })
  .meta({ id: 'ChangeAccountTermsRequest' });

const listed = z.object({
  accountId: z.string().meta({ example: 'acc-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  type: z.enum(ACCOUNT_TYPES),
  name: z.string().meta({ example: 'Merchant Travel Ltd' }),
  email: text('Where mail about the account goes', 'ada@merchant.example'),
  websiteUrl: z.string().nullable(),
  currency: z.enum(ACCOUNT_CURRENCIES),
  plan: z.enum(PLANS),
  requestsPerMinute: z.number().int(),
  balance: money('Of the wallet in this environment, without what is on hold'),
  disabledAt: isoTime('Null: the account works').nullable(),
  returns: z
    .object({
      allowed: z.boolean(),
      windowDays: count('After the delivery', 60),
      feePercent: percent('What is kept of the price', 5),
    })
    .nullable()
    .describe('What was agreed about returns of unused eSIMs; null: as the settings say'),
  replacements: z
    .object({
      allowed: z.boolean(),
      windowDays: count('After the delivery', 60),
      sharePercent: percent('What the account pays of the first price', 50),
      maxCount: count('Replacements of one purchase', 2),
    })
    .nullable()
    .describe('What was agreed about replacements of eSIMs; null: as the settings say'),
  createdAt: isoTime('ISO 8601'),
});

const accountPageSchema = pageSchema(listed.meta({ id: 'ListedAccount' }), 'AccountPage');
const presentPageOf = presenter(accountPageSchema);
/** In a file each field is one cell. */
const accountLine = listed.omit({ returns: true });

const accountSchema = dataObject('AccountOverview', {
  ...listed.shape,
  onHold: money('What of the wallet’s money waits for deliveries'),
  owed: money('What a bank took back after the wallet had spent it'),
  keys: count('API keys of this environment that work', 2),
  members: count('Users who belong to it', 2),
  endpoints: count('Webhook endpoints of this environment', 2),
  openPurchases: count('Not closed yet', 2),
  openFundings: count('Not closed yet', 2),
  stuck: count('Lines of the stuck list', 2),
});

const transaction = namedObject('AccountTransaction', {
  transactionId: z.string().meta({ example: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11' }),
  type: z.enum(TRANSACTION_TYPES),
  status: z.enum(PURCHASE_STATUSES),
  reason: text('Why, when FAILED').nullable(),
  packageName: text('Null for a funding').nullable(),
  amount: money('The price; of a funding, what the wallet is to get'),
  currency: z.enum(ACCOUNT_CURRENCIES),
  createdAt: isoTime('When it was opened'),
  closedAt: isoTime('Null while it is open').nullable(),
});

const transactionsSchema = cursorPageSchema(transaction, 'AccountTransactions');

const presentAccount = <Account extends { readonly id: string }>({ id, ...account }: Account) => ({
  ...account,
  accountId: id,
});

const member = memberItem
  .extend({
    lastSignInAt: isoTime('Null: never').nullable(),
    lockedUntil: isoTime('After too many wrong passwords; null: not locked').nullable(),
    removalAskedBy: text(
      'Who asked within 24 hours to remove the second factor: it happens when an independent person asks for the same',
      'ada@operator.example',
    ).nullable(),
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

export const accountsRoutes: readonly Route<OperatorCases>[] = [
  accountRoutes.get(ACCOUNTS, {
    permission: 'see',
    query: accountsQuery,
    answer: {
      200: {
        description: 'One page, newest first',
        schema: accountPageSchema,
        alsoAs: { [CSV]: text(`The columns ${columnsOf(accountLine)}`) },
      },
    },
    operationId: 'listAccounts',
    summary: 'List accounts',
    description:
      'All, or those that `text` and the other filters find, with their plan and the balance of their wallet. With `Accept: text/csv` a file of the newest ' +
      `${MAX_FILE_LINES.toLocaleString('en')} that match, which the audit log has. Where more match, \`${NEXT_HEADER}\` is the \`page\` of the next file.`,
    async handle({ cases, session, query: { page, limit, ...filters }, visitor }) {
      if (visitor.preferredType('application/json', CSV) === CSV) {
        const { lines, next } = await cases.exportAccounts(session, { ...filters, page });
        return csvAnswer('accounts', csvLines(accountLine, lines.map(presentAccount)), next);
      }
      const found = await cases.listAccounts({ ...filters, page, limit });
      const data = presentPage({ ...found, items: found.items.map(presentAccount) });
      return answer(presentPageOf({ success: true, data }));
    },
  }),
  accountRoutes.get(ONE_ACCOUNT, {
    permission: 'see',
    answer: [200, 'The account', accountSchema],
    operationId: 'getAccountOverview',
    summary: 'Read an account',
    description:
      'Plan, wallet, and how much it has of keys, members, endpoints, open purchases and what is stuck.',
    handle: async ({ cases, params }) => presentAccount(await cases.readAccount(params.accountId)),
  }),
  accountRoutes.get(`${ONE_ACCOUNT}/transactions`, {
    permission: 'see',
    query: transactionsQuery,
    answer: [200, 'One page, newest first', transactionsSchema],
    operationId: 'listAccountTransactions',
    summary: 'List the purchases of an account',
    description: 'Every purchase and every funding of the account in this environment.',
    async handle({ cases, params, query: { after, limit } }) {
      const { items, next } = await cases.listAccountTransactions(params.accountId, { after, limit });
      return { items, nextCursor: next ?? null };
    },
  }),
  accountRoutes.patch(ONE_ACCOUNT, {
    permission: 'accounts',
    body: changeBody,
    answer: [200, 'The account after the change', accountSchema],
    operationId: 'changeAccountTerms',
    summary: 'Change the terms of an account, disable or enable it',
    description:
      'For both environments, whichever is named. Recorded under your name with your reason. Changes only the given fields; what is so already ' +
      'is not recorded again.',
    handle: async ({ cases, session, params, body }) =>
      presentAccount(
        await cases.changeAccount(session, params.accountId, {
          ...body,
          returns: body.returns && { ...body.returns, feeBps: Number(body.returns.feePercent) },
          replacements: body.replacements && {
            ...body.replacements,
            shareBps: Number(body.replacements.sharePercent),
          },
        }),
      ),
  }),
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
