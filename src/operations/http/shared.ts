/** What several of the routes for operators take and answer. */
import { z } from 'zod';
import { OPERATOR_ACTIONS } from '../../accounts/operators/action-table.ts';
import { isId } from '../../domain/ids.ts';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { amountJson, isoTime, money } from '../../platform/http/answer-fields.ts';
import { choiceField, textField } from '../../platform/http/fields.ts';
import type { JsonNumber, Wire } from '../../platform/http/json.ts';
import { environmentQuery, transactionId } from '../../platform/http/ops-route.ts';
import type { PathParameter } from '../../platform/http/route.ts';
import type { ActionRecord } from '../actions.ts';
import { ACTION_RECORD_STATUSES } from '../rules.ts';
import { STUCK_CLASSES, type StuckClass, type StuckItem } from '../stuck-rules.ts';

export const ACCOUNTS = '/ops/accounts';
export const ONE_ACCOUNT = `${ACCOUNTS}/{accountId}`;

export const accountId: PathParameter = {
  description: 'The `accountId` of an account',
  example: 'acc-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('account', text),
  notFound: { code: 'NOT_FOUND', message: 'No such account' },
};

/** What reads one account. */
const one = { params: { accountId }, query: environmentQuery };
export const READ_ACCOUNT = { method: 'GET', permission: 'see', ...one } as const;

export const CLASSES = STUCK_CLASSES as readonly [StuckClass, ...StuckClass[]];
export const MAX_OLDER_SECONDS = 999_999_999;
export const currency = z.string().meta({ example: 'NGN' });

export const currencyCode = (description: string) =>
  z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters')
    .optional()
    .meta({ description, example: 'NGN' });

export const flag = z.boolean('must be true or false');
export const word = z.string().nullable();
export const time = isoTime('ISO 8601');
export const stuckClassField = choiceField(CLASSES, { description: 'Only this class' });

export const stuckItem = z
  .object({
    transactionId: z.string(),
    class: z.enum(CLASSES),
    ageSeconds: z.number().int(),
    amount: money('Null if the item has no amount').nullable(),
    currency: currency.nullable(),
    reason: z.string(),
    nextAction: z.string(),
  })
  .meta({ id: 'StuckItem' });

export const record = z
  .object({
    actionId: z.string(),
    transactionId: z.string(),
    action: z.enum(OPERATOR_ACTIONS),
    by: z.string(),
    reason: z.string(),
    evidence: word,
    amount: money('Null where no money moves').nullable(),
    currency: currency.nullable(),
    packageCode: word,
    goodwill: z.boolean(),
    status: z.enum(ACTION_RECORD_STATUSES),
    refusal: word,
    detail: word,
    approvedBy: word.describe('Who approved or declined it'),
    decisionReason: word.describe('Why they did'),
    createdAt: time,
    closedAt: time.nullable(),
    expiresAt: isoTime('While it waits for a second person').nullable(),
  })
  .meta({ id: 'ActionRecord' });

export const amountOf = { amount: money('In `currency`'), currency };
export const side = (of: string) => money(`${of}, in \`currency\``);

export const reason = textField({
  max: MAX_REASON_CHARACTERS,
  description: 'Why: kept on record',
  example: 'The buyer sent the bank’s receipt, ticket 4711',
}).min(MIN_REASON_CHARACTERS, `must have at least ${MIN_REASON_CHARACTERS} characters`);

export const ONE = '/ops/purchases/{transactionId}';

export const ABOUT_ONE = {
  params: { transactionId },
  query: environmentQuery,
} as const;

export type Body<Schema extends z.ZodType> = Wire<z.output<Schema>>;

export function presentStuckItem({ amountMinor, ...item }: StuckItem): Body<typeof stuckItem> {
  return { ...item, amount: amountOrNull(amountMinor, item.currency) };
}

export const amountOrNull = (amountMinor: bigint | null, currency: string | null): JsonNumber | null =>
  amountMinor === null ? null : amountJson({ amountMinor, currency: currency ?? '' });

export const withCurrency = (amountMinor: bigint, currency: string) => ({
  amount: amountJson({ amountMinor, currency }),
  currency,
});

export function presentActionRecord({ amount, ...one }: ActionRecord): Body<typeof record> {
  const { amountMinor = null, currency: code = null } = amount ?? {};
  return { ...one, amount: amountOrNull(amountMinor, code), currency: code };
}
