// A workflow's history as Temporal stores it: fetched completely, measured, and every payload in it read as
// text. Must not interpret events beyond what tests ask about.
import { createRequire } from 'node:module';
import type { temporal } from '@temporalio/proto';
import proto from '@temporalio/proto';
import { patchProtobufRoot } from '@temporalio/proto/lib/patch-protobuf-root.js';
import type { Stack } from './stack.ts';

type History = temporal.api.history.v1.IHistory;

/** The format of all Temporal tools: the output of `temporal workflow show -o json`. */
export interface HistoryJson {
  readonly events: readonly HistoryEventJson[];
}

interface HistoryEventJson {
  readonly eventId: string;
  readonly eventType: string;
  readonly [field: string]: unknown;
}

interface ProtoJson {
  readonly toJson: (type: unknown, message: unknown) => unknown;
  readonly fromJson: (type: unknown, json: unknown, options: { ignoreUnknownFields: boolean }) => unknown;
}

// The SDK's own conversion works only if npm has put a single protobufjs above all of its packages; this one
// always works.
const requireLikeProto = createRequire(createRequire(import.meta.url).resolve('@temporalio/proto'));
const { fromJson, toJson } = requireLikeProto('protobufjs/ext/protojson') as ProtoJson;
const root = patchProtobufRoot(proto) as unknown as { lookupType(name: string): unknown };
const HISTORY_TYPE = root.lookupType('temporal.api.history.v1.History');

export async function fetchHistory(stack: Pick<Stack, 'temporal'>, workflowId: string): Promise<HistoryJson> {
  const history = await stack.temporal.workflow.getHandle(workflowId).fetchHistory();
  return toJson(HISTORY_TYPE, proto.temporal.api.history.v1.History.fromObject(history)) as HistoryJson;
}

/** The other way, for replaying. */
export function historyOf(json: HistoryJson): History {
  return fromJson(HISTORY_TYPE, json, { ignoreUnknownFields: true }) as History;
}

/** The server's own figure, in bytes. */
export async function historyBytes(stack: Pick<Stack, 'temporal'>, workflowId: string): Promise<number> {
  const { historySize } = await stack.temporal.workflow.getHandle(workflowId).describe();
  if (historySize === undefined) throw new Error('the server does not say how large the history is');
  return historySize;
}

/** Short names of the events in order, such as WORKFLOW_EXECUTION_STARTED. */
export function eventTypes(history: HistoryJson): string[] {
  return history.events.map((event) => event.eventType.replace(/^EVENT_TYPE_/, ''));
}

/** Every payload of a history as text, anywhere in an event. */
export function payloadTexts(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own =
    'data' in value && typeof value.data === 'string'
      ? [Buffer.from(value.data, 'base64').toString('utf8')]
      : [];
  return [...own, ...Object.values(value).flatMap((inner: unknown) => payloadTexts(inner))];
}

/** Summaries of activities and timers, as the Temporal UI shows them. */
export function summariesOf(history: HistoryJson): string[] {
  return history.events.flatMap((event) => {
    const metadata = event['userMetadata'] as { summary?: unknown } | undefined;
    return payloadTexts(metadata?.summary).map((text) => JSON.parse(text) as string);
  });
}
