/** What several of the routes for operators take and answer. */
import { z } from 'zod';
import { OPERATOR_ACTIONS } from '../../accounts/operators/action-table.ts';
import type { Money } from '../../domain/money.ts';
import { isoTime, money, namedObject } from '../../platform/http/answer-fields.ts';
import { choiceField, reasonField } from '../../platform/http/fields.ts';
import type { ActionRecord } from '../actions.ts';
import { ACTION_RECORD_STATUSES } from '../rules.ts';
import { STUCK_CLASSES, type StuckClass } from '../stuck-rules.ts';

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

export const stuckItem = namedObject('StuckItem', {
  transactionId: z.string(),
  class: z.enum(CLASSES),
  ageSeconds: z.number().int(),
  amount: money('Null if the item has no amount').nullable(),
  currency: currency.nullable(),
  reason: z.string(),
  nextAction: z.string(),
});

export const record = namedObject('ActionRecord', {
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
});

export const amountOf = { amount: money('In `currency`'), currency };
export const side = (of: string) => money(`${of}, in \`currency\``);

export const reason = reasonField('The buyer sent the bank’s receipt, ticket 4711');

export const ONE = '/ops/purchases/{transactionId}';

/** An amount with its currency, or neither. */
export const moneyFields = (amount: Money | null) => ({ amount, currency: amount?.currency ?? null });

export const presentActionRecord = (one: ActionRecord) => ({ ...one, ...moneyFields(one.amount) });
