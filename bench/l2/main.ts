/**
 * L2, a wallet purchase from the HTTP request to its answer, beside two floors on the same Temporal server: a workflow of the same
 * shape whose steps do nothing, and an empty one. Rates at saturation, medians there and with a single client, size of the history.
 */
import { cpuDuring } from '../support/cpu.ts';
import { closedLoop, figuresOf } from '../support/load.ts';
import type { BenchOptions } from '../support/options.ts';
import { compare, count, noFindings, type Findings } from '../support/report.ts';
import { interleave, series, type Samples, type Side } from '../support/rounds.ts';
import type { Servers } from '../support/servers.ts';
import { startService, type Service } from '../support/service.ts';
import { createBuyer, type Buyer } from './buyer.ts';
import { costOfPurchases } from './costs.ts';
import { startFloors, type Floors } from './floors.ts';
import { historyOf } from './history.ts';
import { soakPurchases } from './soak.ts';

/** Merchants that buy in turn. */
const ACCOUNTS = 16;
const CLIENTS_TRIED = [8, 16, 32];
const DEFAULT_SLICE_MS = 10_000;
const HISTORIES = 5;

export async function benchPurchase(servers: Servers, options: BenchOptions): Promise<Findings> {
  const nodeFlags =
    options.profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profileDir}`];
  const service = await startService({ servers, log: options.log, nodeFlags });
  const buyer = await buyerOf(servers, service);
  const findings = noFindings();
  if (options.soakMs !== undefined) {
    await soakPurchases({ buyer, service, options, findings });
    return findings;
  }
  const floors = await startFloors(servers, options);
  const ways: Ways = {
    purchase: () => buyer.buy(),
    sameShape: () => floors.run('sameShape'),
    empty: () => floors.run('empty'),
  };
  const clients = await findSaturation(ways, options);
  const sliceMs = options.sliceMs ?? DEFAULT_SLICE_MS;
  const atSaturation = await interleave({
    sides: sidesOf(ways, clients),
    rounds: options.rounds,
    sliceMs,
    onRound: options.progress,
  });
  judgeRates(findings, atSaturation, clients);
  const alone = await interleave({
    sides: sidesOf(ways, { purchase: 1, sameShape: 1, empty: 1 }),
    rounds: options.rounds,
    sliceMs: sliceMs / 2,
    onRound: options.progress,
  });
  judgeMedians(findings, alone, 'one client');
  await measureHistory(findings, service, floors, buyer);
  findings.remarks.push(...(await costOfPurchases(servers, floors, options)));
  return findings;
}

type SideName = 'purchase' | 'sameShape' | 'empty';
type Ways = Readonly<Record<SideName, () => Promise<string>>>;
const SIDES: readonly SideName[] = ['purchase', 'sameShape', 'empty'];

async function buyerOf(servers: Servers, service: Service): Promise<Buyer> {
  const keys: string[] = [];
  for (let index = 0; index < ACCOUNTS; index += 1) keys.push((await service.account()).apiKey);
  const buyer = createBuyer(service.apiUrl, keys);
  servers.onClose(() => {
    buyer.close();
    return Promise.resolve();
  });
  return buyer;
}

function sidesOf(ways: Ways, clients: Readonly<Record<SideName, number>>): Side[] {
  return SIDES.map((name) => ({
    name,
    run: async (sliceMs) => {
      const { result, cpuMs } = await cpuDuring(() =>
        closedLoop(ways[name], { clients: clients[name], forMs: sliceMs }),
      );
      return { ...figuresOf(result), cpuMs: cpuMs / result.done };
    },
  }));
}

/** How many clients each side needs for its best rate: capacity is compared with capacity. */
async function findSaturation(ways: Ways, options: BenchOptions): Promise<Record<SideName, number>> {
  const best: Record<SideName, { clients: number; rate: number }> = {
    purchase: { clients: 1, rate: 0 },
    sameShape: { clients: 1, rate: 0 },
    empty: { clients: 1, rate: 0 },
  };
  for (const clients of CLIENTS_TRIED) {
    const tried = await interleave({
      sides: sidesOf(ways, { purchase: clients, sameShape: clients, empty: clients }),
      rounds: 1,
      sliceMs: (options.sliceMs ?? DEFAULT_SLICE_MS) / 2,
      onRound: (line) => options.progress(`${clients} clients, ${line}`),
    });
    for (const side of SIDES) {
      const rate = series(tried, side, 'rate')[0] ?? 0;
      if (rate > best[side].rate) best[side] = { clients, rate };
    }
  }
  return {
    purchase: best.purchase.clients,
    sameShape: best.sameShape.clients,
    empty: best.empty.clients,
  };
}

function judgeRates(findings: Findings, samples: Samples, clients: Record<SideName, number>): void {
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
  // With one machine for everything this is what bounds the rate, and it hardly depends on what else the machine does.
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
  service: Service,
  floors: Floors,
  buyer: Buyer,
): Promise<void> {
  const events: number[] = [];
  const bytes: number[] = [];
  for (let index = 0; index < HISTORIES; index += 1) {
    const history = await historyOf(service.temporalAddress, service.namespace, await buyer.buy());
    events.push(history.events);
    bytes.push(history.bytes);
    if (index === 0) findings.remarks.push(`events of a purchase: ${history.types.join(', ')}`);
  }
  const floor = await historyOf(service.temporalAddress, floors.namespace, await floors.run('sameShape'));
  findings.remarks.push(`the same shape has ${floor.events} events in ${floor.bytes} bytes`);
  const what = { promise: 'L2', unit: 'count' };
  findings.counts.push(
    count({
      ...what,
      what: 'history events of a purchase',
      value: Math.max(...events),
      limit: { atMost: 18 },
    }),
    count({
      ...what,
      what: 'history of a purchase',
      unit: 'bytes',
      value: Math.max(...bytes),
      limit: { atMost: 10_240 },
    }),
  );
}
