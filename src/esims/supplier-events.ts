/**
 * The supplier's events are kept, acknowledged, and then the supplier is asked. They are unsigned, so we
 * never act on what they say.
 */
import type { Clock } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { Events } from '../platform/telemetry/events.ts';
import { isMoving } from './life-rules.ts';
import type { EsimSupplier, SupplierEventSource } from './port.ts';
import { checkEsim, type RefreshDeps } from './refresh.ts';
import { findEsimByTranNo, findEsimByTransaction, type EsimRow } from './store/esims.ts';
import {
  leaseSupplierEvents,
  findPurchasesOfOrders,
  keepSupplierEvent,
  markSupplierEventsApplied,
  putBackSupplierEvents,
  type SupplierEventRow,
} from './store/supplier-events.ts';

export interface SupplierInboxDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly events: Events;
  readonly supplierEvents: {
    readonly source: Pick<SupplierEventSource, 'readEvent'> & Pick<EsimSupplier, 'name'>;
    /** Whether the supplier sends from this address. */
    readonly isSender: (address: string) => boolean;
  };
}

/**
 * While no more events of other senders are kept, they are refused before their bodies are read and without a
 * query.
 */
const NO_ROOM_FOR_MS = 60_000;

export type SupplierInbox = ReturnType<typeof createSupplierInbox>;

/** Stores events. The worker then reads the eSIM from the supplier. */
export function createSupplierInbox(deps: SupplierInboxDeps) {
  const { db, clock, events, supplierEvents } = deps;
  let noRoomUntilMs = 0;
  const requireRoom = (): void => {
    if (clock.now().getTime() >= noRoomUntilMs) return;
    events.supplierEventReceived({ verdict: 'no-room', type: '' });
    throw noRoom();
  };
  return {
    /**
     * Before the body is read. Throws SERVICE_UNAVAILABLE for a sender that is not the supplier while too
     * many such events are kept.
     */
    admitSupplierEvent: (sender: string): void => {
      if (!supplierEvents.isSender(sender)) requireRoom();
    },
    /**
     * Resolves once the event is durable. Throws VALIDATION_ERROR if it is not an event, SERVICE_UNAVAILABLE
     * where there is no room for it.
     */
    takeSupplierEvent: async (rawBody: Uint8Array, sender: string): Promise<void> => {
      const event = supplierEvents.source.readEvent(rawBody);
      if (!event) {
        events.supplierEventReceived({ verdict: 'unreadable', type: '' });
        throw new DomainError('VALIDATION_ERROR', 'This is no event of the supplier');
      }
      const isForeign = !supplierEvents.isSender(sender);
      const verdict = await keepSupplierEvent(db, event, {
        supplier: supplierEvents.source.name,
        sender,
        isForeign,
      });
      const { type } = event;
      if (verdict !== 'kept') events.supplierEventReceived({ verdict, type });
      else if (isForeign) events.supplierEventReceived({ verdict: 'foreign', type });
      else {
        events.supplierEventReceived({ verdict, type });
        if (event.about === 'unknown') events.supplierEventReceived({ verdict: 'unknown-type', type });
        if (!event.isStatusKnown) events.supplierEventReceived({ verdict: 'unknown-status', type });
      }
      if (verdict !== 'no-room') return;
      if (isForeign) noRoomUntilMs = clock.now().getTime() + NO_ROOM_FOR_MS;
      throw noRoom();
    },
  };
}

function noRoom(): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', 'Too many events wait, send this one again later');
}

/**
 * Events of one turn; several may be about the same eSIM. At one request a second a turn is over before its
 * leases are, and before a run has to end.
 */
const EVENTS_AT_ONCE = 20;
/** Each waits for its turn at the supplier anyway. */
const ESIMS_AT_ONCE = 8;

export interface SupplierEventDeps extends RefreshDeps {
  /** Wakes a purchase that waits for its supplier. Throws EngineUnavailable. */
  readonly engine: { supplierAnnounced(transactionId: string): Promise<void> };
}

/**
 * Leases events that wait and asks the supplier about each of their eSIMs once. Returns how many were
 * leased. May run in several processes at once.
 */
export async function applySupplierEvents(deps: SupplierEventDeps, limit = EVENTS_AT_ONCE): Promise<number> {
  const leased = await leaseSupplierEvents(deps.db, deps.supplier.name, limit);
  const waiting = [...Map.groupBy(leased, subjectOf).values()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await applyTo(deps, next);
  };
  await Promise.all(Array.from({ length: ESIMS_AT_ONCE }, work));
  return leased.length;
}

const idsOf = (rows: readonly SupplierEventRow[]): bigint[] => rows.map(({ id }) => id);

/** Older samples of the supplier name an eSIM by its order alone. */
const subjectOf = ({ about, esim_tran_no, transaction_id }: SupplierEventRow): string =>
  `${about} ${esim_tran_no ?? transaction_id ?? ''}`;

/** Events with one subject. */
async function applyTo(deps: SupplierEventDeps, rows: readonly SupplierEventRow[]): Promise<void> {
  const ids = idsOf(rows);
  switch (rows[0]?.about) {
    case 'esim':
      return applyToEsim(deps, rows);
    case 'order':
      return applyToOrder(deps, rows);
    case 'health':
      return markSupplierEventsApplied(deps.db, ids, 'answered');
    case 'unknown':
    case undefined:
      return markSupplierEventsApplied(deps.db, ids, 'of a type never seen before');
  }
}

async function applyToEsim(deps: RefreshDeps, rows: readonly SupplierEventRow[]): Promise<void> {
  const ids = idsOf(rows);
  const row = await findSubject(deps, rows);
  if (!row) return alertUnknown(deps, rows, 'about no eSIM of ours');
  // An order that is not delivered yet has no number in its row.
  if (row.status === 'PENDING') return putBackSupplierEvents(deps.db, ids);
  if (!isMoving(row)) return markSupplierEventsApplied(deps.db, ids, `the eSIM is ${row.status}`);
  const { isAnswered } = await checkEsim(deps, row);
  if (isAnswered) await markSupplierEventsApplied(deps.db, ids, 'asked');
  else await putBackSupplierEvents(deps.db, ids);
}

/**
 * The supplier gives an ICCID to several eSIMs in turn, so only its own number of an eSIM counts, or its
 * order where the event has no number.
 */
async function findSubject(
  { db, supplier }: Pick<RefreshDeps, 'db' | 'supplier'>,
  rows: readonly SupplierEventRow[],
): Promise<EsimRow | undefined> {
  const tranNo = rows[0]?.esim_tran_no ?? null;
  const byNumber = tranNo === null ? undefined : await findEsimByTranNo(db, supplier.name, tranNo);
  if (byNumber) return byNumber;
  const byOrder = await findEsimByTransaction(db, supplier.name, transactionIdsOf(rows));
  return tranNo === null || byOrder?.status === 'PENDING' ? byOrder : undefined;
}

/**
 * The purchase that waits for the order is woken, and asks. Its order may be a replacement, with an id of its
 * own.
 */
async function applyToOrder(deps: SupplierEventDeps, rows: readonly SupplierEventRow[]): Promise<void> {
  const purchases = await findPurchasesOfOrders(deps.db, deps.supplier.name, rows);
  if (purchases.length === 0 && transactionIdsOf(rows).length > 0)
    return alertUnknown(deps, rows, 'about no order of ours');
  const waiting = purchases.filter((purchase) => purchase.isOpen);
  try {
    for (const { transactionId } of waiting) await deps.engine.supplierAnnounced(transactionId);
  } catch (error) {
    if (error instanceof EngineUnavailable) return putBackSupplierEvents(deps.db, idsOf(rows));
    throw error;
  }
  const note = waiting.length > 0 ? 'woke the purchase' : 'nothing waits for it';
  await markSupplierEventsApplied(deps.db, idsOf(rows), note);
}

const transactionIdsOf = (rows: readonly SupplierEventRow[]): string[] =>
  rows.flatMap(({ transaction_id }) => transaction_id ?? []);

async function alertUnknown(
  deps: RefreshDeps,
  rows: readonly SupplierEventRow[],
  note: string,
): Promise<void> {
  for (const { type } of rows) deps.events.supplierEventReceived({ verdict: 'unknown-esim', type });
  await markSupplierEventsApplied(deps.db, idsOf(rows), note);
}

/** The address may be saved elsewhere meanwhile, by hand or by another installation. */
const REGISTER_AGAIN_AFTER_MS = 3_600_000;
const FIRST_RETRY_AFTER_MS = 2_000;
const RETRY_AFTER_AT_MOST_MS = 5 * 60_000;

interface RegistrationDeps {
  readonly source: Pick<SupplierEventSource, 'eventsUrl' | 'saveEventsUrl'>;
  /** Where the supplier shall send its events. */
  readonly url: string;
  readonly events: Pick<Events, 'supplierEventsRegistered' | 'supplierEventsNotRegistered'>;
  readonly clock: Clock;
}

/**
 * Makes the supplier send its events to `url`, and checks this once an hour. Call it as often as you like:
 * after a failure it asks again after 2 s, and then ever later, up to 5 minutes. It never rejects.
 */
export function createRegistration({ source, url, events, clock }: RegistrationDeps): () => Promise<void> {
  let nextAtMs = 0;
  let retryAfterMs = FIRST_RETRY_AFTER_MS;
  const after = (ms: number): number => clock.now().getTime() + ms;
  return async () => {
    if (clock.now().getTime() < nextAtMs) return;
    try {
      if ((await source.eventsUrl()) !== url) {
        await source.saveEventsUrl(url);
        events.supplierEventsRegistered({ url });
      }
      nextAtMs = after(REGISTER_AGAIN_AFTER_MS);
      retryAfterMs = FIRST_RETRY_AFTER_MS;
    } catch (error) {
      nextAtMs = after(retryAfterMs);
      retryAfterMs = Math.min(retryAfterMs * 2, RETRY_AFTER_AT_MOST_MS);
      events.supplierEventsNotRegistered({
        url,
        detail: error instanceof Error ? error.message : String(error),
      });
    }
  };
}
