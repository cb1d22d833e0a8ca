/**
 * The connections of one server: how many there may be, and what each of them has in progress. Nothing here
 * is done per request but counting.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressBucket, peerAddress } from './addresses.ts';
import { createCounts } from './budgets.ts';
import { MAX_REQUESTS_IN_PROGRESS } from './limits.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** Of one address, or of an IPv6 /64. Connections of trusted proxies only count in all. */
  readonly maxConnectionsPerAddress: number;
  readonly isTrustedProxy: (address: string) => boolean;
}

/**
 * Why we closed a connection. `address`: its address has too many. `total`: there are too many in all.
 * `idle`: it was idle and made room for a new one. `pipelined`: it had too many requests in progress.
 * `unread`: its client did not read the answers.
 */
export type Closure = 'address' | 'total' | 'idle' | 'pipelined' | 'unread';

interface Connection {
  /** What it is counted under; undefined for a trusted proxy. */
  readonly bucket: string | undefined;
  inProgress: number;
  /** The answer to the last request; without one the connection has been silent so far. */
  last: ServerResponse | undefined;
}

export type Connections = ReturnType<typeof createConnections>;

export function createConnections(limits: ConnectionLimits, onClosed: (closure: Closure) => void) {
  const open = new Map<Socket, Connection>();
  const perAddress = createCounts();

  const forget = (socket: Socket): void => {
    const connection = open.get(socket);
    if (!connection) return;
    open.delete(socket);
    if (connection.bucket !== undefined) perAddress.add(connection.bucket, -1);
  };

  const close = (socket: Socket, closure: Closure): void => {
    forget(socket);
    socket.destroy();
    onClosed(closure);
  };

  /**
   * Of those that wait for their client: the one that was opened first. Slow senders never keep a new client
   * out.
   */
  const makeRoom = (): boolean => {
    for (const [socket, connection] of open) {
      if (connection.bucket === undefined || !isIdle(connection)) continue;
      close(socket, 'idle');
      return true;
    }
    return false;
  };

  function answered(this: ServerResponse): void {
    const connection = open.get(this.req.socket);
    if (connection) connection.inProgress -= 1;
  }

  return {
    /** Undefined: the connection is counted and may be used. Otherwise why there is no room for it. */
    admit: (socket: Socket): 'address' | 'total' | undefined => {
      const address = peerAddress(socket.remoteAddress);
      const bucket =
        address === undefined || limits.isTrustedProxy(address) ? undefined : addressBucket(address);
      if (bucket !== undefined && perAddress.of(bucket) >= limits.maxConnectionsPerAddress) return 'address';
      if (open.size >= limits.maxConnections && !makeRoom()) return 'total';
      open.set(socket, { bucket, inProgress: 0, last: undefined });
      if (bucket !== undefined) perAddress.add(bucket, 1);
      socket.once('close', () => forget(socket));
      return undefined;
    },
    /** Notes a request. False: it must not be handled, since its connection is closed. */
    begin: ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
      const connection = open.get(socket);
      if (!connection) return false;
      connection.last = response;
      connection.inProgress += 1;
      if (connection.inProgress > MAX_REQUESTS_IN_PROGRESS) {
        close(socket, 'pipelined');
        return false;
      }
      response.on('close', answered);
      return true;
    },
    /**
     * Begins the time of those whose answers wait to be read. Called now and then: a timer for every answer
     * would cost a read several percent. Node counts a write that makes progress as activity, and replaces
     * the time when the answer is sent.
     */
    watchUnread: (timeoutMs: number): void => {
      for (const socket of open.keys())
        if (socket.writableLength > 0 && socket.timeout !== timeoutMs) socket.setTimeout(timeoutMs);
    },
    /**
     * For a connection that was silent in both directions for the whole time limit. One whose request is
     * still being handled stays.
     */
    expire: (socket: Socket): void => {
      const isUnread = socket.writableLength > 0;
      if (isUnread) close(socket, 'unread');
      else if ((open.get(socket)?.inProgress ?? 0) === 0) socket.destroy();
    },
    /** The last answer of each, where it has none yet. */
    unsent: (): ServerResponse[] =>
      [...open.values()].flatMap(({ last }) => (last?.headersSent === false ? [last] : [])),
    endSilent: (): void => {
      for (const [socket, { last }] of open) if (!last) socket.destroy();
    },
  };
}

/** It waits for the rest of a request, or for the next one. */
function isIdle({ inProgress, last }: Connection): boolean {
  return inProgress === 0 || last?.req.complete === false;
}
