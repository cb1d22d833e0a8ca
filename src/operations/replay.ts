/** Retries an item of the stuck list. Idempotent; the person and the reason are on record. */
import type { Session } from '../domain/callers.ts';
import type { Clock } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import { applyGatewayEvent } from '../payments/gateway-events.ts';
import type { GatewayEventRow } from '../payments/store/gateway-events.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { PurchaseEngine } from '../purchases/engine.ts';
import type { OperatorActions, ReplayOptions } from './actions.ts';
import type { Replayed, ReplayStep } from './batch-repair-rules.ts';
import {
  dismissByHand,
  findEvent,
  findUnappliedOf,
  findUndelivered,
  markAppliedByHand,
  reopenByHand,
} from './store/events-and-messages.ts';
import { findTransactionId } from './store/timeline.ts';
import type { StuckLimits } from './stuck-rules.ts';

export interface ReplayDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly limits: StuckLimits;
  readonly engine: PurchaseEngine;
  readonly actions: OperatorActions;
}

const EVENT_ID = /^event-(\d{1,18})$/;

/** Retries every step that can be retried. undefined: unknown id. */
export async function replay(
  deps: ReplayDeps,
  id: string,
  request: ReplayOptions,
): Promise<Replayed | undefined> {
  const eventId = EVENT_ID.exec(id)?.[1];
  if (eventId !== undefined) return replayEvent(deps, BigInt(eventId), request);
  const messages = await sendMessages(deps, id, request);
  const transactionId = await findTransactionId(deps.db, id);
  if (transactionId === undefined || id.startsWith('msg-')) {
    return messages.length === 0 && transactionId === undefined
      ? undefined
      : { transactionId: id, before: null, after: null, steps: messages };
  }
  const events: ReplayStep[] = [];
  for (const event of await findUnappliedOf(deps.db, transactionId))
    events.push(await applyEvent(deps, event, transactionId, request));
  const report = await deps.actions.replay(transactionId, request);
  return {
    transactionId,
    before: report?.before ?? null,
    after: report?.after ?? null,
    steps: [...messages, ...events, ...(report?.steps ?? [])],
  };
}

async function replayEvent(
  deps: ReplayDeps,
  id: bigint,
  request: ReplayOptions,
): Promise<Replayed | undefined> {
  const event = await findEvent(deps.db, id);
  if (!event) return undefined;
  const transactionId = event.transaction_id ?? `event-${id}`;
  const steps = event.applied_at === null ? [await applyEvent(deps, event, transactionId, request)] : [];
  return { transactionId, before: null, after: null, steps };
}

async function applyEvent(
  deps: ReplayDeps,
  event: GatewayEventRow,
  transactionId: string,
  { isDryRun, ...who }: ReplayOptions,
): Promise<ReplayStep> {
  const step = `apply event-${event.id}`;
  if (isDryRun) return { step, outcome: 'would-do', detail: event.type };
  try {
    const note = await applyGatewayEvent(deps, event);
    const isFirst = await markAppliedByHand(deps.db, { id: event.id, transactionId, note }, who);
    return { step, outcome: 'done', detail: isFirst ? note : 'applied meanwhile' };
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
    return { step, outcome: 'unknown', detail: error.message };
  }
}

async function sendMessages(
  { db, clock, limits }: ReplayDeps,
  id: string,
  { isDryRun, ...who }: ReplayOptions,
): Promise<ReplayStep[]> {
  const now = clock.now();
  const undelivered = await findUndelivered(db, id, {
    dueBefore: new Date(now.getTime() - limits.sendMessageMs),
    closedSince: new Date(now.getTime() - limits.recoverMessageMs),
  });
  const closed = 'the endpoint is disabled; its owner must enable it';
  const sendable = undelivered.filter((message) => message.is_open && !isDryRun);
  for (const message of sendable) await reopenByHand(db, message, who, now);
  return undelivered.map((message) => {
    const step = `send ${message.id}`;
    if (!message.is_open) return { step, outcome: 'refused', detail: closed };
    return isDryRun
      ? { step, outcome: 'would-do', detail: message.event }
      : { step, outcome: 'done', detail: 'handed over to be sent' };
  });
}

/** Takes an unmatched event off the list. NOT_FOUND where it has a payment here, or was dismissed before. */
export async function dismissEvent(
  { db }: Pick<ReplayDeps, 'db'>,
  { person }: Session,
  id: string,
  reason: string,
): Promise<void> {
  const eventId = EVENT_ID.exec(id)?.[1];
  if (eventId === undefined || !(await dismissByHand(db, BigInt(eventId), { by: person.email, reason })))
    throw new DomainError('NOT_FOUND', 'No unmatched gateway event has this id');
}
