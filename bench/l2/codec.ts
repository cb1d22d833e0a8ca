/**
 * L2 with --codec: the same purchases on a second service whose payloads are in clear, in turns, so that only
 * the encryption differs.
 */
import { findSaturation, measureSides } from '../support/sides.ts';
import { startService } from '../support/service.ts';
import { startBuyer } from './buyer.ts';
import type { Run } from './run.ts';

/** `buyer` buys from the service that encrypts. */
export async function compareCodec({ servers, buyer, options, findings }: Run): Promise<void> {
  const clearServers = { ...servers, codecKey: undefined };
  const clearBuyer = await startBuyer(servers, await startService(clearServers, options));
  const ways = { encrypted: { once: () => buyer.buy() }, clear: { once: () => clearBuyer.buy() } };
  const { encrypted: clients } = await findSaturation(ways, options);
  const loaded = await measureSides(ways, () => clients, options);
  const alone = await measureSides(ways, () => 1, { ...options, sliceMs: options.sliceMs / 2 });
  for (const [figure, unit, what, samples] of [
    ['rate', 'per second', `purchases, encrypted payloads, ${clients} clients`, loaded],
    ['cpuMs', 'ms', 'processor time of a purchase, encrypted payloads', loaded],
    ['medianMs', 'ms', 'median of a purchase, encrypted payloads, one client', alone],
  ] as const)
    findings.compare({ what, unit, samples, figure, ours: 'encrypted' }, ['clear', 'payloads in clear']);
}
