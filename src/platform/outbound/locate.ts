/**
 * From a URL to the addresses it may be called at. Guarantee: fails closed, and hands out no address that was not checked; a name counts
 * only if every address it leads to is public, so a good one cannot cover a bad one.
 */
import { isPublicAddress } from './addresses.ts';
import type { Network } from './network.ts';
import { readTarget, refuse, type Refused, type Rules, type Target } from './target.ts';

/** Where to connect to, and nowhere else. */
export interface Located {
  readonly ok: true;
  readonly target: Target;
  readonly addresses: readonly string[];
}

/** Nobody needs more to be reached; a longer list is somebody's way to keep us busy. */
const MAX_ADDRESSES = 16;

/** Reads the URL and asks where its name leads, once; a name that is not known by the time of the signal leads nowhere. Never rejects. */
export async function locate(
  url: string,
  rules: Rules,
  network: Network,
  signal: AbortSignal,
): Promise<Located | Refused> {
  const read = readTarget(url, rules);
  if (!read.ok) return read;
  const { target } = read;
  if (target.isAddress) return { ok: true, target, addresses: [target.host] };
  const addresses = await addressesOf(target.host, network, signal);
  if (addresses.length === 0) return refuse('unresolved', 'must give a host name that leads to an address');
  return addresses.every(isPublicAddress)
    ? { ok: true, target, addresses: addresses.slice(0, MAX_ADDRESSES) }
    : refuse('address', 'must lead to public addresses only');
}

function addressesOf(name: string, network: Network, signal: AbortSignal): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const nowhere = (): void => resolve([]);
    signal.addEventListener('abort', nowhere, { once: true });
    network.resolve(name).then(resolve, nowhere);
  });
}
