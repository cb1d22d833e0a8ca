/**
 * The two things that touch the network: asking where a name leads, and opening a connection to addresses that were checked. Tests hand in
 * their own. Must not decide what is allowed.
 */
import { Resolver } from 'node:dns/promises';
import { connect, isIPv4, type LookupFunction, type Socket } from 'node:net';

export interface Network {
  /** Every address of a name, IPv4 first; rejects or answers none where there is none. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  /** Begins a connection to the first of these addresses that takes it, and to no other. */
  readonly connect: (addresses: readonly string[], port: number) => Socket;
  /** Certificates to trust, in place of the usual ones. */
  readonly certificates?: string;
}

export interface NetworkOptions {
  /** In place of the system's name servers, `address:port`. */
  readonly nameServers?: readonly string[];
}

/** For one question to one name server; a second try doubles it. */
const NAME_SERVER_TIMEOUT_MS = 2_000;
const NAME_SERVER_TRIES = 2;
/** Node's own quarter of a second would give up hosts on another continent that also publish IPv6. */
const NEXT_ADDRESS_AFTER_MS = 2_500;
/** Never asked of anybody; a host that is a name makes Node use the look-up it is given. */
const ANY_NAME = 'checked.invalid';

/**
 * The real network. Names are asked of name servers directly: the system's own way takes a thread of a small pool for as long as a name
 * server is slow, reads local files and completes names.
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
        lookup: answering(addresses),
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
      }),
  };
}

/** A look-up that knows only these addresses, whatever it is asked. */
function answering(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
  return (_name, { all }, answer) => {
    const [first] = known;
    if (all === true) answer(null, known);
    else answer(null, first?.address ?? '', first?.family);
  };
}
