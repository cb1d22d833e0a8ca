/**
 * L2, a wallet purchase from the HTTP request to its answer, beside two floors on the same Temporal server: a
 * workflow of the same shape whose steps do nothing, and an empty one. Rates at saturation, medians there and
 * with a single client, size of the history; then the same purchases with webhook endpoints.
 */
import type { BenchOptions } from '../support/options.ts';
import { newFindings, type Findings } from '../support/report.ts';
import type { Samples } from '../support/rounds.ts';
import type { Servers } from '../support/servers.ts';
import { startService, type Service } from '../support/service.ts';
import { findSaturation, measureSides } from '../support/sides.ts';
import { startBuyer, type Buyer } from './buyer.ts';
import { compareCodec } from './codec.ts';
import { costOfPurchases } from './costs.ts';
import { startFloors, type Floors } from './floors.ts';
import { largestHistory } from './history.ts';
import type { Run } from './run.ts';
import { soakPurchases } from './soak.ts';
import { compareWebhooks } from './webhooks.ts';

const DEFAULT_SLICE_MS = 10_000;
const SAME_SHAPE = 'same shape, steps do nothing';

export async function benchPurchase(servers: Servers, options: BenchOptions): Promise<Findings> {
  const service = await startService(servers, options);
  const buyer = await startBuyer(servers, service);
  const findings = newFindings('L2');
  if (options.soakMs !== undefined) {
    await soakPurchases({ buyer, service, options, findings });
    return findings;
  }
  const floors = await startFloors(servers, options);
  const sliceMs = options.sliceMs ?? DEFAULT_SLICE_MS;
  const run: Run = { servers, service, buyer, floors, options: { ...options, sliceMs }, findings };
  if (!options.webhooksOnly) await comparePurchases(run);
  if (servers.codecKey !== undefined) await compareCodec(run);
  await compareWebhooks(run);
  // Last, since its copy of the service stays until the end.
  if (!options.webhooksOnly) findings.remarks.push(...(await costOfPurchases(servers, floors, options)));
  return findings;
}

async function comparePurchases(run: Run): Promise<void> {
  const { service, buyer, floors, options, findings } = run;
  const ways = {
    purchase: { once: () => buyer.buy() },
    sameShape: { once: () => floors.run('sameShape') },
    empty: { once: () => floors.run('empty') },
  };
  const clients = await findSaturation(ways, options);
  const samples = await measureSides(ways, (name) => clients[name], options);
  const { purchase, sameShape, empty } = clients;
  findings.compare(
    { what: `purchases, ${purchase} clients`, unit: 'per second', samples, figure: 'rate', ours: 'purchase' },
    ['sameShape', `${SAME_SHAPE}, ${sameShape} clients`, { atLeast: 0.8 }],
    ['empty', `empty workflow, ${empty} clients`, { atLeast: 0.65 }],
  );
  if (purchase === sameShape) judgeMedians(findings, samples, `${purchase} clients`);
  // With one machine for everything this is what bounds the rate, and it hardly depends on what else the
  // machine does.
  const what = 'processor time of a purchase, all programs together';
  findings.compare(
    { what, unit: 'ms', samples, figure: 'cpuMs', ours: 'purchase' },
    ['sameShape', SAME_SHAPE, { atMost: 1.3 }],
    ['empty', 'empty workflow'],
  );
  const alone = await measureSides(ways, () => 1, { ...options, sliceMs: options.sliceMs / 2 });
  judgeMedians(findings, alone, 'one client');
  await measureHistory(findings, service, floors, buyer);
}

function judgeMedians(findings: Findings, samples: Samples, clients: string): void {
  findings.compare(
    { what: `median of a purchase, ${clients}`, unit: 'ms', samples, figure: 'medianMs', ours: 'purchase' },
    ['sameShape', SAME_SHAPE, { atMost: 1.4 }],
    ['empty', 'empty workflow'],
  );
}

async function measureHistory(
  findings: Findings,
  { temporalAddress: address, namespace }: Service,
  floors: Floors,
  buyer: Buyer,
): Promise<void> {
  const ours = await largestHistory({ address, namespace }, () => buyer.buy());
  const floor = await largestHistory({ address, namespace: floors.namespace }, () => floors.run('sameShape'));
  findings.remarks.push(
    `events of a purchase: ${ours.types.join(', ')}`,
    `the same shape has ${floor.events} events in ${floor.bytes} bytes`,
  );
  findings.count('history events of a purchase', 'count', ours.events, { atMost: 18 });
  findings.count('history of a purchase', 'bytes', ours.bytes, { atMost: 10_240 });
}
