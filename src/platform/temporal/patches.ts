/**
 * Which open workflows have which patch. The code of a change behind `patched()` has two branches: a workflow
 * with the patch's marker needs the new one, and one that came to the change before it was released needs the
 * old one.
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { requireConnection, type TemporalClient } from './connect.ts';
import { rethrow } from './errors.ts';

/** Temporal's own: the patches whose markers are in a workflow's history. */
const PATCHES = defineSearchAttributeKey('TemporalChangeVersion', SearchAttributeType.KEYWORD_LIST);

export interface PatchUse {
  readonly patch: string;
  readonly workflowType: string;
  /** Open workflows with the marker. */
  readonly marked: number;
  /** Open workflows of this type without it: they began before the patch, or have not come to it. */
  readonly unmarked: number;
  /** When the oldest of these began. */
  readonly oldestUnmarkedAt: Date | null;
}

export interface OpenPatches {
  readonly openWorkflows: number;
  /** By patch and workflow. A patch that no open workflow has is not among them. */
  readonly patches: readonly PatchUse[];
}

const CONNECT_WITHIN_MS = 3_000;
/** A hundred thousand open workflows are read in some ten seconds. */
const READ_WITHIN_MS = 10 * 60_000;
const PAGE_SIZE = 1_000;

/** One open workflow. */
interface Open {
  readonly startedAt: Date;
  readonly patches: readonly string[];
}

/**
 * Counts by Temporal's index, which may be some seconds behind. Reads all open workflows, because the index
 * groups counts by nothing but their status. Throws EngineUnavailable if Temporal cannot be reached.
 */
export async function countPatches(temporal: TemporalClient): Promise<OpenPatches> {
  await requireConnection(temporal, CONNECT_WITHIN_MS);
  const byType = await temporal.states
    .withDeadline(Date.now() + READ_WITHIN_MS, () => readOpen(temporal.states))
    .catch(rethrow);
  const patches = [...byType].flatMap(([workflowType, open]) => usesIn(workflowType, open));
  return {
    openWorkflows: [...byType.values()].reduce((sum, open) => sum + open.length, 0),
    patches: patches.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)),
  };
}

const sortKey = ({ patch, workflowType }: PatchUse): string => `${patch} ${workflowType}`;

async function readOpen(client: TemporalClient['states']): Promise<Map<string, Open[]>> {
  const byType = new Map<string, Open[]>();
  const query = `ExecutionStatus = 'Running'`;
  for await (const info of client.workflow.list({ query, pageSize: PAGE_SIZE })) {
    const open = byType.get(info.type) ?? [];
    byType.set(info.type, open);
    open.push({ startedAt: info.startTime, patches: info.typedSearchAttributes.get(PATCHES) ?? [] });
  }
  return byType;
}

function usesIn(workflowType: string, open: readonly Open[]): PatchUse[] {
  return [...new Set(open.flatMap(({ patches }) => patches))].map((patch) => {
    const unmarked = open.filter(({ patches }) => !patches.includes(patch));
    return {
      patch,
      workflowType,
      marked: open.length - unmarked.length,
      unmarked: unmarked.length,
      oldestUnmarkedAt: unmarked.reduce<Date | null>(
        (oldest, { startedAt }) => (oldest && oldest <= startedAt ? oldest : startedAt),
        null,
      ),
    };
  });
}
