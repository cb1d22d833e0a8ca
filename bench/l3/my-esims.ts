/**
 * my-esims, statistics and top destinations for an account with a thousand orders: alone in its table, and
 * among a million orders of a thousand accounts; and for an account with ten thousand orders among them. Two
 * copies of the service side by side.
 */
import { dayBefore } from '../../src/purchases/figures/statistics.ts';
import { countByRegion } from '../../src/purchases/store/statistics.ts';
import type { BenchOptions } from '../support/options.ts';
import type { Findings } from '../support/report.ts';
import { quantile, takeTurns } from '../support/rounds.ts';
import type { Servers } from '../support/servers.ts';
import { startService, type Service } from '../support/service.ts';
import { shoot } from './gun.ts';
import { ORDERS_OF_AN_ACCOUNT, seedOrders } from './seed-orders.ts';

const DEFAULT_ORDERS = 1_000_000;
const DEFAULT_SLICE_MS = 5_000;
/** Thousands of orders of the large account. */
const BIG = 10;

const READS: Readonly<Record<string, string>> = {
  'my-esims, first page': '/api/esim/my-esims?limit=20',
  'my-esims, second page of the active ones': '/api/esim/my-esims?limit=20&page=2&status=ACTIVE',
  'my-esims, a search that all match': '/api/esim/my-esims?limit=20&search=89440',
  // Of a million, some ten have these six digits in a row, and some 2,600 these four.
  'my-esims, six digits of an ICCID': '/api/esim/my-esims?limit=20&search=280500',
  'my-esims, four digits of an ICCID': '/api/esim/my-esims?limit=20&search=0500',
  'my-esims, a package name': '/api/esim/my-esims?limit=20&search=gb',
  'my-esims, what nothing matches': '/api/esim/my-esims?limit=20&search=txn-00000000000',
  'my-esims, page 40': '/api/esim/my-esims?limit=20&page=40',
  statistics: '/api/esim/statistics',
  'statistics of a year': `/api/esim/statistics?from=${dayBefore(new Date(), 365)}&to=${dayBefore(new Date(), 0)}`,
  'top destinations': '/api/esim/top-destinations',
};

export async function compareMyEsims(
  servers: Servers,
  options: BenchOptions,
  findings: Findings,
): Promise<void> {
  const [small, large] = [await startService(servers, options), await startService(servers, options)];
  const one = await small.account();
  const other = await large.account();
  const big = await large.account();
  const accounts = Math.max(1 + BIG, Math.ceil((options.orders ?? DEFAULT_ORDERS) / ORDERS_OF_AN_ACCOUNT));
  const total = accounts * ORDERS_OF_AN_ACCOUNT;
  await seedOrders(small, [{ accountId: one.accountId, accounts: 1 }]);
  await seedOrders(large, [
    { accountId: other.accountId, accounts: 1 },
    { accountId: null, accounts: accounts - 1 - BIG },
    { accountId: big.accountId, accounts: BIG },
  ]);
  await countDestinations(findings, large, total);
  await countDestinations(findings, small, ORDERS_OF_AN_ACCOUNT);
  for (const [name, path] of Object.entries(READS)) {
    const side = (service: Service, apiKey: string) => (ms: number) =>
      shoot(service.apiUrl + path, { 'X-API-Key': apiKey }, ms);
    const sides = [
      { name: 'large', run: side(large, other.apiKey) },
      { name: 'big account', run: side(large, big.apiKey) },
      { name: 'small', run: side(small, one.apiKey) },
    ];
    const samples = await takeTurns(sides, {
      rounds: options.rounds,
      sliceMs: options.sliceMs ?? DEFAULT_SLICE_MS,
      progress: (line) => options.progress(`${name}, ${line}`),
    });
    for (const [ours, where, limit] of [
      ['large', `with ${total.toLocaleString('en')} orders in the table`, { atMost: 1.5 }],
      ['big account', `of an account with ${BIG},000 of them`, {}],
    ] as const)
      findings.compare({ what: `${name}: p95 ${where}`, unit: 'ms', samples, figure: 'p95Ms', ours }, [
        'small',
        `p95 with ${ORDERS_OF_AN_ACCOUNT.toLocaleString('en')}`,
        limit,
      ]);
  }
}

const COUNTED_TIMES = 20;

/** What an answer of top destinations costs that is not in the cache: one a minute and process. */
async function countDestinations(findings: Findings, { owner }: Service, orders: number): Promise<void> {
  const takenMs: number[] = [];
  for (let times = 0; times < COUNTED_TIMES; times += 1) {
    const startedAtMs = performance.now();
    const regions = await countByRegion(owner, dayBefore(new Date(), 29));
    takenMs.push(performance.now() - startedAtMs);
    if (regions.length === 0) throw new Error('no purchase was counted');
  }
  const what = `top destinations of ${orders.toLocaleString('en')} orders, not from the cache`;
  findings.count(what, 'ms', quantile(takenMs, 0.5));
}
