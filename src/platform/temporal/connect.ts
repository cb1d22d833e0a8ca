/** Connections to Temporal: the API's light gRPC client, and a check that a namespace is there and ready. */
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import { EngineUnavailable } from '../../domain/outcome.ts';

export type TemporalClient = ReturnType<typeof connectClient>;

/** The SDK's connection with the one question it does not answer: can anything be sent right now? */
class AskableConnection extends Connection {
  isConnected(timeLimitMs: number): Promise<boolean> {
    return new Promise((resolve) =>
      this.client.waitForReady(Date.now() + timeLimitMs, (error) => resolve(error === undefined)),
    );
  }
}

/** Timers count whole milliseconds. */
const TIMER_SLACK_MS = 10;

/**
 * The SDK's retries, with an end: a retry on a closed connection throws where nothing can catch it, and would end the process during its stop.
 */
function endableRetries() {
  const usual = defaultGrpcRetryOptions();
  let isOver = false;
  let lastAtMs = 0;
  return {
    interceptor: makeGrpcRetryInterceptor({
      retryableDecider: (attempt, status) => !isOver && usual.retryableDecider(attempt, status),
      delayFunction: (attempt, status) => {
        const delayMs = usual.delayFunction(attempt, status);
        lastAtMs = Math.max(lastAtMs, performance.now() + delayMs);
        return delayMs;
      },
    }),
    /** Resolves when those that were put off have begun; none follows. */
    end: async (): Promise<void> => {
      isOver = true;
      const leftMs = lastAtMs - performance.now();
      if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs + TIMER_SLACK_MS));
    },
  };
}

/** Throws EngineUnavailable when there is no connection within the time limit. */
export async function requireConnection(temporal: TemporalClient, timeLimitMs: number): Promise<void> {
  if (!(await temporal.isConnected(timeLimitMs))) throw new EngineUnavailable('no connection to Temporal');
}

/** Opens lazily: the process starts while Temporal is down and works once it is back. */
export function connectClient({
  address,
  namespace,
  interceptor,
}: {
  readonly address: string;
  readonly namespace: string;
  readonly interceptor?: WorkflowClientInterceptor | undefined;
}) {
  const retries = endableRetries();
  // `lazy` makes an instance of the class it is called on, which its type does not say.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment
  const connection = AskableConnection.lazy({
    address,
    interceptors: [retries.interceptor],
  }) as AskableConnection;
  const interceptors = interceptor && { workflow: [interceptor] };
  return {
    client: new Client({ connection, namespace, interceptors }),
    /** Whether there is a connection to send on, waiting for one up to the time limit; immediate while connected. */
    isConnected: (timeLimitMs: number): Promise<boolean> => connection.isConnected(timeLimitMs),
    /** Throws when the namespace cannot be described within the time limit. */
    check: async (timeLimitMs: number): Promise<void> => {
      await connection.withDeadline(Date.now() + timeLimitMs, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
    },
    close: async (): Promise<void> => {
      await retries.end();
      await connection.close();
    },
  };
}
