/**
 * The payment gateway's events: verified, kept, acknowledged, and only then applied, which is no more than a wish to look. Applying one twice
 * changes nothing, and one that could not be applied stays in the inbox until somebody can.
 */
import type { GatewayEvent } from './port.ts';
import { bookDispute, enqueuePaymentReturned } from './store/disputes.ts';
import {
  UNMATCHED_EVENT,
  createEventWriter,
  findUnappliedEvents,
  markEventApplied,
  type GatewayEventRow,
  type InboxEvent,
} from './store/gateway-events.ts';
import { findPayment, type PaymentRow } from './store/payments.ts';
import type { PaymentDeps } from './deps.ts';
import { EngineUnavailable } from '../domain/outcome.ts';

export type EventDeps = Pick<PaymentDeps, 'db' | 'gateway' | 'engine' | 'events'>;

/** Events applied at one time by one process: a burst waits in the inbox, not in memory. */
const MAX_AT_ONCE = 8;
/** Within the two minutes that a run of the inbox has. What is left is the next run's. */
const RUNS_FOR_MS = 60_000;
/** How long a dispute waits for a look at money that was never seen: one answer of the gateway, and the way there. */
const CHECK_WITHIN_MS = 8_000;

export interface GatewayInbox {
  take(
    rawBody: Uint8Array,
    headers: Readonly<Record<string, string | undefined>>,
  ): Promise<'kept' | 'refused'>;
}

/** The door of one world. What it keeps it tries to apply at once, aside; a burst beyond its places is left to the inbox's schedule. */
export function createGatewayInbox(deps: EventDeps): GatewayInbox {
  const keepEvent = createEventWriter(deps.db);
  let applying = 0;
  const applyAside = (event: InboxEvent, id: bigint | undefined): void => {
    if (applying >= MAX_AT_ONCE) return;
    applying += 1;
    void applyEvent(deps, event)
      .then((note) => (id === undefined ? undefined : markEventApplied(deps.db, id, note)))
      // It stays in the inbox, whose schedule tries again and tells.
      .catch(() => undefined)
      .finally(() => (applying -= 1));
  };
  return {
    take: async (rawBody, headers) => {
      const verified = deps.gateway.verifyWebhook(rawBody, headers);
      if (!verified) {
        deps.events.gatewayEventRefused({ bytes: rawBody.byteLength });
        return 'refused';
      }
      const event = toKept(deps.gateway.name, verified);
      const id = await keepEvent(event);
      deps.events.gatewayEventKept({ type: event.type, reference: event.reference });
      applyAside(event, id);
      return 'kept';
    },
  };
}

function toKept(gateway: string, event: GatewayEvent): InboxEvent {
  const { eventKey, type, about, reference, email } = event;
  return { gateway, eventKey, type, about, reference: storable(reference), email: storable(email) };
}

/** Postgres takes no NUL in a text, and nothing of ours has one. */
function storable(text: string | null): string | null {
  return text?.includes('\0') === true ? null : text;
}

/**
 * Applies what is left in the inbox, oldest first; answers how many. One that cannot be applied keeps none behind it waiting, unless nobody
 * can be asked at all; in the end it throws for it.
 */
export async function applyInbox(deps: EventDeps): Promise<number> {
  const endsAtMs = performance.now() + RUNS_FOR_MS;
  const failures: unknown[] = [];
  let applied = 0;
  let afterId = 0n;
  while (performance.now() < endsAtMs) {
    const waiting = await findUnappliedEvents(deps.db, { afterId, limit: MAX_AT_ONCE });
    const last = waiting.at(-1);
    if (!last) break;
    const ended = await Promise.allSettled(waiting.map((event) => applyKept(deps, event)));
    const failed = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
    const nobody = failed.find((error) => error instanceof EngineUnavailable);
    if (nobody) throw nobody;
    failures.push(...failed);
    applied += waiting.length - failed.length;
    afterId = last.id;
  }
  if (failures.length > 0)
    throw new Error(`${failures.length} gateway events are left`, { cause: failures[0] });
  return applied;
}

async function applyKept(deps: EventDeps, row: GatewayEventRow): Promise<void> {
  await markEventApplied(deps.db, row.id, await applyGatewayEvent(deps, row));
}

/** Applies an event that was kept, without saying so on its row: whoever asked does. Answers what was done. Twice is once. */
export function applyGatewayEvent(deps: ApplyDeps, row: GatewayEventRow): Promise<string> {
  const { gateway, type, about, reference, email, event_key: eventKey } = row;
  return applyEvent(deps, { gateway, eventKey, type, about, reference, email });
}

type ApplyDeps = Pick<EventDeps, 'db' | 'engine'>;

/** What was done, for the inbox's row. */
async function applyEvent(deps: ApplyDeps, event: InboxEvent): Promise<string> {
  if (event.about === 'transfer-rejected') {
    return `told to ${await enqueuePaymentReturned(deps.db, event.email, event.eventKey)} payments`;
  }
  const payment = event.reference === null ? undefined : await findPayment(deps.db, event.reference);
  if (!payment) return UNMATCHED_EVENT;
  if (event.about === 'dispute') return applyDispute(deps, payment);
  if (event.about === 'charge' || event.about === 'refund') {
    await deps.engine.checkSoon({ transactionId: payment.transaction_id, purpose: payment.purpose });
    return 'looked at';
  }
  return 'nothing to do';
}

/**
 * A dispute is about money: what was never seen is looked at first, and the gateway's answer counts, not the event. One that was lost takes
 * the money back, which a look finds.
 */
async function applyDispute(deps: ApplyDeps, before: PaymentRow): Promise<string> {
  const whose = { transactionId: before.transaction_id, purpose: before.purpose };
  if (before.booked_minor === 0n) {
    await deps.engine.check(whose, CHECK_WITHIN_MS);
    const after = await findPayment(deps.db, before.reference);
    if (after?.looked_at?.getTime() === before.looked_at?.getTime())
      throw new Error(`${before.reference} is disputed, and nobody could look at it`);
  }
  const note = await bookDispute(deps.db, before.reference);
  await deps.engine.checkSoon(whose);
  return note;
}
