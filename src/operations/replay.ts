/**
 * Retries an item of the stuck list: applies an event, sends a message again, checks and continues a purchase or funding. Idempotent; the
 * person and the reason are on record.
 */
import type { Clock } from '../domain/clock.ts';
import type { WebhookEngine } from '../webhooks/ports.ts';
import type { StuckLimits } from './stuck-rules.ts';
import type { GatewayEventRow } from '../payments/store/gateway-events.ts';
import { findTransactionId } from './store/timeline.ts';
import {
  dismissEvent,
  findEvent,
  findUnappliedOf,
  findUndelivered,
  markAppliedByHand,
  reopenByHand,
  type RepairAuthor,
} from './store/repairs.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { applyGatewayEvent } from '../payments/gateway-events.ts';
import type { OperatorActions, ReplayReport } from './actions.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import type { PurchaseEngine } from '../purchases/deps.ts';

export { EngineUnavailable };

export interface ReplayDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly limits: StuckLimits;
  readonly engine: PurchaseEngine;
  readonly webhookEngine: WebhookEngine;
  readonly actions: OperatorActions;
}

/** One thing that was done, or would be. */
export interface ReplayStep {
  readonly step: string;
  readonly outcome: 'done' | 'refused' | 'unknown' | 'waits-for-approval' | 'would-do';
  readonly detail: string;
}

export interface Replayed {
  readonly transactionId: string;
  /** `status, state` of a purchase or funding before and after; null for what is none. */
  readonly before: string | null;
  readonly after: string | null;
  readonly steps: readonly ReplayStep[];
}

/** Retries every step that can be retried. undefined: nothing has this id. */
export async function replay(
  deps: ReplayDeps,
  id: string,
  { isDryRun, ...who }: RepairAuthor & { readonly isDryRun: boolean },
): Promise<Replayed | undefined> {
  const eventId = /^event-(\d{1,18})$/.exec(id)?.[1];
  if (eventId !== undefined) return replayEvent(deps, BigInt(eventId), who, isDryRun);
  const messages = await sendMessages(deps, id, who, isDryRun);
  const transactionId = await findTransactionId(deps.db, id);
  if (transactionId === undefined || id.startsWith('msg-')) {
    return messages.length === 0 && transactionId === undefined
      ? undefined
      : { transactionId: id, before: null, after: null, steps: messages };
  }
  const events = await applyEvents(deps, transactionId, who, isDryRun);
  const report = await deps.actions.replay(transactionId, { ...who, dryRun: isDryRun });
  return {
    transactionId,
    before: report ? standing(report.before) : null,
    after: report ? standing(report.after) : null,
    steps: [...messages, ...events, ...(report?.steps.map(toStep) ?? [])],
  };
}

const standing = ({ status, state }: ReplayReport['before']): string => `${status}, ${state}`;

function toStep({ move, outcome }: ReplayReport['steps'][number]): ReplayStep {
  if (outcome === 'would-make') return { step: move, outcome: 'would-do', detail: '' };
  switch (outcome.outcome) {
    case 'done':
      return { step: move, outcome: 'done', detail: outcome.did };
    case 'refused':
      return { step: move, outcome: 'refused', detail: `${outcome.code}: ${outcome.detail}` };
    case 'waits-for-approval':
      return { step: move, outcome: 'waits-for-approval', detail: outcome.moveId };
    case 'unknown':
      return { step: move, outcome: 'unknown', detail: outcome.detail };
  }
}

async function replayEvent(
  deps: ReplayDeps,
  id: bigint,
  who: RepairAuthor,
  isDryRun: boolean,
): Promise<Replayed | undefined> {
  const event = await findEvent(deps.db, id);
  if (!event) return undefined;
  const transactionId = event.transaction_id ?? `event-${id}`;
  const steps = event.applied_at === null ? [await applyOne(deps, event, transactionId, who, isDryRun)] : [];
  return { transactionId, before: null, after: null, steps };
}

async function applyEvents(
  deps: ReplayDeps,
  transactionId: string,
  who: RepairAuthor,
  isDryRun: boolean,
): Promise<ReplayStep[]> {
  const steps: ReplayStep[] = [];
  for (const event of await findUnappliedOf(deps.db, transactionId))
    steps.push(await applyOne(deps, event, transactionId, who, isDryRun));
  return steps;
}

async function applyOne(
  deps: ReplayDeps,
  event: GatewayEventRow,
  transactionId: string,
  who: RepairAuthor,
  isDryRun: boolean,
): Promise<ReplayStep> {
  const step = `apply event-${event.id}`;
  if (isDryRun) return { step, outcome: 'would-do', detail: event.type };
  try {
    const note = await applyGatewayEvent(deps, event);
    const isOurs = await markAppliedByHand(deps.db, { id: event.id, transactionId, note }, who);
    return { step, outcome: 'done', detail: isOurs ? note : 'applied meanwhile' };
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
    return { step, outcome: 'unknown', detail: error.message };
  }
}

async function sendMessages(
  deps: ReplayDeps,
  id: string,
  who: RepairAuthor,
  isDryRun: boolean,
): Promise<ReplayStep[]> {
  const now = deps.clock.now();
  const undelivered = await findUndelivered(deps.db, id, {
    dueBefore: new Date(now.getTime() - deps.limits.sendMessageMs),
    closedSince: new Date(now.getTime() - deps.limits.recoverMessageMs),
  });
  const steps: ReplayStep[] = [];
  for (const message of undelivered) {
    const step = `send ${message.id}`;
    if (!message.is_open) {
      steps.push({
        step,
        outcome: 'refused',
        detail: 'its endpoint is switched off: its owner enables it first',
      });
    } else if (isDryRun) {
      steps.push({ step, outcome: 'would-do', detail: message.event });
    } else {
      await reopenByHand(deps.db, message, who, now);
      steps.push({ step, outcome: 'done', detail: 'handed over to be sent' });
    }
  }
  const sent = undelivered.filter((message) => message.is_open && !isDryRun).map((message) => message.id);
  if (sent.length > 0) await deps.webhookEngine.deliver(sent);
  return steps;
}

/** Takes an unmatched event off the list. `false`: it is not on it. */
export function dismiss({ db }: Pick<ReplayDeps, 'db'>, id: string, who: RepairAuthor): Promise<boolean> {
  const eventId = /^event-(\d{1,18})$/.exec(id)?.[1];
  return eventId === undefined ? Promise.resolve(false) : dismissEvent(db, BigInt(eventId), who);
}
