/**
 * L2, a wallet purchase from the HTTP request to its answer, beside two floors on the same Temporal server: a
 * workflow of the same shape whose steps do nothing, and an empty one. Rates at saturation, medians there and
 * with a single client, size of the history; then the same purchases with webhook endpoints.
 */
import type { BenchOptions } from '../support/options.ts';
import { compare, count, noFindings, type Findings } from '../support/report.ts';
import { interleave, series, type Samples } from '../support/rounds.ts';
import type { Servers } from '../support/servers.ts';
import { startService, type Service } from '../support/service.ts';
import { startBuyer, type Buyer } from './buyer.ts';
import { compareCodec } from './codec.ts';
import { costOfPurchases } from './costs.ts';
import { startFloors, type Floors } from './floors.ts';
import { largestHistory } from './history.ts';
import { DEFAULT_SLICE_MS, findSaturation, sidesOf, type Clients, type Run, type Ways } from './sides.ts';
import { soakPurchases } from './soak.ts';
import { compareWebhooks } from './webhooks.ts';

export async function benchPurchase(servers: Servers, options: BenchOptions): Promise<Findings> {
  const nodeFlags =
    options.profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profileDir}`];
  const service = await startService({ servers, log: options.log, nodeFlags });
  const buyer = await startBuyer(servers, service);
  const findings = noFindings();
  if (options.soakMs !== undefined) {
    await soakPurchases({ buyer, service, options, findings });
    return findings;
  }
  const floors = await startFloors(servers, options);
  if (!options.webhooksOnly) await comparePurchases({ service, buyer, floors, options, findings });
  if (servers.codecKey !== undefined)
    await compareCodec({ servers, service, buyer, floors, options, findings });
  await compareWebhooks({ servers, service, buyer, floors, options, findings });
  // Last, since its copy of the service stays until the end.
  if (!options.webhooksOnly) findings.remarks.push(...(await costOfPurchases(servers, floors, options)));
  return findings;
}

type SideName = 'purchase' | 'sameShape' | 'empty';

async function comparePurchases(run: Run): Promise<void> {
  const { service, buyer, floors, options, findings } = run;
  const ways: Ways<SideName> = {
    purchase: { once: () => buyer.buy() },
    sameShape: { once: () => floors.run('sameShape') },
    empty: { once: () => floors.run('empty') },
  };
  const clients = await findSaturation(ways, options);
  const sliceMs = options.sliceMs ?? DEFAULT_SLICE_MS;
  const atSaturation = await interleave({
    sides: sidesOf(ways, (name) => clients[name]),
    rounds: options.rounds,
    sliceMs,
    onRound: options.progress,
  });
  judgeRates(findings, atSaturation, clients);
  const alone = await interleave({
    sides: sidesOf(ways, () => 1),
    rounds: options.rounds,
    sliceMs: sliceMs / 2,
    onRound: options.progress,
  });
  judgeMedians(findings, alone, 'one client');
  await measureHistory(findings, service, floors, buyer);
}

function judgeRates(findings: Findings, samples: Samples, clients: Clients<SideName>): void {
  const what = { promise: 'L2', what: `purchases, ${clients.purchase} clients`, unit: 'per second' };
  const ours = series(samples, 'purchase', 'rate');
  findings.comparisons.push(
    compare(
      {
        ...what,
        baselineName: `same shape, steps do nothing, ${clients.sameShape} clients`,
        limit: { atLeast: 0.8 },
      },
      ours,
      series(samples, 'sameShape', 'rate'),
    ),
    compare(
      { ...what, baselineName: `empty workflow, ${clients.empty} clients`, limit: { atLeast: 0.6 } },
      ours,
      series(samples, 'empty', 'rate'),
    ),
  );
  if (clients.purchase === clients.sameShape) judgeMedians(findings, samples, `${clients.purchase} clients`);
  // With one machine for everything this is what bounds the rate, and it hardly depends on what else the
  // machine does.
  const cpu = { promise: 'L2', what: 'processor time of a purchase, all programs together', unit: 'ms' };
  const used = series(samples, 'purchase', 'cpuMs');
  findings.comparisons.push(
    compare(
      { ...cpu, baselineName: 'same shape, steps do nothing' },
      used,
      series(samples, 'sameShape', 'cpuMs'),
    ),
    compare({ ...cpu, baselineName: 'empty workflow' }, used, series(samples, 'empty', 'cpuMs')),
  );
}

function judgeMedians(findings: Findings, samples: Samples, clients: string): void {
  const ours = series(samples, 'purchase', 'medianMs');
  const what = { promise: 'L2', what: `median of a purchase, ${clients}`, unit: 'ms' };
  findings.comparisons.push(
    compare(
      { ...what, baselineName: 'same shape, steps do nothing', limit: { atMost: 1.5 } },
      ours,
      series(samples, 'sameShape', 'medianMs'),
    ),
    compare({ ...what, baselineName: 'empty workflow' }, ours, series(samples, 'empty', 'medianMs')),
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
  const what = { promise: 'L2', unit: 'count' };
  findings.counts.push(
    count({ ...what, what: 'history events of a purchase', value: ours.events, limit: { atMost: 18 } }),
    count({
      ...what,
      what: 'history of a purchase',
      unit: 'bytes',
      value: ours.bytes,
      limit: { atMost: 10_240 },
    }),
  );
}
