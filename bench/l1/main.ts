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
import { newFindings, type Findings } from '../support/report.ts';
import { asOwner } from '../../test/support/world/as-owner.ts';
import type { Servers } from '../support/servers.ts';
import { measureSides } from '../support/sides.ts';
import { bareStatements, bareTransaction, makeBareSchema, type Posting } from './bare.ts';
import { hotTransfer, makeHotSchema, makePgledger } from './hot-balances.ts';

const WALLETS = 1_000;
const CONNECTIONS = 16;
/** pgledger's performance check: ten accounts, twenty workers, transfers between random pairs. */
const PGLEDGER = { accounts: 10, workers: 20 };
const POOL = { statementTimeoutMs: 10_000, applicationName: 'simway-bench' };
const AMOUNT_MINOR = 1_000n;
const COST_USD_E4 = 62_500n;
const OURS_A_SECOND = { unit: 'per second', figure: 'rate', ours: 'ours' };

interface Room {
  readonly options: BenchOptions;
  readonly url: string;
  readonly ledger: Kysely<WorldDatabase>;
  /** As the owner, on the schemas of the floors. */
  readonly bare: pg.Pool;
  readonly onClose: Servers['onClose'];
  readonly findings: Findings;
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
  const findings = newFindings('L1');
  const room: Room = { options, url, ledger, bare, onClose: (step) => servers.onClose(step), findings };
  await holdAndPost(room);
  await revenueAccount(room);
  await pgledgerScenario(room);
  const what = 'currencies in which the ledger does not net to zero afterwards';
  findings.count(what, 'count', await unbalanced(ledger), { atMost: 0 });
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
async function holdAndPost(room: Room): Promise<void> {
  const { ledger, bare, findings } = room;
  const posting = (): Posting => ({
    id: randomUUID(),
    accountId: anyWallet(),
    amountMinor: AMOUNT_MINOR,
    costUsdE4: COST_USD_E4,
  });
  const through = async ({ id, accountId, amountMinor, costUsdE4 }: Posting): Promise<void> => {
    const held = await placeHold(ledger, { id, accountId, amount: { amountMinor, currency: 'USD' } });
    if (held !== 'held') throw new Error(held);
    await postHold(ledger, id, { supplier: 'esim-access', costUsdE4 });
  };
  const samples = await measure(room, CONNECTIONS, {
    ours: () => through(posting()),
    transaction: () => bareTransaction(bare, posting()),
    statements: () => bareStatements(bare, posting()),
  });
  findings.compare(
    { ...OURS_A_SECOND, what: `hold and post, ${WALLETS} wallets, ${CONNECTIONS} at a time`, samples },
    ['transaction', 'same rows, one bare BEGIN … COMMIT', { atLeast: 0.5 }],
    ['statements', 'same rows, two bare statements'],
  );
}

/** The same transfers, to one revenue account and to a thousand. */
async function revenueAccount(room: Room): Promise<void> {
  const { ledger, bare, findings } = room;
  const pay = (payee: string) => move(ledger, walletAccount(anyWallet()), payee);
  const samples = await measure(room, CONNECTIONS, {
    ours: () => pay('revenue:USD'),
    many: () => pay(`revenue:bench-${Math.floor(Math.random() * WALLETS)}`),
    hot: () => hotTransfer(bare, `hot-${Math.floor(Math.random() * WALLETS)}`, 'revenue'),
  });
  const what = `${WALLETS} wallets paying one revenue account, ${CONNECTIONS} at a time`;
  findings.compare(
    { ...OURS_A_SECOND, what, samples },
    ['many', `paying ${WALLETS} revenue accounts`, { atLeast: 0.9 }],
    ['hot', 'hot balance rows, as pgledger does'],
  );
}

/** Ten accounts, twenty workers: pairs that are locked for the length of a commit, or entries only. */
async function pgledgerScenario(room: Room): Promise<void> {
  const { accounts, workers } = PGLEDGER;
  const { ledger, bare, options, findings } = room;
  const pgledger = await originalSide(room);
  const samples = await measure(room, workers, {
    ours: () => {
      const [payer, payee] = pair(accounts);
      return move(ledger, `suspense:bench-${payer}`, `suspense:bench-${payee}`);
    },
    hot: () => {
      const [payer, payee] = pair(accounts);
      return hotTransfer(bare, `hot-${payer}`, `hot-${payee}`);
    },
    ...(pgledger && { pgledger }),
  });
  const what = `pgledger's scenario: ${accounts} accounts, ${workers} workers, random pairs`;
  const limit = { atLeast: 3 };
  const given = `pgledger itself (${options.pgledgerFiles.length} files given)`;
  findings.compare(
    { ...OURS_A_SECOND, what, samples },
    // The stand-in is lighter than the original, so it judges only where the original is not at hand.
    ['hot', 'hot balance rows, as pgledger does (stand-in)', pgledger ? {} : limit],
    ...(pgledger ? [['pgledger', given, limit] as const] : []),
  );
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

function measure({ options }: Room, clients: number, ways: Record<string, () => Promise<unknown>>) {
  const sides = Object.fromEntries(Object.entries(ways).map(([name, once]) => [name, { once }]));
  return measureSides(sides, () => clients, { ...options, sliceMs: options.sliceMs ?? 4_000 });
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
