/** The reports for finance, and entries of the ledger. USD4 has four decimals. */
import { z } from 'zod';
import { DAY_MS } from '../../domain/clock.ts';
import { LEDGER_KINDS, type LedgerKind } from '../../ledger/chart-of-accounts.ts';
import {
  answer,
  count,
  CSV,
  csvAnswer,
  type Data,
  isoTime,
  money,
  percent,
  text,
  usd,
  yesNo,
  dataObject,
} from '../../platform/http/answer-fields.ts';
import { environmentField, operatorRoutes, environmentQuery } from '../../platform/http/ops-route.ts';
import type { Route, RouteWords } from '../../platform/http/route.ts';
import { soughtField, wholeNumberField } from '../../platform/http/fields.ts';
import { MAX_FOUND_BY_CHARACTERS } from '../../platform/http/limits.ts';
import { presenter } from '../../platform/http/present.ts';
import { toCsv, type Report } from '../books.ts';
import type { ReconciliationCases } from '../operator-use-cases.ts';
import { WAITS_FOR } from '../store/ledger.ts';

const currency = text('`USD4`: the supplier’s unit', 'NGN');
const int = z.number().int();
const routes = operatorRoutes<ReconciliationCases>('Books');
const sides = { currency, debit: money('In `currency`'), credit: money('In `currency`') };

const KINDS = LEDGER_KINDS as [LedgerKind, ...LedgerKind[]];

const trialBalanceSchema = dataObject('TrialBalance', {
  lines: z.array(
    z.object({
      account: z.string(),
      kind: z.enum(KINDS),
      class: z.enum(['asset', 'liability', 'equity', 'income', 'expense']),
      ...sides,
      accounts: count('How many ledger accounts the line sums'),
    }),
  ),
  totals: z.array(z.object({ ...sides, isBalanced: z.boolean() })),
});

const dayField = (description: string) =>
  z.iso
    .date({
      // Else what compares the days would get text.
      abort: true,
      error: (issue) => (issue.input === undefined ? 'is required' : 'must be a day such as 2026-01-31'),
    })
    .transform((day) => new Date(day))
    .refine((day) => day.getUTCFullYear() >= 2000, 'must be in the year 2000 or later')
    .meta({ type: 'string', format: 'date', description, example: '2026-01-31' });

const trialBalanceQuery = z.object({
  ...environmentField,
  asOf: dayField('The last day that counts, UTC; now without it').optional(),
});

/** A leap year and a day: longer reports are made in parts. */
const MAX_DAYS = 367;

const dailyQuery = z
  .object({
    ...environmentField,
    from: dayField('The first day, UTC'),
    to: dayField('The last day, included'),
  })
  .refine(({ from, to }) => from <= to && to.getTime() - from.getTime() < MAX_DAYS * DAY_MS, {
    path: ['to'],
    message: `must not be before from, at most ${MAX_DAYS} days`,
  });

/** Without the midnight after the last day. */
const sliceOf = ({ from, to }: z.output<typeof dailyQuery>) => ({
  from,
  to: new Date(to.getTime() + DAY_MS),
});

const earned = {
  currency,
  deliveries: int,
  sold: money('In `currency`'),
  corrected: money('Taken off or added after the sale'),
  revenue: money('Sold and corrected'),
  costUsd: usd('What the supplier was paid, with four decimals', 12.5),
  cost: money('The same at the rates of the sales, in `currency`'),
  margin: money('Revenue less cost'),
  marginPercent: percent('The margin in percent of the revenue; null without revenue', 12.5).nullable(),
};

const packageType = z.enum(['BASE', 'TOPUP']).nullable();
const totals = z.array(z.object(earned)).describe('One for each currency');

const dailySchema = dataObject('Daily', {
  lines: z.array(z.object({ day: z.string().meta({ example: '2026-01-31' }), packageType, ...earned })),
  totals,
});

const merchantsSchema = dataObject('BooksByMerchant', {
  lines: z.array(
    z.object({
      accountId: text('null: booked without a purchase or funding').nullable(),
      email: z.string().nullable(),
      packageType,
      ...earned,
    }),
  ),
  totals,
});

const waitingSchema = dataObject('WaitingMoney', {
  lines: z.array(
    z.object({
      waitsFor: z.enum(WAITS_FOR),
      amount: money('In `currency`'),
      currency,
      items: count('How many it is the sum of'),
      oldestAt: isoTime('ISO 8601'),
    }),
  ),
});

const balancesSchema = dataObject('WalletBalances', {
  lines: z.array(
    z.object({
      day: z.string().meta({ example: '2026-01-31' }),
      currency,
      balance: money('What all wallets had at its end'),
      owed: money('What their accounts owed'),
    }),
  ),
});

const csvSchema = text('RFC 4180, with a heading');

/** A report as JSON, or as CSV where Accept asks for it. */
function reportRoute<Schema extends z.ZodType<{ data: unknown }>, Query extends z.ZodObject>(
  name: string,
  {
    query,
    answer: [description, schema],
    read,
    ...words
  }: Omit<RouteWords, 'tag'> & {
    readonly query: Query;
    readonly answer: readonly [description: string, schema: Schema];
    readonly read: (cases: ReconciliationCases, query: z.output<Query>) => Promise<Report & Data<Schema>>;
  },
): Route<ReconciliationCases> {
  const present = presenter<z.ZodType>(schema);
  return routes.get(`/ops/books/${name}`, {
    permission: 'books',
    query,
    answer: { 200: { description, schema, alsoAs: { [CSV]: csvSchema } } },
    ...words,
    async handle({ cases, visitor, query: asked }) {
      const report = await read(cases, asked as z.output<Query>);
      return visitor.preferredType('application/json', CSV) === CSV
        ? csvAnswer(report.report, toCsv(report))
        : answer(present({ success: true, data: report }));
    },
  });
}

/** A screen is shorter, a spreadsheet is made from the reports. */
const MAX_LEDGER_LINES = 10_000;

const ledgerQuery = z.object({
  ...environmentField,
  id: soughtField({
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

const ledgerSchema = dataObject('Ledger', {
  isAccount: yesNo('false: of one purchase or funding'),
  accounts: z.array(z.string()).describe('The ledger accounts that `id` names'),
  lines: z.array(
    z.object({
      at: isoTime('When it was booked'),
      operationKey: z.string(),
      kind: z.string(),
      transactionId: z.string().nullable(),
      account: z.string(),
      currency,
      reason: z.string().nullable(),
      debit: sides.debit,
      credit: sides.credit,
      balance: money('After it, on the account’s normal side; null for a purchase').nullable(),
    }),
  ),
});

export const booksRoutes: readonly Route<ReconciliationCases>[] = [
  routes.get('/ops/books/ledger', {
    permission: 'books',
    query: ledgerQuery,
    errors: ['NOT_FOUND'],
    answer: [200, 'The entries', ledgerSchema],
    operationId: 'getLedger',
    summary: 'Read ledger entries',
    description:
      'Of accounts newest first, with the balance after each entry; of a purchase or funding in the order of booking, without balances.',
    handle: ({ cases, query }) => cases.readLedger(query),
  }),
  reportRoute('trial-balance', {
    query: trialBalanceQuery,
    answer: ['Every account', trialBalanceSchema],
    operationId: 'getTrialBalance',
    summary: 'Read the trial balance',
    description:
      'Every account of the ledger by currency, with sums that net to zero. As of now, or of the end of a day.',
    read: (cases, { asOf }) => cases.readTrialBalance(asOf && new Date(asOf.getTime() + DAY_MS)),
  }),
  reportRoute('daily', {
    query: dailyQuery,
    answer: ['Day by day', dailySchema],
    operationId: 'getDaily',
    summary: 'Read revenue, cost and margin by day',
    description: 'By day (UTC), currency and package type, with totals by currency.',
    read: (cases, days) => cases.readDaily(sliceOf(days)),
  }),
  reportRoute('merchants', {
    query: dailyQuery,
    answer: ['Account by account', merchantsSchema],
    operationId: 'getBooksByMerchant',
    summary: 'Read revenue, cost and margin by merchant',
    description: 'By account, currency and package type, with totals by currency.',
    read: (cases, days) => cases.readByMerchant(sliceOf(days)),
  }),
  reportRoute('balances', {
    query: dailyQuery,
    answer: ['Day by day', balancesSchema],
    operationId: 'getWalletBalances',
    summary: 'Read what the wallets had, by day',
    description: 'At the end of each day (UTC) until today, by currency, with what accounts owed.',
    read: (cases, days) => cases.readWalletBalances(sliceOf(days)),
  }),
  reportRoute('waiting', {
    query: environmentQuery,
    answer: ['By what it waits for', waitingSchema],
    operationId: 'getWaitingMoney',
    summary: 'Read what money waits for',
    description:
      'Money on hold, on its way back, disputed, taken back, at the gateway, or booked on a person’s word.',
    read: (cases) => cases.readWaiting(),
  }),
];
