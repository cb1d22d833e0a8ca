/**
 * Gateway events are verified, saved, acknowledged, and then a check of their payment is asked for. An event
 * is done when a check that began after it is booked; until then the scheduled run asks again.
 */
import type { PaymentGateway } from './port.ts';
import { recordReturnedTransfer } from './store/disputes.ts';
import {
  UNMATCHED_EVENT,
  createEventWriter,
  findUnappliedEvents,
  markEventApplied,
  type InboxEvent,
} from './store/gateway-events.ts';
import { findPayment } from './store/payments.ts';
import type { PaymentDeps } from './deps.ts';
import { EngineUnavailable } from '../domain/outcome.ts';

export type EventDeps = Pick<PaymentDeps, 'db' | 'gateway' | 'engine' | 'events'>;

/** Events that one process applies at a time: a burst waits in the inbox, not in memory. */
const MAX_AT_ONCE = 8;
/** Within the two minutes that one run has. The next run continues. */
const RUNS_FOR_MS = 60_000;

export type GatewayInbox = ReturnType<typeof createGatewayInbox>;

/**
 * Saves events and tries to apply them in the background at once; what exceeds MAX_AT_ONCE is left to the
 * scheduled run.
 */
export function createGatewayInbox(deps: EventDeps) {
  const keepEvent = createEventWriter(deps.db);
  let applying = 0;
  const applyAside = (event: InboxEvent, id: bigint | undefined): void => {
    if (applying >= MAX_AT_ONCE) return;
    applying += 1;
    void applyGatewayEvent(deps, event)
      .then((note) =>
        id === undefined || note === REQUESTED ? undefined : markEventApplied(deps.db, id, note),
      )
      // It stays in the inbox; the scheduled run tries again and reports failures.
      .catch(() => undefined)
      .finally(() => (applying -= 1));
  };
  return {
    mayBeGatewayEvent: (gateway: string, headers: Parameters<PaymentGateway['mayBeEvent']>[0]): boolean => {
      const mayBe = gateway === deps.gateway.name && deps.gateway.mayBeEvent(headers);
      if (!mayBe) deps.events.gatewayEventRefused({ bytes: 0 });
      return mayBe;
    },
    takeGatewayEvent: async (
      gateway: string,
      ...[rawBody, headers]: Parameters<PaymentGateway['verifyWebhook']>
    ) => {
      const isOurs = gateway === deps.gateway.name;
      const verified = isOurs ? deps.gateway.verifyWebhook(rawBody, headers) : undefined;
      if (!verified) {
        deps.events.gatewayEventRefused({ bytes: rawBody.byteLength });
        return 'refused' as const;
      }
      const { eventKey, type, about } = verified;
      const [reference, email] = [storable(verified.reference), storable(verified.email)];
      const event = { gateway: deps.gateway.name, event_key: eventKey, type, about, reference, email };
      const id = await keepEvent(event);
      deps.events.gatewayEventKept({ type, reference });
      applyAside(event, id);
      return 'kept' as const;
    },
  };
}

/** Postgres text cannot hold NUL, and no value of ours contains it. */
function storable(text: string | null): string | null {
  return text?.includes('\0') === true ? null : text;
}

/**
 * Applies the events left in the inbox, oldest first, and asks once for each payment; returns how many.
 * Throws at the end for events that failed, at once if the engine is unavailable.
 */
export async function applyInbox(deps: EventDeps): Promise<number> {
  const endsAtMs = performance.now() + RUNS_FOR_MS;
  const failures: unknown[] = [];
  const asked = new Set<string>();
  let applied = 0;
  let afterId = 0n;
  while (performance.now() < endsAtMs) {
    const waiting = await findUnappliedEvents(deps.db, { afterId, limit: MAX_AT_ONCE });
    const last = waiting.at(-1);
    if (!last) break;
    const ended = await Promise.allSettled(
      waiting.map(async (row) => {
        const note = await applyGatewayEvent(deps, row, asked);
        if (note !== REQUESTED) await markEventApplied(deps.db, row.id, note);
      }),
    );
    const failed = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
    const unavailable = failed.find((error) => error instanceof EngineUnavailable);
    if (unavailable) throw unavailable;
    failures.push(...failed);
    applied += waiting.length - failed.length;
    afterId = last.id;
  }
  if (failures.length > 0)
    throw new Error(`${failures.length} gateway events are left`, { cause: failures[0] });
  return applied;
}

type ApplyDeps = Pick<EventDeps, 'db' | 'engine'>;

/** A check was requested. The booking of one marks the event as done. */
const REQUESTED = 'check requested';

/**
 * Applies an event without marking its row, which the caller does unless a check will. Returns what was done.
 * Idempotent.
 */
export async function applyGatewayEvent(
  { db, engine }: ApplyDeps,
  event: InboxEvent,
  asked = new Set<string>(),
): Promise<string> {
  if (event.about === 'transfer-rejected')
    return `noted on ${await recordReturnedTransfer(db, event.email, event.event_key)} purchases`;
  const payment = event.reference === null ? undefined : await findPayment(db, event.reference);
  if (payment?.gateway !== event.gateway) return UNMATCHED_EVENT;
  if (!['charge', 'refund', 'dispute'].includes(event.about)) return 'nothing to do';
  const { transaction_id: transactionId, purpose } = payment;
  if (!asked.has(transactionId)) await engine.checkSoon({ transactionId, purpose });
  asked.add(transactionId);
  return REQUESTED;
}
