/**
 * L1, the ledger: hold and posting through src/ledger/store/ledger.ts beside the same rows written bare; a
 * thousand payers of one revenue account beside a thousand revenue accounts; and pgledger's own scenario
 * beside hot balance rows. All on one Postgres, durability on.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Kysely } from 'kysely';
import type pg from 'pg';
import { openDatabase, openPool } from '../../src/platform/database/database.ts';
import { ensureWallet, transfer, walletAccount } from '../../src/ledger/store/ledger.ts';
import { postHold } from '../../src/ledger/store/holds.ts';
import { placeHold } from '../../test/support/money/holds.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import type { BenchOptions } from '../support/options.ts';
import { closedLoop, figuresOf } from '../support/load.ts';
import { compare, count, noFindings, type Findings } from '../support/report.ts';
import { interleave, series, type Side } from '../support/rounds.ts';
import { asOwner, type Servers } from '../support/servers.ts';
import { bareStatements, bareTransaction, makeBareSchema, type Posting } from './bare.ts';
import { hotTransfer, makeHotSchema, makePgledger } from './hot-balances.ts';

const WALLETS = 1_000;
const CONNECTIONS = 16;
/** pgledger's performance check: ten accounts, twenty workers, transfers between random pairs. */
const PGLEDGER = { accounts: 10, workers: 20 };
const POOL = { statementTimeoutMs: 10_000, applicationName: 'simway-bench' };
const AMOUNT_MINOR = 1_000n;
const COST_USD_E4 = 62_500n;

interface Room {
  readonly options: BenchOptions;
  readonly url: string;
  readonly ledger: Kysely<WorldDatabase>;
  /** As the owner, on the schemas of the floors. */
  readonly bare: pg.Pool;
  readonly onClose: (step: () => Promise<unknown>) => void;
}

export async function benchLedger(servers: Servers, options: BenchOptions): Promise<Findings> {
  const url = await servers.createDatabase();
  const ledger = openDatabase<WorldDatabase>({
    ...POOL,
    url,
    schema: 'test',
    role: 'simway_test',
    maxConnections: PGLEDGER.workers,
  });
  const bare = openPool({ ...POOL, url, schema: 'test', maxConnections: PGLEDGER.workers });
  servers.onClose(() => Promise.all([ledger.destroy(), bare.end()]));
  await asOwner(url, async (client) => {
    await prepareSystemAccounts(client);
    await makeBareSchema(client);
    await makeHotSchema(client, WALLETS);
  });
  await fundWallets(ledger);
  const room: Room = { options, url, ledger, bare, onClose: (step) => servers.onClose(step) };
  const findings = noFindings();
  await holdAndPost(room, findings);
  await revenueAccount(room, findings);
  await pgledgerScenario(room, findings);
  findings.counts.push(
    count({
      promise: 'L1',
      what: 'currencies in which the ledger does not net to zero afterwards',
      unit: 'count',
      value: await unbalanced(ledger),
      limit: { atMost: 0 },
    }),
  );
  return findings;
}

const walletOf = (index: number): string => `account-${index}`;
const anyWallet = (): string => walletOf(Math.floor(Math.random() * WALLETS));

async function prepareSystemAccounts(client: pg.Client): Promise<void> {
  await client.query(
    `insert into test.ledger_accounts (id, kind, currency)
     select kind || ':bench-' || n, kind, 'USD' from generate_series(0, $1::int - 1) n, unnest(array['revenue', 'suspense']) kind`,
    [WALLETS],
  );
}

async function fundWallets(ledger: Kysely<WorldDatabase>): Promise<void> {
  const each = 1_000_000_000_000n;
  await Promise.all(
    Array.from({ length: WALLETS }, (_, index) => ensureWallet(ledger, walletOf(index), 'USD')),
  );
  await transfer(ledger, {
    operationKey: 'bench:fund',
    kind: 'fund',
    reason: 'bench',
    entries: [
      { account: 'funding:USD', currency: 'USD', amountMinor: -each * BigInt(WALLETS) },
      ...Array.from({ length: WALLETS }, (_, index) => ({
        account: walletAccount(walletOf(index)),
        currency: 'USD',
        amountMinor: each,
      })),
    ],
  });
}

/** One purchase's money: the hold, then its posting. */
async function holdAndPost(room: Room, findings: Findings): Promise<void> {
  const { ledger, bare } = room;
  const posting = (): Posting => ({
    id: randomUUID(),
    accountId: anyWallet(),
    amountMinor: AMOUNT_MINOR,
    costUsdE4: COST_USD_E4,
  });
  const through = async ({ id, accountId, amountMinor, costUsdE4 }: Posting): Promise<void> => {
    const held = await placeHold(ledger, { id, accountId, amount: { amountMinor, currency: 'USD' } });
    if (held !== 'held') throw new Error(held);
    await postHold(ledger, id, { supplier: 'esim-access', costUsdE4: costUsdE4 });
  };
  const samples = await measure(room, CONNECTIONS, {
    ours: () => through(posting()),
    transaction: () => bareTransaction(bare, posting()),
    statements: () => bareStatements(bare, posting()),
  });
  const what = { promise: 'L1', what: `hold and post, ${WALLETS} wallets, ${CONNECTIONS} at a time` };
  const ours = series(samples, 'ours', 'rate');
  findings.comparisons.push(
    compare(
      {
        ...what,
        unit: 'per second',
        baselineName: 'same rows, one bare BEGIN … COMMIT',
        limit: { atLeast: 0.5 },
      },
      ours,
      series(samples, 'transaction', 'rate'),
    ),
    compare(
      { ...what, unit: 'per second', baselineName: 'same rows, two bare statements' },
      ours,
      series(samples, 'statements', 'rate'),
    ),
  );
}

/** The same transfers, to one revenue account and to a thousand. */
async function revenueAccount(room: Room, findings: Findings): Promise<void> {
  const { ledger } = room;
  const pay = (payee: string) => move(ledger, walletAccount(anyWallet()), payee);
  const samples = await measure(room, CONNECTIONS, {
    one: () => pay('revenue:USD'),
    many: () => pay(`revenue:bench-${Math.floor(Math.random() * WALLETS)}`),
    hot: () => hotTransfer(room.bare, `hot-${Math.floor(Math.random() * WALLETS)}`, 'revenue'),
  });
  const one = series(samples, 'one', 'rate');
  const what = {
    promise: 'L1',
    what: `${WALLETS} wallets paying one revenue account, ${CONNECTIONS} at a time`,
    unit: 'per second',
  };
  findings.comparisons.push(
    compare(
      { ...what, baselineName: `paying ${WALLETS} revenue accounts`, limit: { atLeast: 0.9 } },
      one,
      series(samples, 'many', 'rate'),
    ),
    compare(
      { ...what, baselineName: 'hot balance rows, as pgledger does' },
      one,
      series(samples, 'hot', 'rate'),
    ),
  );
}

/** Ten accounts, twenty workers: pairs that are locked for the length of a commit, or entries only. */
async function pgledgerScenario(room: Room, findings: Findings): Promise<void> {
  const { accounts, workers } = PGLEDGER;
  const { ledger, bare, options } = room;
  const original = await originalSide(room);
  const samples = await measure(room, workers, {
    ours: () => {
      const [payer, payee] = pair(accounts);
      return move(ledger, `suspense:bench-${payer}`, `suspense:bench-${payee}`);
    },
    hot: () => {
      const [payer, payee] = pair(accounts);
      return hotTransfer(bare, `hot-${payer}`, `hot-${payee}`);
    },
    ...(original ? { pgledger: original } : {}),
  });
  const what = {
    promise: 'L1',
    what: `pgledger's scenario: ${accounts} accounts, ${workers} workers, random pairs`,
    unit: 'per second',
  };
  const ours = series(samples, 'ours', 'rate');
  const limit = { atLeast: 3 };
  findings.comparisons.push(
    compare(
      {
        ...what,
        baselineName: 'hot balance rows, as pgledger does (stand-in)',
        // The stand-in is lighter than the original, so it judges only where the original is not at hand.
        ...(original ? {} : { limit }),
      },
      ours,
      series(samples, 'hot', 'rate'),
    ),
  );
  if (original) {
    findings.comparisons.push(
      compare(
        { ...what, baselineName: `pgledger itself (${options.pgledgerFiles.length} files given)`, limit },
        ours,
        series(samples, 'pgledger', 'rate'),
      ),
    );
  }
}

async function originalSide(room: Room): Promise<(() => Promise<void>) | undefined> {
  const { url, options } = room;
  if (options.pgledgerFiles.length === 0) return undefined;
  const texts = await Promise.all(options.pgledgerFiles.map((file) => readFile(file, 'utf8')));
  const ids = await asOwner(url, (client) => makePgledger(client, texts, PGLEDGER.accounts));
  const pool = openPool({ ...POOL, url, schema: 'pgledger', maxConnections: PGLEDGER.workers });
  room.onClose(() => pool.end());
  return async () => {
    const [payer, payee] = pair(ids.length);
    await pool.query('select id from pgledger_create_transfer($1, $2, $3)', [ids[payer], ids[payee], 1]);
  };
}

function pair(accounts: number): [number, number] {
  const payer = Math.floor(Math.random() * accounts);
  return [payer, (payer + 1 + Math.floor(Math.random() * (accounts - 1))) % accounts];
}

async function move(ledger: Kysely<WorldDatabase>, payer: string, payee: string): Promise<void> {
  await transfer(ledger, {
    operationKey: randomUUID(),
    kind: 'bench',
    entries: [
      { account: payer, currency: 'USD', amountMinor: -1n },
      { account: payee, currency: 'USD', amountMinor: 1n },
    ],
  });
}

function measure(
  { options }: Room,
  clients: number,
  ways: Record<string, () => Promise<unknown>>,
): ReturnType<typeof interleave> {
  const sides: Side[] = Object.entries(ways).map(([name, once]) => ({
    name,
    run: async (sliceMs) => ({ rate: figuresOf(await closedLoop(once, { clients, forMs: sliceMs })).rate }),
  }));
  return interleave({
    sides,
    rounds: options.rounds,
    sliceMs: options.sliceMs ?? 4_000,
    onRound: options.progress,
  });
}

async function unbalanced(ledger: Kysely<WorldDatabase>): Promise<number> {
  const rows = await ledger
    .selectFrom('ledger_entries')
    .select('currency')
    .groupBy('currency')
    .having((eb) => eb.fn.sum('amount_minor'), '<>', 0)
    .execute();
  return rows.length;
}
