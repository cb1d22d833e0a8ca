// Makes a Temporal server that somebody else started fit for the tests: namespaces and search attributes.
// Doing it again changes nothing. Must not be pointed at a production cluster.
import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SEARCH_ATTRIBUTES } from '../../src/embedded/temporal.ts';

const GRPC_ALREADY_EXISTS = 6;
const READY_DEADLINE_MS = 60_000;

/** Answers the address once every namespace on it knows our search attributes. */
export async function prepareTemporal(address: string, namespaces: readonly string[]): Promise<string> {
  const connection = await Connection.connect({ address });
  try {
    for (const namespace of namespaces) {
      await register(connection, namespace);
      await waitForAttributes(connection, namespace);
    }
    return address;
  } finally {
    await connection.close();
  }
}

async function register(connection: Connection, namespace: string): Promise<void> {
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
  } catch (error) {
    if ((error as { code?: number }).code !== GRPC_ALREADY_EXISTS) throw error;
  }
}

async function waitForAttributes(connection: Connection, namespace: string): Promise<void> {
  const types = proto.temporal.api.enums.v1.IndexedValueType;
  const ours = { Keyword: types.INDEXED_VALUE_TYPE_KEYWORD, Bool: types.INDEXED_VALUE_TYPE_BOOL };
  const searchAttributes = Object.fromEntries(
    Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [name, ours[type]]),
  );
  const deadline = performance.now() + READY_DEADLINE_MS;
  for (;;) {
    try {
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      if (Object.keys(searchAttributes).every((name) => name in customAttributes)) return;
    } catch (error) {
      // A namespace just made is unknown to parts of the server for a moment.
      if (performance.now() > deadline) throw error;
    }
    if (performance.now() > deadline) throw new Error(`${namespace} did not take our search attributes`);
    await sleep(100);
  }
}
