/**
 * L2's soak: half the rate that saturates, for fifteen minutes, without one error; memory and connections
 * watched.
 */
import { figuresOf, paced, withClients } from '../support/load.ts';
import { quantile } from '../support/rounds.ts';
import { minutesText, startWatch } from '../support/watch.ts';
import type { BenchOptions } from '../support/options.ts';
import type { Run } from './run.ts';

const SATURATING_CLIENTS = 16;
const CAPACITY_SLICE_MS = 20_000;

export async function soakPurchases(
  run: Pick<Run, 'buyer' | 'service' | 'findings'> & { readonly options: BenchOptions },
): Promise<void> {
  const { buyer, service, options, findings } = run;
  const once = (): Promise<string> => buyer.buy();
  const load = { clients: SATURATING_CLIENTS, forMs: options.sliceMs ?? CAPACITY_SLICE_MS };
  figuresOf(await withClients(once, load));
  const { rate } = figuresOf(await withClients(once, load));
  const perSecond = rate / 2;
  options.progress(`capacity ${rate.toFixed(1)} a second; soaking at ${perSecond.toFixed(1)}`);
  const watch = startWatch(service, options.progress);
  const result = await paced(once, { perSecond, forMs: options.soakMs ?? 0 });
  const growth = await watch.stop();
  const minutes = minutesText(options.soakMs ?? 0);
  const what = `purchases at ${perSecond.toFixed(1)} a second for ${minutes} min`;
  findings.count(`errors in ${result.done + result.failed} ${what}`, 'count', result.failed, { atMost: 0 });
  findings.remarks.push(
    `latency over the soak, ms: median ${quantile(result.latenciesMs, 0.5).toFixed(1)}, p95 ${quantile(result.latenciesMs, 0.95).toFixed(1)}, p99 ${quantile(result.latenciesMs, 0.99).toFixed(1)}`,
    ...growth,
  );
  if (result.failed > 0) findings.remarks.push(`first error: ${String(result.firstFailure)}`);
}
