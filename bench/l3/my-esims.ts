/**
 * my-esims for an account with a thousand orders: alone in its table, and among a million orders of a thousand accounts. Two copies of
 * the service side by side. The eSIMs are as freshly looked at as can be, so that no slice waits for the supplier.
 */
import { sql, type Kysely } from 'kysely';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
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
  'my-esims, a search': '/api/esim/my-esims?limit=20&search=89440',
};

export async function compareMyEsims(
  servers: Servers,
  options: BenchOptions,
  findings: Findings,
): Promise<void> {
  const small = await startService({ servers, log: options.log });
  const large = await startService({ servers, log: options.log });
  const keys = { small: await seed(small, 0), large: await seed(large, OTHER_ACCOUNTS) };
  const total = (OTHER_ACCOUNTS + 1) * ORDERS_OF_AN_ACCOUNT;
  for (const [name, path] of Object.entries(READS)) {
    const side = (service: Service, apiKey: string) => (ms: number) =>
      shoot(service.apiUrl + path, { 'X-API-Key': apiKey }, ms);
    const samples = await interleave({
      sides: [
        { name: 'large', run: side(large, keys.large) },
        { name: 'small', run: side(small, keys.small) },
      ],
      rounds: options.rounds,
      sliceMs: options.sliceMs ?? DEFAULT_SLICE_MS,
      onRound: (line) => options.progress(`${name}, ${line}`),
    });
    findings.comparisons.push(
      compare(
        {
          promise: 'L3',
          what: `${name}: p95 with ${total.toLocaleString('en')} orders in the table`,
          unit: 'ms',
          baselineName: `p95 with ${ORDERS_OF_AN_ACCOUNT.toLocaleString('en')}`,
          limit: { atMost: 1.5 },
        },
        series(samples, 'large', 'p95Ms'),
        series(samples, 'small', 'p95Ms'),
      ),
    );
  }
}

/** Fills the table; answers the key of the account that is measured. */
async function seed(service: Service, otherAccounts: number): Promise<string> {
  const { accountId, apiKey } = await service.account();
  await insertOrders(service.owner, accountId, 1);
  if (otherAccounts > 0) await insertOrders(service.owner, null, otherAccounts);
  await sql`vacuum analyze esims`.execute(service.owner);
  return apiKey;
}

/** Every tenth eSIM is in use, the others are over; ordered over a year. */
async function insertOrders(
  owner: Kysely<WorldDatabase>,
  accountId: string | null,
  accounts: number,
): Promise<void> {
  await sql`
    insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
      order_no, esim_tran_no, iccid, ac, total_volume_bytes, total_duration, duration_unit, data_type, looked_at, created_at)
    select 'esim-' || md5(random()::text || a || '-' || n), coalesce(${accountId}, 'acc-' || md5('account ' || a)),
      'txn-' || md5(random()::text || n || '-' || a), sample.package_code, sample.name,
      case when n % 10 = 0 then 'ACTIVE' else 'EXPIRED' end, 1234, 'USD',
      jsonb_build_object('name', sample.name, 'location', sample.location, 'locationCode', sample.location_code,
        'regionCode', sample.region_code, 'networks', sample.networks, 'speed', sample.speed, 'description', sample.description),
      'esim-access', 'B' || a || n, lpad(a || '0' || n, 14, '2'), '89440' || lpad((a * 10000 + n)::text, 14, '0'),
      'LPA:1$rsp.bench.example$' || md5(a || ' ' || n), sample.volume_bytes, sample.duration, sample.duration_unit, sample.data_type,
      now() + interval '10 days', now() - interval '1 year' * random()
      from generate_series(1, ${accounts}) a, generate_series(1, ${ORDERS_OF_AN_ACCOUNT}) n,
        (select * from packages where package_type = 'BASE' order by package_code limit 1) sample`.execute(
    owner,
  );
}
