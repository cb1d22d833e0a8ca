/**
 * `node bench/growth.ts [purchases]`: how much our tables grow by a purchase, for docs/SCALING.md. Wallet
 * purchases with an Idempotency-Key, of merchants with one endpoint that answers at once.
 */
import { request } from 'undici';
import { readDevSettings } from '../src/app/config/config.ts';
import { createApiClient } from '../src/cli/webhooks-client.ts';
import { startReceiver } from './l2/receiver.ts';
import { asOwner } from '../test/support/world/as-owner.ts';
import { startServers, type Servers } from './support/servers.ts';
import { startService } from './support/service.ts';

const MERCHANTS = 16;
const CLIENTS = 8;
/** First pages and first rows of settings are no growth. */
const WARM_UP = 500;
const BODY = JSON.stringify({ packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' });

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(purchases: number): Promise<void> {
  const log = { info: say, warn: say };
  const servers = await startServers({
    settings: readDevSettings(),
    temporal: 'embedded',
    redis: true,
    codec: true,
    log,
  });
  try {
    await grow(servers, log, purchases);
  } finally {
    await servers.close();
  }
}

async function grow(servers: Servers, log: Parameters<typeof startService>[1]['log'], purchases: number) {
  const service = await startService(servers, { log });
  const receiver = await startReceiver();
  servers.onClose(() => receiver.close());
  const keys: string[] = [];
  for (let index = 0; index < MERCHANTS; index += 1) {
    const { apiKey } = await service.account();
    const client = createApiClient({ apiUrl: service.apiUrl, key: apiKey });
    await client.call('POST', '/api/webhooks/endpoints', { url: receiver.quickUrl });
    keys.push(apiKey);
  }
  const buy = async (index: number): Promise<void> => {
    const answer = await request(new URL('/api/esim/buy', service.apiUrl), {
      method: 'POST',
      body: BODY,
      headers: {
        'Content-Type': 'application/json',
        'X-API-Key': keys[index % MERCHANTS] ?? '',
        'Idempotency-Key': `growth-${index}`,
      },
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 201) throw new Error(`a purchase answered ${answer.statusCode}: ${text}`);
  };
  let next = 0;
  const buyUntil = async (count: number): Promise<void> => {
    const client = async (): Promise<void> => {
      while (next < count) await buy(next++);
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    while (receiver.taken.size < count) await new Promise((resolve) => setTimeout(resolve, 200));
    // What follows a message is written a moment later.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
  };
  const url = service.ownerUrl;
  await buyUntil(WARM_UP);
  const before = await sizesOf(url);
  await buyUntil(WARM_UP + purchases);
  const after = await sizesOf(url);
  print(before, after, purchases);
}

async function sizesOf(url: string) {
  return asOwner(url, async (client) => {
    await client.query('vacuum analyze');
    const { rows } = await client.query<{ name: string; rows: string; heap: string; indexes: string }>(
      `select format('%s.%s', schemaname, relname) as name,
              (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %I.%I', schemaname, relname), false, true, '')))[1]::text as rows,
              pg_table_size(relid) as heap, pg_indexes_size(relid) as indexes
         from pg_stat_user_tables where schemaname in ('test', 'accounts')`,
    );
    const { rows: wal } = await client.query<{ bytes: string }>(
      `select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`,
    );
    return { tables: new Map(rows.map((row) => [row.name, row])), walBytes: Number(wal[0]?.bytes) };
  });
}

type Sizes = Awaited<ReturnType<typeof sizesOf>>;

function print(before: Sizes, after: Sizes, purchases: number): void {
  const each = (name: string, field: 'rows' | 'heap' | 'indexes'): number =>
    (Number(after.tables.get(name)?.[field]) - Number(before.tables.get(name)?.[field])) / purchases;
  const grown = [...after.tables.keys()]
    .map((name) => ({
      name,
      rows: each(name, 'rows'),
      heap: each(name, 'heap'),
      indexes: each(name, 'indexes'),
    }))
    .filter(({ heap, indexes }) => heap + indexes > 1)
    .toSorted((a, b) => b.heap + b.indexes - a.heap - a.indexes);
  const all = {
    name: 'all',
    rows: sum(grown, 'rows'),
    heap: sum(grown, 'heap'),
    indexes: sum(grown, 'indexes'),
  };
  process.stdout.write(`a purchase, of ${purchases}: rows, bytes of the table, bytes of its indexes\n`);
  for (const { name, rows, heap, indexes } of [...grown, all])
    process.stdout.write(`${name} ${rows.toFixed(2)} ${heap.toFixed(0)} ${indexes.toFixed(0)}\n`);
  const wal = (after.walBytes - before.walBytes) / purchases;
  process.stdout.write(`write-ahead log ${wal.toFixed(0)} bytes\n`);
}

const sum = <K extends string>(rows: readonly Readonly<Record<K, number>>[], field: K): number =>
  rows.reduce((total, row) => total + row[field], 0);

await main(Number(process.argv[2] ?? 4_000));
