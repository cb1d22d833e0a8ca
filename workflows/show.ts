/** What the Temporal UI finds a workflow by. */
import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';

/**
 * Shows these values; null takes one away. Writes what changes, and no event where nothing does. A flag that
 * was never shown is false.
 */
export function show(values: SearchAttributeUpdatePair[]): void {
  const { typedSearchAttributes: shown } = workflowInfo();
  const changed = values.filter(
    ({ key, value }) => (shown.get(key) ?? (key.type === 'BOOL' ? false : null)) !== value,
  );
  if (changed.length > 0) upsertSearchAttributes(changed);
}
