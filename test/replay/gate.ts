// The gate before a release: every recorded history must replay on the workflow code at hand. Needs no server.
// Must not stop at the first failure: a change that breaks histories should name all of them.
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { historyOf } from '../support/history.ts';
import type { RecordedHistory } from './histories.ts';

interface GateResult {
  readonly name: string;
  /** Why this history does not replay; undefined when it does. */
  readonly error: Error | undefined;
}

/** Replays each history on the bundle, in order. */
export async function replayAll(
  workflowBundle: WorkflowBundleOption,
  histories: readonly RecordedHistory[],
): Promise<GateResult[]> {
  const inputs = histories.map(({ name, history }) => ({ workflowId: name, history: historyOf(history) }));
  const results: GateResult[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, inputs)) {
    results.push({ name: workflowId, error });
  }
  return results;
}
