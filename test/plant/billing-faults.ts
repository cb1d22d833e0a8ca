// Faults in papers and in the close of months.
import { type Fault, faultsIn } from './fault.ts';

const MONTHS = 'test/billing/closed-months.store.test.ts';
const RANDOM = 'test/billing/random-months.store.promise.test.ts';
const NUMBERS = 'test/billing/numbering.store.promise.test.ts';
const PAPERS = 'test/billing/papers.http.test.ts';

export const BILLING_FAULTS: readonly Fault[] = [
  ...faultsIn('migrations/world/baseline/billing.ts', MONTHS, {
    'a closed month takes entries of a chosen time': ['if new.created_at <> now() then', 'if false then'],
    'what is booked now falls into a closed month': ['new.created_at := open_from;', 'null;'],
    'who books holds no lock of the months': [
      'perform pg_advisory_xact_lock_shared(month_lock());',
      'perform month_lock();',
    ],
    'a month is closed by whom asked for it': [
      "if closing.closed_at is not null then return 'already-closed'; end if;",
      '',
    ],
    'a closed month is opened again': ['if old.closed_at is not null and (', 'if false and ('],
  }),
  ...faultsIn('migrations/world/baseline/billing.ts', NUMBERS, {
    'a repeated invoice leaves a gap': [
      'update paper_series set last_number = last_number - 1',
      'update paper_series set last_number = last_number',
    ],
    'an invoice is written twice': [
      'if exists (select from invoices where (account_id, month, currency, revision)',
      'if false and exists (select from invoices where (account_id, month, currency, revision)',
    ],
    'an invoice need not add up': [
      'if draft.gross_minor is distinct from',
      'if false and draft.gross_minor is distinct from',
    ],
    'an invoice can be deleted': [
      'before update or delete or truncate on invoices',
      'before truncate on invoices',
    ],
  }),
  ...faultsIn('src/billing/months.ts', MONTHS, {
    'a month is closed before its end': [
      'if (rangeOf(month).to > now) throw',
      'if (rangeOf(month).from > now) throw',
    ],
    'months are closed in any order': ['if (month !== next) throw', 'if (month < first) throw'],
    'one person closes a month': [
      'if (!(await areTwoPeople(trx, askedBy, person.email, now)))',
      'if (askedBy === "")',
    ],
  }),
  ...faultsIn('src/billing/invoice-rules.ts', RANDOM, {
    'a kind of transfer that is new is left out of invoices': [
      '.filter(({ grossMinor }) => grossMinor !== 0n)',
      ".filter(({ kind }) => kind !== 'REFUND')",
    ],
    'corrections are not taken off': [
      'return { kind: lineKindOf(own[0] as Movement), packageName, quantity, grossMinor: sumOf(own) };',
      'return { kind: lineKindOf(own[0] as Movement), packageName, quantity, grossMinor: sumOf(own.slice(0, 1)) };',
    ],
  }),
  ...faultsIn('src/billing/store/statement.ts', RANDOM, {
    'a statement ends later than its month': ['${since(to)})::int8 as closing', '0)::int8 as closing'],
  }),
  ...faultsIn('src/billing/store/invoices.ts', RANDOM, {
    'an invoice takes entries of the next month': [
      'where t.created_at >= ${from} and t.created_at < ${to}',
      'where t.created_at >= ${from}',
    ],
  }),
  ...faultsIn('src/billing/day-journals.ts', RANDOM, {
    'rounded costs are not the other side of what is prepaid': [
      'creditMinor: rest }',
      'creditMinor: centsOf(line.creditMinor) }',
    ],
  }),
  ...faultsIn('src/domain/money.ts', PAPERS, {
    'the tax is on top of the price': ['10_000n + BigInt(rateBps))', '10_000n)'],
  }),
  ...faultsIn('src/billing/store/invoices.ts', PAPERS, {
    'an invoice of another account is read': [
      "if (accountId !== undefined) query = query.where('account_id', '=', accountId);",
      '',
    ],
  }),
  ...faultsIn('src/billing/receipts.ts', PAPERS, {
    'a receipt of another account is read': ['if (subject?.accountId !== account.id)', 'if (!subject)'],
  }),
];
