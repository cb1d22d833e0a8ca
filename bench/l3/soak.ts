/**
 * L3's soak: reads, lists and now and then a purchase, steadily for an hour; memory and connections must not
 * grow.
 */
import { createBuyer } from '../l2/buyer.ts';
import { paced } from '../support/load.ts';
import type { BenchOptions } from '../support/options.ts';
import type { Findings } from '../support/report.ts';
import { minutesText, startWatch } from '../support/watch.ts';
import type { Service } from '../support/service.ts';
import { readsOf } from './reads.ts';

/** A small part of what the machine can do: the soak is about leaks, not about speed. */
const PER_SECOND = 200;
/** Of this many requests one is a purchase and one reads an eSIM list. */
const CYCLE = 50;
/**
 * Growth that counts as none: what garbage collection leaves or takes, and what a pool opens and closes from
 * one minute to the next.
 */
const TOLERATED_MEMORY = 0.1;
const TOLERATED_CONNECTIONS = 2;

export async function soakReads(
  service: Service,
  apiKey: string,
  options: BenchOptions,
  findings: Findings,
): Promise<void> {
  const paths = Object.values(await readsOf(service));
  const buyer = createBuyer(service.apiUrl, [apiKey]);
  const read = async (path: string): Promise<void> => {
    const answer = await fetch(service.apiUrl + path, { headers: { 'X-API-Key': apiKey } });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  };
  const once = async (index: number): Promise<unknown> => {
    const turn = index % CYCLE;
    if (turn === 0) return buyer.buy();
    return read(turn === 1 ? '/api/esim/my-esims' : (paths[index % paths.length] ?? ''));
  };
  const watch = startWatch(service, options.progress);
  const result = await paced(once, { perSecond: PER_SECOND, forMs: options.soakMs ?? 0 });
  findings.remarks.push(...(await watch.stop()));
  buyer.close();
  const minutes = minutesText(options.soakMs ?? 0);
  const what = `errors in ${result.done + result.failed} mixed requests over ${minutes} min`;
  findings.count(what, 'count', result.failed, { atMost: 0 });
  for (const [name, { early, late }] of watch.growth()) {
    const grown = Number(Math.max(0, late / early - 1).toFixed(3));
    const atMost = name.startsWith('connections') ? TOLERATED_CONNECTIONS / early : TOLERATED_MEMORY;
    findings.count(`growth of ${name}, last quarter over second`, 'share', grown, { atMost });
  }
  if (result.failed > 0) findings.remarks.push(`first error: ${String(result.firstFailure)}`);
}
