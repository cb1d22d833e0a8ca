import { Resolver } from 'node:dns/promises';
import { connect, isIPv4, type LookupFunction, type Socket } from 'node:net';
import { isPublicAddress } from './addresses.ts';
import { readTarget, refuse, type Refused, type Rules, type Target } from './target.ts';

/** Decides nothing about what is allowed. Tests replace it. */
export interface Network {
  /** Every address of a name, IPv4 first; rejects or answers an empty list when it has none. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  /** Connects to the first of these addresses that accepts, and to no other. */
  readonly connect: (addresses: readonly string[], port: number) => Socket;
  /** Certificates to trust instead of the default ones. */
  readonly certificates?: string;
}

export interface NetworkOptions {
  /** Instead of the system's name servers, `address:port`. */
  readonly nameServers?: readonly string[];
}

/** For one query to one name server; a second try doubles it. */
const NAME_SERVER_TIMEOUT_MS = 2_000;
const NAME_SERVER_TRIES = 2;
/** Node's default of 250 ms is too short for hosts on another continent that also publish IPv6. */
const NEXT_ADDRESS_AFTER_MS = 2_500;
/** Never resolved; a host that is a name makes Node call the lookup function. */
const ANY_NAME = 'checked.invalid';
/** More than any honest host needs. */
const MAX_ADDRESSES = 16;

/**
 * Queries name servers directly: the system's resolver holds a thread of a small pool while a name server is
 * slow, reads local files and completes names.
 */
export function createNetwork({ nameServers }: NetworkOptions = {}): Network {
  const resolver = new Resolver({ timeout: NAME_SERVER_TIMEOUT_MS, tries: NAME_SERVER_TRIES });
  if (nameServers) resolver.setServers(nameServers);
  return {
    resolve: async (name) => {
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    },
    connect: (addresses, port) =>
      connect({
        host: ANY_NAME,
        port,
        lookup: pinnedLookup(addresses),
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
      }),
  };
}

/** Answers these addresses for any name. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
  return (_name, { all }, answer) => {
    const [first] = known;
    if (all === true) answer(null, known);
    else answer(null, first?.address ?? '', first?.family);
  };
}

/** The only addresses to connect to. */
export interface Located {
  readonly ok: true;
  readonly target: Target;
  readonly addresses: readonly string[];
}

/**
 * Reads the URL and resolves its name once. Refused unless every address of the name is public, so that a
 * good address cannot hide a bad one. A name without an answer when the signal aborts is unresolved. Never
 * rejects.
 */
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
  if (addresses.length === 0) return refuse('unresolved', 'must use a hostname that resolves to an address');
  return addresses.every(isPublicAddress)
    ? { ok: true, target, addresses: addresses.slice(0, MAX_ADDRESSES) }
    : refuse('address', 'must resolve to public addresses only');
}

function addressesOf(name: string, network: Network, signal: AbortSignal): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const giveUp = (): void => resolve([]);
    signal.addEventListener('abort', giveUp, { once: true });
    network.resolve(name).then(resolve, giveUp);
  });
}
