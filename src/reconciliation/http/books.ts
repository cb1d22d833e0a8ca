/**
 * The reports for finance, and entries of the ledger. Amounts are numbers with two decimals; of USD4 with
 * four.
 */
import { z } from 'zod';
import { DAY_MS } from '../../domain/clock.ts';
import {
  amountJson,
  type Data,
  dataAnswer,
  dataSchema,
  isoTime,
  money,
  text,
  count,
  yesNo,
} from '../../platform/http/answer-fields.ts';
import { environmentField, opsRoutesFor, environmentQuery } from '../../platform/http/ops-route.ts';
import type { Route } from '../../platform/http/route.ts';
import { textField, wholeNumberField } from '../../platform/http/fields.ts';
import { MAX_FOUND_BY_CHARACTERS } from '../../platform/http/limits.ts';
import {
  toCsv,
  type ByMerchant,
  type Daily,
  type Earned,
  type LedgerView,
  type Report,
  type TrialBalance,
  type Waiting,
} from '../books.ts';
import type { ReconciliationCases } from '../operator-use-cases.ts';
import { WAITS_FOR } from '../store/ledger.ts';

const currency = text('`USD4`: the supplier’s unit', 'NGN');
const int = z.number().int();
const defineOpsRoute = opsRoutesFor<ReconciliationCases>();
const sides = { currency, debit: money('In `currency`'), credit: money('In `currency`') };

const trialBalanceSchema = dataSchema(
  z.object({
    lines: z.array(
      z.object({
        account: z.string(),
        kind: z.string(),
        class: z.enum(['asset', 'liability', 'equity', 'income', 'expense']),
        ...sides,
        accounts: count('How many ledger accounts the line sums'),
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

const dailyQuery = z
  .object({
    ...environmentField,
    from: dayField('The first day, UTC'),
    to: dayField('The day after the last one'),
  })
  .refine(({ from, to }) => from < to && to.getTime() - from.getTime() <= MAX_DAYS * DAY_MS, {
    path: ['to'],
    message: `must be after from, at most ${MAX_DAYS} days`,
  });

const earned = {
  currency,
  deliveries: int,
  sold: money('In `currency`'),
  corrected: money('Taken off or added after the sale'),
  revenue: money('Sold and corrected'),
  costUsd: money('What the supplier was paid, with four decimals'),
  cost: money('The same at the rates of the sales, in `currency`'),
  margin: money('Revenue less cost'),
  marginPercent: money('The margin in percent of the revenue; null without revenue').nullable(),
};

const packageType = z.enum(['BASE', 'TOPUP']).nullable();
const totals = z.array(z.object(earned)).describe('One for each currency');

const dailySchema = dataSchema(
  z.object({
    lines: z.array(z.object({ day: z.string().meta({ example: '2026-01-31' }), packageType, ...earned })),
    totals,
  }),
  'Daily',
);

const merchantsSchema = dataSchema(
  z.object({
    lines: z.array(
      z.object({
        accountId: text('null: booked without a purchase or funding').nullable(),
        email: z.string().nullable(),
        packageType,
        ...earned,
      }),
    ),
    totals,
  }),
  'BooksByMerchant',
);

const waitingSchema = dataSchema(
  z.object({
    lines: z.array(
      z.object({
        waitsFor: z.enum(WAITS_FOR),
        amount: money('In `currency`'),
        currency,
        items: count('How many it is the sum of'),
        oldestAt: isoTime('ISO 8601'),
      }),
    ),
  }),
  'WaitingMoney',
);

const csvSchema = text('RFC 4180, with a heading');
const CSV = 'text/csv';

/** A report as JSON, or as CSV where Accept asks for it. */
function reportRoute<R extends Report, Query extends z.ZodObject>(
  name: string,
  query: Query,
  response: { readonly description: string; readonly schema: z.ZodType },
  docs: { readonly operationId: string; readonly summary: string; readonly description: string },
  read: (cases: ReconciliationCases, query: z.output<Query>) => Promise<R>,
  present: (report: R) => object,
): Route<ReconciliationCases> {
  return defineOpsRoute({
    method: 'GET',
    path: `/ops/books/${name}`,
    permission: 'books',
    query,
    responses: { 200: { ...response, alsoAs: { [CSV]: csvSchema } } },
    docs: { tag: 'Books', ...docs },
    async handle({ cases, visitor, query: asked }) {
      const report = await read(cases, asked as z.output<Query>);
      if (visitor.preferredType('application/json', CSV) !== CSV) return dataAnswer(present(report));
      const headers = {
        'Content-Type': `${CSV}; charset=utf-8`,
        'Content-Disposition': `attachment; filename="${report.report}.csv"`,
      };
      return { status: 200, body: toCsv(report), headers };
    },
  });
}

function presentTrialBalance({ lines, totals }: TrialBalance): Data<typeof trialBalanceSchema> {
  return { lines: lines.map(withSides), totals: totals.map(withSides) };
}

function withSides<Line extends TrialBalance['totals' | 'lines'][number]>({
  debitMinor,
  creditMinor,
  ...line
}: Line) {
  const { currency } = line;
  return {
    ...line,
    debit: amountJson({ amountMinor: debitMinor, currency }),
    credit: amountJson({ amountMinor: creditMinor, currency }),
  };
}

const presentLines = <Line extends Earned, Total extends Earned>(report: {
  readonly lines: readonly Line[];
  readonly totals: readonly Total[];
}) => ({ lines: report.lines.map(presentEarned), totals: report.totals.map(presentEarned) });

const presentDaily: (report: Daily) => Data<typeof dailySchema> = presentLines;
const presentByMerchant: (report: ByMerchant) => Data<typeof merchantsSchema> = presentLines;

function presentEarned<Line extends Earned>({
  soldMinor,
  correctedMinor,
  revenueMinor,
  costUsdE4,
  costMinor,
  marginMinor,
  marginBps,
  ...line
}: Line) {
  const inCurrency = (amountMinor: bigint) => amountJson({ amountMinor, currency: line.currency });
  return {
    ...line,
    sold: inCurrency(soldMinor),
    corrected: inCurrency(correctedMinor),
    revenue: inCurrency(revenueMinor),
    costUsd: amountJson({ amountMinor: costUsdE4, currency: 'USD4' }),
    cost: inCurrency(costMinor),
    margin: inCurrency(marginMinor),
    // Hundredths of a percent have two decimals, as minor units do.
    marginPercent: marginBps === null ? null : inCurrency(BigInt(marginBps)),
  };
}

function presentWaiting({ lines }: Waiting): Data<typeof waitingSchema> {
  return {
    lines: lines.map(({ amountMinor, ...line }) => ({
      ...line,
      amount: amountJson({ amountMinor, currency: line.currency }),
    })),
  };
}

/** A screen is shorter, a spreadsheet is made from the reports. */
const MAX_LEDGER_LINES = 10_000;

const ledgerQuery = z.object({
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

const ledgerSchema = dataSchema(
  z.object({
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
  }),
  'Ledger',
);

const ledgerRoute = defineOpsRoute({
  method: 'GET',
  path: '/ops/books/ledger',
  permission: 'books',
  query: ledgerQuery,
  errors: ['NOT_FOUND'],
  responses: { 200: { description: 'The entries', schema: ledgerSchema } },
  docs: {
    operationId: 'getLedger',
    tag: 'Books',
    summary: 'Read ledger entries',
    description:
      'Of accounts newest first, with the balance after each entry; of a purchase or funding in the order of booking, without balances.',
  },
  async handle({ cases, query }) {
    return dataAnswer(presentLedger(await cases.readLedger(query)));
  },
});

const presentLedger = ({ lines, ...view }: LedgerView): Data<typeof ledgerSchema> => ({
  ...view,
  accounts: [...view.accounts],
  lines: lines.map(({ at, debitMinor, creditMinor, balanceMinor, ...line }) => {
    const { currency } = line;
    const amount = (amountMinor: bigint) => amountJson({ amountMinor, currency });
    return {
      ...line,
      at: at.toISOString(),
      debit: amount(debitMinor),
      credit: amount(creditMinor),
      balance: balanceMinor === null ? null : amount(balanceMinor),
    };
  }),
});

export const booksRoutes: readonly Route<ReconciliationCases>[] = [
  ledgerRoute,
  reportRoute(
    'trial-balance',
    environmentQuery,
    { description: 'Every account', schema: trialBalanceSchema },
    {
      operationId: 'getTrialBalance',
      summary: 'Read the trial balance',
      description: 'Every account of the ledger by currency, with sums that net to zero.',
    },
    (cases) => cases.readTrialBalance(),
    presentTrialBalance,
  ),
  reportRoute(
    'daily',
    dailyQuery,
    { description: 'Day by day', schema: dailySchema },
    {
      operationId: 'getDaily',
      summary: 'Read revenue, cost and margin by day',
      description: 'By day (UTC), currency and package type, with totals by currency.',
    },
    (cases, range) => cases.readDaily(range),
    presentDaily,
  ),
  reportRoute(
    'merchants',
    dailyQuery,
    { description: 'Account by account', schema: merchantsSchema },
    {
      operationId: 'getBooksByMerchant',
      summary: 'Read revenue, cost and margin by merchant',
      description: 'By account, currency and package type, with totals by currency.',
    },
    (cases, range) => cases.readByMerchant(range),
    presentByMerchant,
  ),
  reportRoute(
    'waiting',
    environmentQuery,
    { description: 'By what it waits for', schema: waitingSchema },
    {
      operationId: 'getWaitingMoney',
      summary: 'Read what money waits for',
      description:
        'Money on hold, on its way back, disputed, taken back, at the gateway, or booked on a person’s word.',
    },
    (cases) => cases.readWaiting(),
    presentWaiting,
  ),
];
