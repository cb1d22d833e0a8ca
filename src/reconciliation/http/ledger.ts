/** Entries of the ledger, for finance. */
import { z } from 'zod';
import {
  amountJson,
  type Data,
  dataAnswer,
  dataSchema,
  isoTime,
  money,
} from '../../platform/http/answer-fields.ts';
import { textField, wholeNumberField } from '../../platform/http/fields.ts';
import { MAX_FOUND_BY_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField, opsRoutesFor } from '../../platform/http/ops-route.ts';
import type { Route } from '../../platform/http/route.ts';
import type { LedgerView } from '../books.ts';
import type { ReconciliationCases } from '../operator-use-cases.ts';

const defineOpsRoute = opsRoutesFor<ReconciliationCases>();

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
    isAccount: z.boolean().meta({ description: 'false: of one purchase or funding' }),
    accounts: z.array(z.string()).meta({ description: 'The ledger accounts that `id` names' }),
    lines: z.array(
      z.object({
        at: isoTime('When it was booked'),
        operationKey: z.string(),
        kind: z.string(),
        transactionId: z.string().nullable(),
        account: z.string(),
        currency: z.string().meta({ description: '`USD4`: the supplier’s unit', example: 'NGN' }),
        reason: z.string().nullable(),
        debit: money('In `currency`'),
        credit: money('In `currency`'),
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

export const ledgerRoutes: readonly Route<ReconciliationCases>[] = [ledgerRoute];
