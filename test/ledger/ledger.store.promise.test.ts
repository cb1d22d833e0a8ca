/**
 * Promise M1: random operations against a model. Every answer of the ledger must equal the model's, every
 * illegal attempt be refused by name, and after every run each wallet is the sum of its entries. Runs of
 * several loops share the same system accounts; a run's operations partly share one database transaction,
 * which commits or rolls back as a whole.
 */
import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { ensureWallet, fundWallet, transfer, walletAccount } from '../../src/ledger/store/ledger.ts';
import { HoldConflict, postHold, voidHold } from '../../src/ledger/store/holds.ts';
import { placeHold } from '../support/money/holds.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { auditBooks, nameOfRefusal, openBooks, refusalOf, type Books } from '../support/world/books.ts';
import { size, withSeed } from '../support/time/size.ts';
import { forFile } from '../support/world/for-file.ts';

const OPERATIONS = size({ ci: 3_000, prove: 1_000_000 });
const CONCURRENCY = 4;
/** Operations between two audits of all books. */
const RUNS_PER_ROUND = size({ ci: 10, prove: 400 });
const MAX_STEPS_IN_A_RUN = 120;

const books: Books = await forFile(openBooks({ maxConnections: 2 * CONCURRENCY }));

const CURRENCIES = ['USD', 'USD', 'NGN'] as const;
const ILLEGAL = {
  unbalanced: 'ledger_nets_to_zero',
  'cross-currency': 'ledger_nets_to_zero',
  "not the account's currency": 'ledger_entry_in_the_accounts_currency',
  zero: 'ledger_entry_not_zero',
  update: 'permission denied',
  delete: 'permission denied',
  balance: 'permission denied',
} as const;

type Step =
  | { readonly verb: 'fund'; readonly wallet: number; readonly amount: number; readonly key: number }
  | { readonly verb: 'hold'; readonly wallet: number; readonly amount: number; readonly slot: number }
  | { readonly verb: 'post'; readonly slot: number; readonly cost: number }
  | { readonly verb: 'void'; readonly slot: number }
  | {
      readonly verb: 'move';
      readonly from: number;
      readonly to: number;
      readonly amount: number;
      readonly key: number;
    };

type Illegal = { readonly verb: 'illegal'; readonly what: keyof typeof ILLEGAL; readonly wallet: number };
type Together = { readonly verb: 'together'; readonly steps: readonly Step[]; readonly commits: boolean };

const wallet = fc.nat(CURRENCIES.length - 1);
const amount = fc.integer({ min: 1, max: 60 });
const slot = fc.nat(11);
const key = fc.nat(30);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('fund' as const), wallet, amount, key }) },
  { weight: 4, arbitrary: fc.record({ verb: fc.constant('hold' as const), wallet, amount, slot }) },
  { weight: 3, arbitrary: fc.record({ verb: fc.constant('post' as const), slot, cost: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ verb: fc.constant('void' as const), slot }) },
  {
    weight: 2,
    arbitrary: fc.record({ verb: fc.constant('move' as const), from: wallet, to: wallet, amount, key }),
  },
);

const anyStep: fc.Arbitrary<Step | Illegal | Together> = fc.oneof(
  { weight: 14, arbitrary: step },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constant('illegal' as const),
      what: fc.constantFrom(...(Object.keys(ILLEGAL) as (keyof typeof ILLEGAL)[])),
      wallet,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constant('together' as const),
      steps: fc.array(step, { minLength: 1, maxLength: 6 }),
      commits: fc.boolean(),
    }),
  },
);

/** The expected books, kept in memory. */
interface Model {
  readonly balances: number[];
  readonly holds: Map<number, { wallet: number; amount: number; status: 'HELD' | 'POSTED' | 'VOIDED' }>;
  readonly keys: Set<string>;
}

/** Changes the model and returns the ledger's expected answer. */
function expected(model: Model, wanted: Step): string {
  switch (wanted.verb) {
    case 'fund':
      if (!once(model, `fund ${wanted.key}`)) return 'already';
      model.balances[wanted.wallet]! += wanted.amount;
      return 'done';
    case 'hold':
      if (model.holds.has(wanted.slot)) return 'already';
      if (model.balances[wanted.wallet]! < wanted.amount) return 'insufficient';
      model.balances[wanted.wallet]! -= wanted.amount;
      model.holds.set(wanted.slot, { wallet: wanted.wallet, amount: wanted.amount, status: 'HELD' });
      return 'held';
    case 'post':
      return close(model, wanted.slot, 'POSTED');
    case 'void':
      return close(model, wanted.slot, 'VOIDED');
    case 'move':
      return move(model, wanted.from, wanted.to, wanted.amount, wanted.key);
  }
}

function once(model: Model, operation: string): boolean {
  if (model.keys.has(operation)) return false;
  model.keys.add(operation);
  return true;
}

function close(model: Model, id: number, status: 'POSTED' | 'VOIDED'): string {
  const hold = model.holds.get(id);
  if (!hold) return status === 'VOIDED' ? 'already' : 'conflict';
  if (hold.status === status) return 'already';
  if (hold.status !== 'HELD') return 'conflict';
  hold.status = status;
  if (status === 'VOIDED') model.balances[hold.wallet]! += hold.amount;
  return status.toLowerCase();
}

function move(model: Model, from: number, to: number, moved: number, operation: number): string {
  if (model.keys.has(`move ${operation}`)) return 'already';
  if (CURRENCIES[from] !== CURRENCIES[to]) return 'ledger_nets_to_zero';
  if (from !== to && model.balances[from]! < moved) return 'wallet_never_below_zero';
  model.keys.add(`move ${operation}`);
  model.balances[from]! -= moved;
  model.balances[to]! += moved;
  return 'done';
}

const copyOf = (model: Model): Model => ({
  balances: [...model.balances],
  holds: new Map([...model.holds].map(([id, hold]) => [id, { ...hold }])),
  keys: new Set(model.keys),
});

/** Runs the same operation on the ledger; `name` keeps this run's rows apart from all others. */
async function perform(db: WorldDb, name: string, wanted: Step): Promise<string> {
  switch (wanted.verb) {
    case 'fund':
      return fundWallet(db, {
        operationKey: `${name}:fund:${wanted.key}`,
        accountId: `${name}:${wanted.wallet}`,
        amount: { amountMinor: BigInt(wanted.amount), currency: CURRENCIES[wanted.wallet]! },
        reason: 'a test',
      });
    case 'hold':
      return placeHold(db, {
        id: `${name}:${wanted.slot}`,
        accountId: `${name}:${wanted.wallet}`,
        amount: { amountMinor: BigInt(wanted.amount), currency: CURRENCIES[wanted.wallet]! },
      });
    case 'post':
      return orConflict(
        postHold(db, `${name}:${wanted.slot}`, { supplier: 'esim-access', costUsdE4: BigInt(wanted.cost) }),
      );
    case 'void':
      return orConflict(voidHold(db, `${name}:${wanted.slot}`));
    case 'move':
      return orRefusal(
        transfer(db, {
          operationKey: `${name}:move:${wanted.key}`,
          kind: 'move',
          entries: [[wanted.from, -wanted.amount] as const, [wanted.to, wanted.amount] as const].map(
            ([account, minor]) => ({
              account: walletAccount(`${name}:${account}`),
              currency: CURRENCIES[account]!,
              amountMinor: BigInt(minor),
            }),
          ),
        }),
      );
  }
}

async function orConflict(answer: Promise<string>): Promise<string> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof HoldConflict) return 'conflict';
    throw error;
  }
}

async function orRefusal(answer: Promise<string>): Promise<string> {
  try {
    return await answer;
  } catch (error) {
    return nameOfRefusal(error);
  }
}

function attempt(db: WorldDb, name: string, { what, wallet: target }: Illegal): Promise<string> {
  const account = walletAccount(`${name}:${target}`);
  const currency = CURRENCIES[target]!;
  const other = currency === 'USD' ? 'NGN' : 'USD';
  const book = (entries: [string, string, bigint][]) =>
    transfer(db, {
      operationKey: `${name}:illegal`,
      kind: 'x',
      entries: entries.map(([to, inCurrency, amountMinor]) => ({
        account: to,
        currency: inCurrency,
        amountMinor,
      })),
    });
  const statements: Record<keyof typeof ILLEGAL, () => Promise<unknown>> = {
    unbalanced: () =>
      book([
        [account, currency, 5n],
        [`funding:${currency}`, currency, -4n],
      ]),
    'cross-currency': () =>
      book([
        [account, currency, 5n],
        [`funding:${other}`, other, -5n],
      ]),
    "not the account's currency": () =>
      book([
        [account, other, 5n],
        [`funding:${other}`, other, -5n],
      ]),
    zero: () =>
      book([
        [account, currency, 0n],
        [`funding:${currency}`, currency, 0n],
      ]),
    update: () =>
      sql`update ledger_entries set amount_minor = 1 where ledger_account_id = ${account}`.execute(db),
    delete: () => sql`delete from ledger_entries where ledger_account_id = ${account}`.execute(db),
    balance: () => sql`update wallets set balance_minor = 5 where ledger_account_id = ${account}`.execute(db),
  };
  return refusalOf(statements[what]());
}

function mustBe(answer: string, said: string, wanted: unknown): void {
  if (said !== answer) throw new Error(`${JSON.stringify(wanted)} was answered ${said} instead of ${answer}`);
}

/** Several steps in one transaction. A refusal ends it, as it ends any transaction of Postgres. */
async function performTogether(model: Model, name: string, { steps, commits }: Together): Promise<Model> {
  const tried = copyOf(model);
  const rollback = new Error('rolled back');
  try {
    await books.world.transaction().execute(async (trx) => {
      for (const wanted of steps) {
        const answer = expected(tried, wanted);
        mustBe(answer, await perform(trx, name, wanted), wanted);
        if (answer.includes('_')) throw rollback;
      }
      if (!commits) throw rollback;
    });
    return tried;
  } catch (error) {
    if (error !== rollback) throw error;
    return model;
  }
}

let performed = 0;
let runs = 0;

async function run(steps: readonly (Step | Illegal | Together)[]): Promise<void> {
  const name = `run-${(runs += 1)}`;
  for (const [i, currency] of CURRENCIES.entries()) await ensureWallet(books.world, `${name}:${i}`, currency);
  let model: Model = { balances: CURRENCIES.map(() => 0), holds: new Map(), keys: new Set() };
  for (const wanted of steps) {
    if (wanted.verb === 'illegal') {
      mustBe(ILLEGAL[wanted.what], await attempt(books.world, name, wanted), wanted);
    } else if (wanted.verb === 'together') {
      model = await performTogether(model, name, wanted);
    } else {
      const answer = expected(model, wanted);
      mustBe(answer, await perform(books.world, name, wanted), wanted);
    }
    performed += wanted.verb === 'together' ? wanted.steps.length : 1;
  }
  expect(await readRun(name)).toEqual({
    balances: model.balances.map(String),
    sums: model.balances.map(String),
    holds: [...model.holds].map(([id, hold]) => `${name}:${id} ${hold.status} ${hold.amount}`).toSorted(),
  });
}

/** A run's wallets, the sums of their entries and its holds. */
async function readRun(name: string): Promise<{ balances: string[]; sums: string[]; holds: string[] }> {
  const { rows } = await sql<{ balances: string[]; sums: string[]; holds: string[] }>`
    select array_agg(balance_minor::text order by account_id) as balances,
           array_agg(coalesce((select sum(amount_minor) from ledger_entries e where e.ledger_account_id = w.ledger_account_id), 0)::text
                     order by account_id) as sums,
           (select coalesce(array_agg(id || ' ' || status || ' ' || amount_minor order by id collate "C"), '{}')
              from holds h where h.account_id = any(array_agg(w.account_id))) as holds
      from wallets w where account_id = any(${CURRENCIES.map((_, i) => `${name}:${i}`)})`.execute(
    books.world,
  );
  return rows[0]!;
}

/** This test has no purchases. */
const NOT_ASKED = [
  'an open purchase has no open hold, or a closed one has',
  'a purchase closed more than once',
];

it(`M1: ${OPERATIONS} random operations leave every book balanced`, async () => {
  await withSeed(async (seed) => {
    for (let round = 0; performed < OPERATIONS; round += 1) {
      const loops = Array.from({ length: CONCURRENCY }, (_, loop) =>
        fc.assert(
          fc.asyncProperty(
            fc.array(anyStep, { minLength: 1, maxLength: MAX_STEPS_IN_A_RUN, size: 'max' }),
            run,
          ),
          { numRuns: RUNS_PER_ROUND, seed: seed + round * CONCURRENCY + loop },
        ),
      );
      await Promise.all(loops);
      expect(await auditBooks(books.owner, { except: NOT_ASKED })).toEqual([]);
    }
  });
  console.log(`M1: ${performed} operations in ${runs} runs, 0 violations`);
});
