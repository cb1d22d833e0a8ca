/** A closed workflow's history as the server keeps it. */
import { connectClient } from '../../src/platform/temporal/connect.ts';

const SAMPLES = 5;
const EVENT_TYPE_FIELD = /^(.*)EventAttributes$/;

/**
 * The largest of a few that `run` starts one after the other, each waited for to its end; it answers a
 * workflow's id.
 */
export async function largestHistory(at: Parameters<typeof connectClient>[0], run: () => Promise<string>) {
  const found: Awaited<ReturnType<typeof historyOf>>[] = [];
  while (found.length < SAMPLES) found.push(await historyOf(at, await run()));
  return {
    events: Math.max(...found.map(({ events }) => events)),
    bytes: Math.max(...found.map(({ bytes }) => bytes)),
    types: found[0]?.types ?? [],
  };
}

async function historyOf(at: Parameters<typeof connectClient>[0], workflowId: string) {
  const temporal = connectClient(at);
  try {
    // Its payloads may be encrypted, and are of no interest.
    const handle = temporal.states.workflow.getHandle(workflowId);
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
