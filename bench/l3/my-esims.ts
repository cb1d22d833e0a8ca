/**
 * my-esims for an account with a thousand orders: alone in its table, and among a million orders of a thousand accounts. Two copies of
 * the service side by side. The eSIMs are as freshly looked at as can be, so that no slice waits for the supplier.
 */
import { sql, type Kysely } from 'kysely';
import { buildIndex, WORLD_INDEXES } from '../../migrations/indexes.ts';
import { createInstallData } from '../../src/esims/install-data.ts';
import { systemClock } from '../../src/platform/composition/shared.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import { rebuildFigures } from '../../src/purchases/store/kept-figures.ts';
import { createSecretBox } from '../../src/platform/secret-box.ts';
import type { BenchOptions } from '../support/options.ts';
import { compare, type Findings } from '../support/report.ts';
import { interleave, series } from '../support/rounds.ts';
import type { Servers } from '../support/servers.ts';
import { startService, type Service } from '../support/service.ts';
import { shoot } from './gun.ts';

const ORDERS_OF_AN_ACCOUNT = 1_000;
const OTHER_ACCOUNTS = 999;
const DEFAULT_SLICE_MS = 5_000;

const READS: Readonly<Record<string, string>> = {
  'my-esims, first page': '/api/esim/my-esims?limit=20',
  'my-esims, second page of the active ones': '/api/esim/my-esims?limit=20&page=2&status=ACTIVE',
  'my-esims, a search that all match': '/api/esim/my-esims?limit=20&search=89440',
  // Of a million, some eleven have these six digits in a row, and some 1,100 these four.
  'my-esims, six digits of an ICCID': '/api/esim/my-esims?limit=20&search=280500',
  'my-esims, four digits of an ICCID': '/api/esim/my-esims?limit=20&search=0500',
  'my-esims, a package name': '/api/esim/my-esims?limit=20&search=gb',
  'my-esims, what nothing matches': '/api/esim/my-esims?limit=20&search=txn-00000000000',
  'my-esims, page 40': '/api/esim/my-esims?limit=20&page=40',
  statistics: '/api/esim/statistics',
};

export async function compareMyEsims(
  servers: Servers,
  options: BenchOptions,
  findings: Findings,
): Promise<void> {
  const small = await startService({ servers, log: options.log });
  const large = await startService({ servers, log: options.log });
  const one = await small.account();
  const other = await large.account();
  // An account that has as many itself as all of these together, in the same table.
  const big = await large.account();
  const total = (OTHER_ACCOUNTS + 1) * ORDERS_OF_AN_ACCOUNT;
  await seed(small, [{ accountId: one.accountId, accounts: 1 }]);
  await seed(large, [
    { accountId: other.accountId, accounts: 1 },
    { accountId: null, accounts: OTHER_ACCOUNTS },
    { accountId: big.accountId, accounts: total / ORDERS_OF_AN_ACCOUNT },
  ]);
  for (const [name, path] of Object.entries(READS)) {
    const side = (service: Service, apiKey: string) => (ms: number) =>
      shoot(service.apiUrl + path, { 'X-API-Key': apiKey }, ms);
    const samples = await interleave({
      sides: [
        { name: 'large', run: side(large, other.apiKey) },
        { name: 'big account', run: side(large, big.apiKey) },
        { name: 'small', run: side(small, one.apiKey) },
      ],
      rounds: options.rounds,
      sliceMs: options.sliceMs ?? DEFAULT_SLICE_MS,
      onRound: (line) => options.progress(`${name}, ${line}`),
    });
    const sides = [
      ['large', `with ${total.toLocaleString('en')} orders in the table`],
      ['big account', `of an account with ${total.toLocaleString('en')} orders`],
    ] as const;
    for (const [big, where] of sides)
      findings.comparisons.push(
        compare(
          {
            promise: 'L3',
            what: `${name}: p95 ${where}`,
            unit: 'ms',
            baselineName: `p95 with ${ORDERS_OF_AN_ACCOUNT.toLocaleString('en')}`,
            limit: { atMost: 1.5 },
          },
          series(samples, big, 'p95Ms'),
          series(samples, 'small', 'p95Ms'),
        ),
      );
  }
}

interface Orders {
  /** Whose orders these are; null: each thousand of another account. */
  readonly accountId: string | null;
  /** How many times a thousand. */
  readonly accounts: number;
}

/** Indexes that are cheaper to build at the end than to keep up meanwhile. */
const BUILT_AFTER = WORLD_INDEXES.filter(({ definition }) => /^esim(s|_search)\b/.test(definition));

/** Fills the table, and leaves it as it is after the workers have folded what was inserted. */
async function seed(service: Service, orders: readonly Orders[]): Promise<void> {
  const { owner } = service;
  for (const { name } of BUILT_AFTER) await sql`drop index ${sql.id(name)}`.execute(owner);
  // What its triggers would add up is counted at the end.
  await sql`alter table esims disable trigger esims_are_counted`.execute(owner);
  for (const { accountId, accounts } of orders) await insertOrders(owner, accountId, accounts);
  await sql`alter table esims enable trigger esims_are_counted`.execute(owner);
  await rebuildFigures(owner);
  for (const index of BUILT_AFTER) await buildIndex(owner as unknown as Kysely<unknown>, 'test', index);
  for (const { accountId } of orders) if (accountId !== null) await sealOrders(service, accountId);
  await sql`vacuum analyze esims, esim_search, esim_deltas, esim_sums, esim_name_sums`.execute(owner);
}

/** With install data that opens, where one of the reads shows it: the newest eSIMs, and those that the search for an ICCID finds. */
async function sealOrders({ owner, parts }: Service, accountId: string): Promise<void> {
  const secretBox = createSecretBox(parts.secrets.secretKeys);
  const { columns } = createInstallData({ secretBox, clock: systemClock, onUnreadable: () => undefined });
  const ofAccount = owner.selectFrom('esims').select('id').where('account_id', '=', accountId);
  const rows = [
    ...(await ofAccount.orderBy('created_at', 'desc').limit(5_000).execute()),
    ...(await ofAccount.where('iccid', 'like', '%0500%').execute()),
  ];
  for (const { id } of rows) {
    const ac = `LPA:1$rsp.bench.example$${id}`;
    const url = `https://qr.bench.example/${id}`;
    const install = columns(id, { ac, qrCodeUrl: `${url}.png`, shortUrl: url, pin: '1234', puk: '12345678' });
    await owner.updateTable('esims').set(install).where('id', '=', id).execute();
  }
}

/** Every tenth eSIM is in use, the others are over; ordered over a year. */
async function insertOrders(
  owner: Kysely<WorldDatabase>,
  accountId: string | null,
  accounts: number,
): Promise<void> {
  await sql`
    insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
      order_no, esim_tran_no, iccid, install_sealed, total_volume_bytes, total_duration, duration_unit, data_type, looked_at, created_at)
    select 'esim-' || md5(random()::text || a || '-' || n), coalesce(${accountId}, 'acc-' || md5('account ' || a)),
      'txn-' || md5(random()::text || n || '-' || a), sample.package_code, sample.name,
      case when n % 10 = 0 then 'ACTIVE' else 'EXPIRED' end, 1234, 'USD',
      jsonb_build_object('name', sample.name, 'location', sample.location, 'locationCode', sample.location_code,
        'regionCode', sample.region_code, 'networks', sample.networks, 'speed', sample.speed, 'description', sample.description),
      'esim-access', 'B' || a || n, lpad(a || '0' || n, 14, '2'),
      -- Fourteen digits that are spread as those of real cards are: zeros in front would make every search for zeros one for all rows.
      '89440' || lpad((('x' || left(md5('iccid ' || a || ' ' || n), 12))::bit(48)::bigint % 100000000000000)::text, 14, '0'),
      decode(repeat(md5(a || ' ' || n), 15), 'hex'), sample.volume_bytes, sample.duration, sample.duration_unit, sample.data_type,
      now() + interval '10 days', now() - interval '1 year' * random()
      from generate_series(1, ${accounts}) a, generate_series(1, ${ORDERS_OF_AN_ACCOUNT}) n,
        (select * from packages where package_type = 'BASE' order by package_code limit 1) sample`.execute(
    owner,
  );
}
