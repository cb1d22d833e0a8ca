/** Accounts, for operators. */
import { z } from 'zod';
import { ACCOUNT_TYPES, hasOwnLimit, PLANS } from '../../domain/account.ts';
import { isId } from '../../domain/ids.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { PURCHASE_STATUSES } from '../../domain/states.ts';
import {
  amountJson,
  dataAnswer,
  dataSchema,
  isoTime,
  money,
  presenter,
  answer,
  text,
  count,
} from '../../platform/http/answer-fields.ts';
import { choiceField, countField, textField } from '../../platform/http/fields.ts';
import { MAX_ACCOUNT_REQUESTS_PER_MINUTE, MAX_EMAIL_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField, environmentQuery, opsRoutesFor } from '../../platform/http/ops-route.ts';
import {
  cursorFields,
  cursorPageSchema,
  pageFields,
  pageSchema,
  presentPage,
} from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import { TRANSACTION_TYPES } from '../../purchases/store/list-transactions.ts';
import type { AccountOverview, ListedAccount } from '../accounts.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { accountId, ACCOUNTS, ONE_ACCOUNT, READ_ACCOUNT } from './shared.ts';

const defineOpsRoute = opsRoutesFor<OperatorCases>();
const TAG = 'Accounts';

const accountsQuery = z.object({
  ...environmentField,
  ...pageFields,
  text: textField({
    max: MAX_EMAIL_CHARACTERS,
    description: 'An id, or a part of the name, of the e-mail address of the account or of a member’s',
    example: 'merchant.example',
  }).optional(),
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
    reason: textField({
      max: MAX_REASON_CHARACTERS,
      description: 'Why: kept on record',
      example: 'Signed the contract, ticket 4711',
    }).min(MIN_REASON_CHARACTERS, `must have at least ${MIN_REASON_CHARACTERS} characters`),
  })
  .refine(({ plan, disabled }) => plan !== undefined || disabled !== undefined, {
    message: 'must hold plan or disabled',
  })
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
  createdAt: isoTime('ISO 8601'),
});

const accountPageSchema = pageSchema(listed.meta({ id: 'ListedAccount' }), 'AccountPage');

const accountSchema = dataSchema(
  z.object({
    ...listed.shape,
    onHold: money('What of the wallet’s money waits for deliveries'),
    owed: money('What a bank took back after the wallet had spent it'),
    keys: count('API keys of this environment that work', 2),
    members: count('Users who belong to it', 2),
    endpoints: count('Webhook endpoints of this environment', 2),
    openPurchases: count('Not closed yet', 2),
    openFundings: count('Not closed yet', 2),
    stuck: count('Lines of the stuck list', 2),
  }),
  'AccountOverview',
);

const transaction = z
  .object({
    transactionId: z.string().meta({ example: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11' }),
    type: z.enum(TRANSACTION_TYPES),
    status: z.enum(PURCHASE_STATUSES),
    reason: text('Why, when FAILED').nullable(),
    packageName: text('Null for a funding').nullable(),
    amount: money('The price; of a funding, what the wallet is to get'),
    currency: z.enum(ACCOUNT_CURRENCIES),
    createdAt: isoTime('When it was opened'),
    closedAt: isoTime('Null while it is open').nullable(),
  })
  .meta({ id: 'AccountTransaction' });

const transactionsSchema = cursorPageSchema(transaction, 'AccountTransactions');

const transactionsRoute = defineOpsRoute({
  ...READ_ACCOUNT,
  path: `${ONE_ACCOUNT}/transactions`,
  query: transactionsQuery,
  responses: { 200: { description: 'One page, newest first', schema: transactionsSchema } },
  docs: {
    operationId: 'listAccountTransactions',
    tag: TAG,
    summary: 'List the purchases of an account',
    description: 'Every purchase and every funding of the account in this environment.',
  },
  async handle({ cases, params, query: { after, limit } }) {
    const { items, next } = await cases.listAccountTransactions(params['accountId'] ?? '', { after, limit });
    const presented = items.map((item) => presenter(transaction)({ ...item, amount: amountJson(item) }));
    return dataAnswer({ items: presented, nextCursor: next ?? null });
  },
});

const listRoute = defineOpsRoute({
  method: 'GET',
  path: ACCOUNTS,
  permission: 'see',
  query: accountsQuery,
  responses: { 200: { description: 'One page, newest first', schema: accountPageSchema } },
  docs: {
    operationId: 'listAccounts',
    tag: TAG,
    summary: 'List accounts',
    description: 'All, or those that `text` finds, with their plan and the balance of their wallet.',
  },
  handle: async ({ cases, query: { text, page, limit } }) =>
    answer(presentPage(await cases.listAccounts({ text: text?.trim(), page, limit }), presentListed)),
});

const readRoute = defineOpsRoute({
  ...READ_ACCOUNT,
  path: ONE_ACCOUNT,
  responses: { 200: { description: 'The account', schema: accountSchema } },
  docs: {
    operationId: 'getAccountOverview',
    tag: TAG,
    summary: 'Read an account',
    description:
      'Plan, wallet, and how much it has of keys, members, endpoints, open purchases and what is stuck.',
  },
  handle: async ({ cases, params }) =>
    dataAnswer(presentAccount(await cases.readAccount(params['accountId'] ?? ''))),
});

const changeRoute = defineOpsRoute({
  method: 'PATCH',
  path: ONE_ACCOUNT,
  permission: 'accounts',
  params: { accountId },
  query: environmentQuery,
  body: changeBody,
  responses: { 200: { description: 'The account after the change', schema: accountSchema } },
  docs: {
    operationId: 'changeAccountTerms',
    tag: TAG,
    summary: 'Change the plan of an account, disable or enable it',
    description:
      'For both environments, whichever is named. Recorded under your name with your reason. Changes only the given fields; what is so already ' +
      'is not recorded again.',
  },
  handle: async ({ cases, session, params, body }) =>
    dataAnswer(presentAccount(await cases.changeAccount(session, params['accountId'] ?? '', body))),
});

const presentListed = ({ id, ...account }: ListedAccount) =>
  presenter(listed)({ ...account, accountId: id, balance: amountJson(account.balance) });

function presentAccount(account: AccountOverview) {
  const { currency, keys, members, endpoints, openPurchases, openFundings, stuck } = account;
  return {
    ...presentListed(account),
    onHold: amountJson({ amountMinor: account.onHoldMinor, currency }),
    owed: amountJson({ amountMinor: account.owedMinor, currency }),
    ...{ keys, members, endpoints, openPurchases, openFundings, stuck },
  };
}

export const accountsRoutes: readonly Route<OperatorCases>[] = [
  listRoute,
  readRoute,
  transactionsRoute,
  changeRoute,
];
