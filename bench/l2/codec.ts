/**
 * L2 with --codec: the same purchases on a second service whose payloads are in clear, in turns, so that only
 * the encryption differs.
 */
import { compare } from '../support/report.ts';
import { interleave, series } from '../support/rounds.ts';
import type { Servers } from '../support/servers.ts';
import { startService } from '../support/service.ts';
import { startBuyer } from './buyer.ts';
import { DEFAULT_SLICE_MS, findSaturation, sidesOf, type Run } from './sides.ts';

/** `buyer` buys from the service that encrypts. */
export async function compareCodec(run: Run & { readonly servers: Servers }): Promise<void> {
  const { servers, buyer, options, findings } = run;
  const clearServers = { ...servers, codecKey: undefined };
  const clearService = await startService({ servers: clearServers, log: options.log });
  const clearBuyer = await startBuyer(servers, clearService);
  const ways = { encrypted: { once: () => buyer.buy() }, clear: { once: () => clearBuyer.buy() } };
  const { encrypted: clients } = await findSaturation(ways, options);
  const sliceMs = options.sliceMs ?? DEFAULT_SLICE_MS;
  const measure = (atOnce: number, forMs: number) =>
    interleave({
      sides: sidesOf(ways, () => atOnce),
      rounds: options.rounds,
      sliceMs: forMs,
      onRound: options.progress,
    });
  const loaded = await measure(clients, sliceMs);
  const alone = await measure(1, sliceMs / 2);
  const figures = [
    ['rate', 'per second', `purchases, encrypted payloads, ${clients} clients`, loaded],
    ['cpuMs', 'ms', 'processor time of a purchase, encrypted payloads', loaded],
    ['medianMs', 'ms', 'median of a purchase, encrypted payloads, one client', alone],
  ] as const;
  for (const [figure, unit, what, samples] of figures)
    findings.comparisons.push(
      compare(
        { promise: 'L2', what, unit, baselineName: 'payloads in clear' },
        series(samples, 'encrypted', figure),
        series(samples, 'clear', figure),
      ),
    );
}
