import type { Connection } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { OperatorMistake } from '../command.ts';

/**
 * The development server's, which our tests run on (src/dev/temporal-program.ts). Older ones lack what we
 * use, or keep it behind settings: updates that start their workflow, versions of workers.
 */
export const OLDEST_TEMPORAL = '1.29';

const ANSWERS_WITHIN_MS = 5_000;

/** Throws OperatorMistake where the server is older. One whose version cannot be read is let through. */
export async function requireVersion(
  connection: Pick<Connection | NativeConnection, 'withDeadline' | 'workflowService'>,
  address: string,
): Promise<void> {
  const { serverVersion } = await connection.withDeadline(Date.now() + ANSWERS_WITHIN_MS, () =>
    connection.workflowService.getSystemInfo({}),
  );
  if (minorOf(serverVersion) >= minorOf(OLDEST_TEMPORAL)) return;
  throw new OperatorMistake(
    `Temporal at ${address} is version ${serverVersion}, and Simway needs ${OLDEST_TEMPORAL} or newer`,
  );
}

const minorOf = (version: string): number => Number(/^1\.(\d+)/.exec(version)?.[1] ?? Infinity);
