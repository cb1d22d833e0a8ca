/** Amounts are numbers with two decimals; of USD4 with four. */
import { z } from 'zod';
import { DAY_MS } from '../../domain/clock.ts';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { isoTime, money } from '../../platform/http/answer-fields.ts';
import { choiceField, textField, timeField, wholeNumberField } from '../../platform/http/fields.ts';
import { MAX_FOUND_BY_CHARACTERS } from '../../platform/http/limits.ts';
import { dataSchema, environmentField } from '../../platform/http/ops-route.ts';
import { pageFields, pageSchema } from '../../platform/http/page.ts';
import { DIFFERENCE_KINDS } from '../payment-rules.ts';
import { WAITS_FOR } from '../store/ledger.ts';

const currency = z.string().meta({ description: '`USD4`: the supplier’s unit', example: 'NGN' });
const facts = z.record(z.string(), z.string()).nullable();

export const differencesQuery = z.object({
  ...environmentField,
  ...pageFields,
  id: z
    .string()
    .regex(/^\d{1,18}$/, 'must be the id of a difference')
    .optional()
    .meta({
      description: 'Only this one, also when it is closed; other filters are left aside',
      example: '42',
    }),
  kind: choiceField(DIFFERENCE_KINDS, { description: 'Only this kind' }).optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}4?$/, 'must be a currency code of three capital letters, or USD4')
    .optional()
    .meta({ description: 'Only money of this currency' }),
  transactionId: textField({ max: 50, description: 'Only those of one purchase or funding' }).optional(),
});

const difference = z
  .object({
    id: z.string().meta({ example: '42' }),
    kind: z.enum(DIFFERENCE_KINDS),
    subject: z.string(),
    transactionId: z.string().nullable(),
    amount: money('Theirs less ours'),
    currency,
    ours: facts.meta({ description: 'null: we know nothing about it' }),
    theirs: facts.meta({ description: 'null: they know nothing about it' }),
    firstSeenAt: isoTime('ISO 8601'),
    lastSeenAt: isoTime('ISO 8601'),
    closedAt: isoTime('Null: it is open').nullable(),
    closedBy: z
      .string()
      .nullable()
      .meta({ description: 'The person; null: it is open, or a run found it gone' }),
    closeReason: z.string().nullable(),
  })
  .meta({ id: 'Difference' });

export const differencePageSchema = pageSchema(difference, 'DifferencePage');

export const closeBody = z
  .object({
    reason: textField({
      max: MAX_REASON_CHARACTERS,
      description: 'Why it is no error, or how it was settled: kept on record',
    }).min(MIN_REASON_CHARACTERS, `must have at least ${MIN_REASON_CHARACTERS} characters`),
  })
  .meta({ id: 'CloseDifferenceRequest' });

export const closedSchema = dataSchema(
  z.object({ id: z.string(), closed: z.literal(true) }),
  'ClosedDifference',
);

export const reconcileBody = z
  .object({
    from: timeField({ description: 'Only what happened from then on; with `to`' }).optional(),
    to: timeField({ description: 'And before then' }).optional(),
  })
  .refine(({ from, to }) => (from === undefined) === (to === undefined), {
    path: ['to'],
    message: 'goes with from, and from with it',
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    path: ['to'],
    message: 'must be after from',
  })
  .meta({ id: 'ReconcileRequest' });

const count = z.number().int();

export const reconciledSchema = dataSchema(
  z.object({
    status: z.enum(['done', 'nothing-to-compare']),
    run: z
      .object({
        runId: z.string(),
        from: isoTime('ISO 8601'),
        to: isoTime('ISO 8601'),
        compared: z.record(z.string(), count).meta({ description: 'How many of each there were' }),
        opened: count,
        closed: count,
        open: z.array(z.object({ kind: z.enum(DIFFERENCE_KINDS), count })),
      })
      .nullable(),
  }),
  'Reconciled',
);

export const reconcilingSchema = dataSchema(z.object({ status: z.literal('running') }), 'Reconciling');

const sides = { currency, debit: money('In `currency`'), credit: money('In `currency`') };

export const trialBalanceSchema = dataSchema(
  z.object({
    lines: z.array(
      z.object({
        account: z.string(),
        kind: z.string(),
        class: z.enum(['asset', 'liability', 'equity', 'income', 'expense']),
        ...sides,
        accounts: count.meta({ description: 'How many ledger accounts the line sums' }),
      }),
    ),
    totals: z.array(z.object({ ...sides, isBalanced: z.boolean() })),
  }),
  'TrialBalance',
);

const dayField = (description: string) =>
  z.iso
    .date({
      error: (issue) => (issue.input === undefined ? 'is required' : 'must be a day such as 2026-01-31'),
    })
    .transform((day) => new Date(day))
    .refine((day) => day.getUTCFullYear() >= 2000, 'must be in the year 2000 or later')
    .meta({ type: 'string', format: 'date', description, example: '2026-01-31' });

/** A leap year and a day: longer reports are made in parts. */
const MAX_DAYS = 367;

export const dailyQuery = z
  .object({
    ...environmentField,
    from: dayField('The first day, UTC'),
    to: dayField('The day after the last one'),
  })
  .refine(({ from, to }) => from < to && to.getTime() - from.getTime() <= MAX_DAYS * DAY_MS, {
    path: ['to'],
    message: `must be after from, at most ${MAX_DAYS} days`,
  });

/** A screen is shorter, a spreadsheet is made from the reports. */
const MAX_LEDGER_LINES = 10_000;

export const ledgerQuery = z.object({
  ...environmentField,
  id: textField({
    max: MAX_FOUND_BY_CHARACTERS,
    description:
      'An account’s id (its wallet), a ledger account such as `suspense:NGN`, a kind of ledger accounts such as `suspense`, or anything ' +
      'that leads to a purchase or funding',
    example: 'suspense:NGN',
  }),
  limit: wholeNumberField({
    min: 1,
    max: MAX_LEDGER_LINES,
    fallback: 50,
    description: 'Entries of accounts',
  }),
});

export const ledgerSchema = dataSchema(
  z.object({
    isAccount: z.boolean().meta({ description: 'false: of one purchase or funding' }),
    accounts: z.array(z.string()).meta({ description: 'The ledger accounts that `id` names' }),
    lines: z.array(
      z.object({
        at: isoTime('When it was booked'),
        operationKey: z.string(),
        kind: z.string(),
        transactionId: z.string().nullable(),
        account: z.string(),
        currency,
        reason: z.string().nullable(),
        debit: money('In `currency`'),
        credit: money('In `currency`'),
        balance: money('After it, on the account’s normal side; null for a purchase').nullable(),
      }),
    ),
  }),
  'Ledger',
);

const earned = {
  currency,
  deliveries: count,
  sold: money('In `currency`'),
  corrected: money('Taken off or added after the sale'),
  revenue: money('Sold and corrected'),
  costUsd: money('What the supplier was paid, with four decimals'),
  cost: money('The same at the rates of the sales, in `currency`'),
  margin: money('Revenue less cost'),
  marginPercent: money('The margin in percent of the revenue; null without revenue').nullable(),
};
const packageType = z.enum(['BASE', 'TOPUP']).nullable();
const totals = z.array(z.object(earned)).meta({ description: 'One for each currency' });

export const dailySchema = dataSchema(
  z.object({
    lines: z.array(z.object({ day: z.string().meta({ example: '2026-01-31' }), packageType, ...earned })),
    totals,
  }),
  'Daily',
);

export const merchantsSchema = dataSchema(
  z.object({
    lines: z.array(
      z.object({
        accountId: z.string().nullable().meta({ description: 'null: booked without a purchase or funding' }),
        email: z.string().nullable(),
        packageType,
        ...earned,
      }),
    ),
    totals,
  }),
  'BooksByMerchant',
);

export const waitingSchema = dataSchema(
  z.object({
    lines: z.array(
      z.object({
        waitsFor: z.enum(WAITS_FOR),
        amount: money('In `currency`'),
        currency,
        items: count.meta({ description: 'How many it is the sum of' }),
        oldestAt: isoTime('ISO 8601'),
      }),
    ),
  }),
  'WaitingMoney',
);

export const csvSchema = z.string().meta({ description: 'RFC 4180, with a heading' });
