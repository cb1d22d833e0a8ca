import type { Logger } from '../../platform/telemetry/logger.ts';

export interface Lifecycle {
  /** Steps run in reverse order. */
  onStop(name: string, step: () => unknown): void;
  /** Safe to call twice. */
  stop(): Promise<void>;
  readonly stopped: Promise<unknown>;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Stops on SIGTERM or SIGINT, step by step. After `deadlineMs` the process ends anyway, so that an
 * orchestrator never has to kill it.
 */
export function createLifecycle(logger: Logger, deadlineMs: number): Lifecycle {
  const steps: { name: string; step: () => unknown }[] = [];
  const { promise: stopped, resolve } = Promise.withResolvers<undefined>();

  const runSteps = async (): Promise<void> => {
    const timer = setTimeout(() => {
      logger.error({ deadlineMs }, 'stopping took too long: ending now');
      process.exit(1);
    }, deadlineMs);
    for (const { name, step } of steps.toReversed()) {
      try {
        await step();
      } catch (error) {
        logger.error({ name, error }, 'a stop step failed');
      }
    }
    clearTimeout(timer);
    for (const signal of SIGNALS) process.off(signal, onSignal);
    resolve(undefined);
  };
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= runSteps());

  const onSignal = (signal: string): void => {
    logger.info({ signal }, 'stopping');
    void stop();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { onStop: (name, step) => void steps.push({ name, step }), stop, stopped };
}
