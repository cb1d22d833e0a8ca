/** Namespaces of this run on a Temporal server, with our search attributes. Doing it again changes nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../src/embedded/temporal.ts';

const GRPC_ALREADY_EXISTS = 6;
const READY_DEADLINE_MS = 90_000;
const RETENTION_SECONDS = 86_400;
/** temporal.api.enums.v1.IndexedValueType */
const TYPE_NUMBERS = { Keyword: 2, Bool: 5 } as const;

/** Returns once every namespace knows the attributes; throws when one does not within the deadline. */
export async function prepareNamespaces(address: string, namespaces: readonly string[]): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    for (const namespace of namespaces) await prepare(connection, namespace);
  } finally {
    await connection.close();
  }
}

async function prepare(connection: Connection, namespace: string): Promise<void> {
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: RETENTION_SECONDS as never },
    });
  } catch (error) {
    if ((error as { code?: number }).code !== GRPC_ALREADY_EXISTS) throw error;
  }
  const searchAttributes = Object.fromEntries(
    Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [name, TYPE_NUMBERS[type]]),
  );
  const endsAtMs = performance.now() + READY_DEADLINE_MS;
  for (;;) {
    try {
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      if (Object.keys(searchAttributes).every((name) => name in customAttributes)) return;
    } catch (error) {
      // Parts of the server learn of a new namespace a moment later.
      if (performance.now() > endsAtMs) throw error;
    }
    if (performance.now() > endsAtMs) throw new Error(`${namespace} did not take our search attributes`);
    await sleep(100);
  }
}
