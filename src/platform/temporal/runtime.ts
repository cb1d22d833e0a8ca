/**
 * The native half of the SDK, one per process. Its log lines go to our log, signals are handled by our own
 * stop, and its metrics are read from a loopback port.
 */
import { DefaultLogger, makeTelemetryFilterString, Runtime, type LogLevel } from '@temporalio/worker';
import type { Logger } from '../telemetry/logger.ts';

type RuntimeLog = Pick<Logger, 'info' | 'warn' | 'error'>;

/** What the SDK has measured, in Prometheus's text format. */
export type RuntimeMetrics = () => Promise<string>;

let installed: RuntimeMetrics | undefined;

/** Once per process; installing again changes nothing. */
export function installRuntime(log: RuntimeLog): RuntimeMetrics {
  installed ??= install(log);
  return installed;
}

function install(log: RuntimeLog): RuntimeMetrics {
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) =>
    log[SINK[level]]({ part: 'temporal', ...meta }, message),
  );
  // Without forwarding, the SDK's native half writes plain text of its own to the console.
  const logging = { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) };
  const address = onFreePort((bindAddress) =>
    Runtime.install({
      logger,
      telemetryOptions: { logging, metrics: { prometheus: { bindAddress, ...NAMES } } },
      shutdownSignals: [],
    }),
  );
  return async () => {
    const answer = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(READ_WITHIN_MS) });
    return answer.text();
  };
}

/** The SDK's own begin at 50 ms, where most of a purchase's steps have long ended. */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** As the vendor's dashboards and Prometheus's own rules for names want them. */
const NAMES = {
  countersTotalSuffix: true,
  unitSuffix: true,
  useSecondsForDurations: true,
  histogramBucketOverrides: {
    workflow_task_schedule_to_start_latency: BUCKETS_SECONDS,
    workflow_task_execution_latency: BUCKETS_SECONDS,
    activity_schedule_to_start_latency: BUCKETS_SECONDS,
    request_latency: BUCKETS_SECONDS,
  },
};

const READ_WITHIN_MS = 1_000;
/**
 * Where the system hands out ports by itself: what is taken is tried again, and twenty in a row never are.
 */
const FIRST_PORT = 32_768;
const PORTS = 28_000;
const TRIES = 20;

/** The SDK cannot choose a free port and does not report its port, so we try one after the other. */
function onFreePort(start: (address: string) => unknown): string {
  for (let tries = 1; ; tries += 1) {
    const address = `127.0.0.1:${FIRST_PORT + Math.trunc(Math.random() * PORTS)}`;
    try {
      start(address);
      return address;
    } catch (error) {
      if (tries === TRIES || !(error instanceof Error && error.message.includes('in use'))) throw error;
    }
  }
}

const SINK: Record<LogLevel, keyof RuntimeLog> = {
  TRACE: 'info',
  DEBUG: 'info',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};
