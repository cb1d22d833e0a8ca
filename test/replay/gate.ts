// The check before a release: every recorded history must replay on the current workflow code. Needs no
// server. Must not stop at the first failure: a change that breaks histories should name all of them.
import { Worker, type ReplayWorkerOptions, type WorkflowBundleOption } from '@temporalio/worker';
import { historyOf } from '../support/world/history.ts';
import type { RecordedHistory } from './histories.ts';

interface GateResult {
  readonly name: string;
  /** Why this history does not replay; undefined when it does. */
  readonly error: Error | undefined;
}

/**
 * Replays each history on the bundle, in order; with `dataConverter` as workers read payloads that have one.
 */
export async function replayAll(
  workflowBundle: WorkflowBundleOption,
  histories: readonly RecordedHistory[],
  dataConverter?: ReplayWorkerOptions['dataConverter'],
): Promise<GateResult[]> {
  const inputs = histories.map(({ name, history }) => ({ workflowId: name, history: historyOf(history) }));
  const results: GateResult[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle, dataConverter },
    inputs,
  )) {
    results.push({ name: workflowId, error });
  }
  return results;
}
