/**
 * Ordered start, drained stop. A role registers what it opened; on SIGTERM or SIGINT everything closes in reverse, under a hard deadline
 * after which the process ends anyway, so that an orchestrator never has to kill it.
 */
import type { Logger } from '../../platform/telemetry/logger.ts';

export interface Lifecycle {
  /** Registers a step of the stop; steps run in reverse order of registration. */
  onStop(name: string, step: () => Promise<unknown>): void;
  /** Stops now; safe to call twice. */
  stop(): Promise<void>;
  /** Resolves when stopped. */
  readonly stopped: Promise<unknown>;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export function createLifecycle(logger: Logger, deadlineMs: number): Lifecycle {
  const steps: { name: string; step: () => Promise<unknown> }[] = [];
  const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
  let stopping = false;

  const stop = async (): Promise<void> => {
    if (stopping) {
      await stopped;
      return;
    }
    stopping = true;
    const timer = setTimeout(() => {
      logger.error({ deadlineMs }, 'stop took too long, ending now');
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

  const onSignal = (signal: string): void => {
    logger.info({ signal }, 'stopping');
    void stop();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { onStop: (name, step) => void steps.push({ name, step }), stop, stopped };
}
