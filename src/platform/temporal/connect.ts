/** Connections to Temporal: the API's light gRPC client, and a check that a namespace is there and ready. */
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import { EngineUnavailable } from '../../domain/outcome.ts';
import { dataConverterOf, UNREAD_PAYLOADS, type CodecKeys, type CodecOptions } from './payload-codec.ts';

/** How to reach Temporal, and what encrypts the payloads that it keeps. Holds secrets. */
export interface TemporalServer {
  /** host:port of the frontend. */
  readonly address: string;
  /** Undefined: plaintext. */
  readonly tls?: Extract<ConnectionOptions['tls'], object> | undefined;
  readonly apiKey?: string | undefined;
  readonly codecKeys?: CodecKeys | undefined;
  /** Search attributes, which are stored in clear, name the package of a purchase. */
  readonly showsTitles?: boolean | undefined;
}

/** For the SDK's connections, of clients and of workers. */
export const connectionOptions = ({ address, tls, apiKey }: TemporalServer) => ({ address, tls, apiKey });

export type TemporalClient = ReturnType<typeof connectClient>;

/**
 * The SDK's connection with the questions that it does not answer: can anything be sent right now, and why
 * not?
 */
class AskableConnection extends Connection {
  isConnected(timeLimitMs: number): Promise<boolean> {
    return new Promise((resolve) =>
      this.client.waitForReady(Date.now() + timeLimitMs, (error) => resolve(error === undefined)),
    );
  }

  /**
   * Connects where there is no connection, in the background. While connected it costs nothing, and after
   * failures it keeps gRPC's pauses.
   */
  connectAgain(): void {
    this.client.getChannel().getConnectivityState(true);
  }

  /**
   * Sends an empty call, once. Throws EngineUnavailable with the reason if it does not arrive; what is
   * answered does not matter.
   */
  async reach(timeLimitMs: number): Promise<void> {
    const same = (bytes: Buffer): Buffer => bytes;
    const options = { deadline: Date.now() + timeLimitMs };
    const failed = await new Promise<{ code: number; details: string } | null>((resolve) =>
      this.client.makeUnaryRequest(HEALTH_CALL, same, same, Buffer.alloc(0), options, resolve),
    );
    if (failed && UNREACHED.has(failed.code))
      throw new EngineUnavailable(`no connection to Temporal: ${failed.details}`, { cause: failed });
  }
}

const HEALTH_CALL = '/grpc.health.v1.Health/Check';
/** By the numbers of gRPC: deadline exceeded, unavailable. */
const UNREACHED: ReadonlySet<number> = new Set([4, 14]);

/**
 * The SDK's retries, with an end: a retry on a closed connection throws where nothing can catch it, and its
 * call would never be answered.
 */
function endableRetries() {
  const usual = defaultGrpcRetryOptions();
  let isOver = false;
  let putOff = 0;
  const ended = Promise.withResolvers<undefined>();
  const retrying = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !isOver && usual.retryableDecider(attempt, status),
    delayFunction: (attempt, status) => {
      putOff += 1;
      return usual.delayFunction(attempt, status);
    },
  });
  const interceptor: typeof retrying = (options, nextCall) => {
    let isRetry = false;
    return retrying(options, (attempt) => {
      if (isRetry && --putOff === 0 && isOver) ended.resolve(undefined);
      isRetry = true;
      return nextCall(attempt);
    });
  };
  return {
    interceptor,
    /**
     * Resolves when those that were put off have begun; none follows. They are counted, not timed: in a busy
     * process a retry can be due and not begun.
     */
    end: (): Promise<void> => {
      isOver = true;
      if (putOff === 0) ended.resolve(undefined);
      return ended.promise;
    },
  };
}

/** Throws EngineUnavailable when there is no connection within the time limit. */
export async function requireConnection(temporal: TemporalClient, timeLimitMs: number): Promise<void> {
  if (!(await temporal.isConnected(timeLimitMs))) throw new EngineUnavailable('no connection to Temporal');
}

/**
 * Temporal closes a connection that carried no call for two minutes, or is five minutes old (its settings
 * `frontend.keepAliveMaxConnectionIdle` and `frontend.keepAliveMaxConnectionAge`). Connecting again at once
 * keeps the next purchase from waiting for it.
 */
const CONNECT_AGAIN_EVERY_MS = 500;

/** Opens lazily: the process starts while Temporal is down and works once it is back. */
export function connectClient({
  namespace,
  interceptor,
  onUnreadable,
  ...server
}: TemporalServer & {
  readonly namespace: string;
  readonly interceptor?: WorkflowClientInterceptor | undefined;
  readonly onUnreadable?: CodecOptions['onUnreadable'];
}) {
  const retries = endableRetries();
  // `lazy` makes an instance of the class it is called on, which its type does not say.
  const connection = AskableConnection.lazy({
    ...connectionOptions(server),
    interceptors: [retries.interceptor],
  }) as AskableConnection;
  const connecting = setInterval(() => connection.connectAgain(), CONNECT_AGAIN_EVERY_MS).unref();
  const interceptors = interceptor && { workflow: [interceptor] };
  return {
    client: new Client({
      connection,
      namespace,
      interceptors,
      dataConverter: dataConverterOf({ keys: server.codecKeys, namespace, onUnreadable }),
    }),
    showsTitles: server.showsTitles === true,
    /** For states of workflows: payloads are left unread, so no key is needed. */
    states: new Client({ connection, namespace, dataConverter: { payloadCodecs: [UNREAD_PAYLOADS] } }),
    /**
     * Whether there is a connection to send on, waiting for one up to the time limit; immediate while
     * connected.
     */
    isConnected: (timeLimitMs: number): Promise<boolean> => connection.isConnected(timeLimitMs),
    /** Throws when the namespace cannot be described within the time limit. */
    check: async (timeLimitMs: number): Promise<void> => {
      const endsAt = Date.now() + timeLimitMs;
      // The SDK would first wait for a connection, longer than the time limit, and not say what is wrong with
      // it.
      await connection.reach(timeLimitMs);
      await connection.withDeadline(endsAt, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
    },
    close: async (): Promise<void> => {
      clearInterval(connecting);
      await retries.end();
      await connection.close();
    },
  };
}
