/** A closed workflow's history as the server keeps it. */
import { connectClient } from '../../src/adapters/temporal/connect.ts';

export interface HistoryFigures {
  readonly events: number;
  readonly bytes: number;
  readonly types: readonly string[];
}

const EVENT_TYPE_FIELD = /^(.*)EventAttributes$/;

/** Waits for the workflow to end. */
export async function historyOf(
  address: string,
  namespace: string,
  workflowId: string,
): Promise<HistoryFigures> {
  const temporal = connectClient({ address, namespace });
  try {
    const handle = temporal.client.workflow.getHandle(workflowId);
    await handle.result();
    const { historyLength, historySize } = await handle.describe();
    const history = await handle.fetchHistory();
    const types = (history.events ?? []).map((event) => {
      const field = Object.keys(event).find((name) => EVENT_TYPE_FIELD.test(name)) ?? '?';
      return EVENT_TYPE_FIELD.exec(field)?.[1] ?? '?';
    });
    return { events: historyLength, bytes: historySize ?? 0, types };
  } finally {
    await temporal.close();
  }
}
