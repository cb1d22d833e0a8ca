/**
 * L2's soak: half the rate that saturates, for fifteen minutes, without one error; memory and connections
 * watched.
 */
import { closedLoop, figuresOf, paced } from '../support/load.ts';
import { count } from '../support/report.ts';
import { quantile } from '../support/rounds.ts';
import { minutesText, startWatch } from '../support/watch.ts';
import type { Run } from './sides.ts';

const SATURATING_CLIENTS = 16;
const CAPACITY_SLICE_MS = 20_000;

export async function soakPurchases(run: Omit<Run, 'floors'>): Promise<void> {
  const { buyer, service, options, findings } = run;
  const once = (): Promise<string> => buyer.buy();
  const load = { clients: SATURATING_CLIENTS, forMs: options.sliceMs ?? CAPACITY_SLICE_MS };
  figuresOf(await closedLoop(once, load));
  const { rate } = figuresOf(await closedLoop(once, load));
  const perSecond = rate / 2;
  options.progress(`capacity ${rate.toFixed(1)} a second; soaking at ${perSecond.toFixed(1)}`);
  const watch = startWatch(service, options.progress);
  const result = await paced(once, { perSecond, forMs: options.soakMs ?? 0 });
  const growth = await watch.stop();
  const minutes = minutesText(options.soakMs ?? 0);
  const what = `purchases at ${perSecond.toFixed(1)} a second for ${minutes} min`;
  findings.counts.push(
    count({
      promise: 'L2',
      what: `errors in ${result.done + result.failed} ${what}`,
      unit: 'count',
      value: result.failed,
      limit: { atMost: 0 },
    }),
  );
  findings.remarks.push(
    `latency over the soak, ms: median ${quantile(result.latenciesMs, 0.5).toFixed(1)}, p95 ${quantile(result.latenciesMs, 0.95).toFixed(1)}, p99 ${quantile(result.latenciesMs, 0.99).toFixed(1)}`,
    ...growth,
  );
  if (result.failed > 0) findings.remarks.push(`first error: ${String(result.firstFailure)}`);
}
