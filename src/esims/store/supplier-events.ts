import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { SupplierEvent } from '../rules.ts';
import { inBatches } from '../../platform/database/retention.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { SupplierEventsTable } from './tables.ts';

export type SupplierEventRow = Selectable<SupplierEventsTable>;

/**
 * Anyone can send an event, so few from other senders are kept: a thousand rows are less than a megabyte, and
 * show who it is.
 */
export const MAX_FOREIGN_EVENTS = 1_000;
/** Of the supplier itself. A day of its silence to our questions, at 100,000 eSIMs, waits in fewer. */
export const MAX_WAITING_EVENTS = 50_000;

/** Where an event comes from. */
export interface EventOrigin {
  /** By its name. */
  readonly supplier: string;
  /** The address that sent it. */
  readonly sender: string;
  readonly isForeign: boolean;
}

/** Keeps an event, unless it is there. `no-room`: too many are. Strangers' events are never worked on. */
export async function keepSupplierEvent(
  db: WorldDb,
  event: SupplierEvent,
  { supplier, sender, isForeign }: EventOrigin,
): Promise<'kept' | 'repeated' | 'no-room'> {
  const room = isForeign
    ? hasRoom(sql`is_foreign`, MAX_FOREIGN_EVENTS)
    : hasRoom(sql`supplier = ${supplier} and applied_at is null`, MAX_WAITING_EVENTS);
  const { rows } = await sql<{ room: boolean; kept: boolean }>`
    with room as materialized (select ${room} as free), kept as (
      insert into supplier_events
        (supplier, notify_id, type, about, esim_tran_no, order_no, transaction_id, supplier_status, sender, is_foreign, generated_at, applied_at, note)
      select ${supplier}, ${event.notifyId}, ${event.type}, ${event.about}, ${event.esimTranNo}, ${event.orderNo}, ${event.transactionId},
             ${event.supplierStatus}, ${sender}, ${isForeign}, ${event.generatedAt}::timestamptz,
             case when ${isForeign} then clock_timestamp() end, ${isForeign ? 'from none of the addresses of the supplier' : null}
        from room where free
      on conflict (supplier, notify_id, is_foreign) do nothing
      returning id
    )
    select (select free from room) as room, exists (select from kept) as kept`.execute(db);
  const [row] = rows;
  if (row?.kept) return 'kept';
  return row?.room ? 'repeated' : 'no-room';
}

/** Counts no further than the bound. */
const hasRoom = (which: RawBuilder<unknown>, most: number): RawBuilder<boolean> =>
  sql<boolean>`(select count(*) < ${most} from (select from supplier_events where ${which} limit ${most}) held)`;

/**
 * The purchases with one of these orders at a supplier, by our id or by its number, and whether they still
 * wait for it.
 */
export async function findPurchasesOfOrders(
  db: WorldDb,
  supplier: string,
  rows: readonly Pick<SupplierEventRow, 'transaction_id' | 'order_no'>[],
): Promise<{ readonly transactionId: string; readonly isOpen: boolean }[]> {
  const ids = rows.flatMap(({ transaction_id }) => transaction_id ?? []);
  const orderNos = rows.flatMap(({ order_no }) => order_no ?? []);
  const found = await sql<{ transactionId: string; isOpen: boolean }>`
    select distinct transaction_id as "transactionId", status = 'PROCESSING' as "isOpen"
      from supplier_orders join purchases using (transaction_id)
     where supplier_orders.supplier = ${supplier}
       and (id = any(${ids}::text[]) or order_no = any(${orderNos}::text[]))`.execute(db);
  return found.rows;
}

/**
 * Longer than a turn of 20 events takes at one request a second; then another process may take the events of
 * one that died.
 */
const LEASE_FOR = sql`interval '60 seconds'`;

/** Leases events of a supplier that wait, oldest first. Concurrent calls lease different ones. */
export async function leaseSupplierEvents(
  db: WorldDb,
  supplier: string,
  limit: number,
): Promise<SupplierEventRow[]> {
  const { rows } = await sql<SupplierEventRow>`
    update supplier_events set leased_until = clock_timestamp() + ${LEASE_FOR}
     where id = any(array(
             select id from supplier_events
              where supplier = ${supplier} and applied_at is null and (leased_until is null or leased_until < clock_timestamp())
              order by id limit ${limit} for update skip locked))
    returning *`.execute(db);
  return rows.toSorted((a, b) => Number(a.id - b.id));
}

/** A leased event that has waited for a day is left to the schedule. */
const GIVE_UP_AFTER = sql`interval '1 day'`;

/**
 * Gives events back whose eSIM the supplier said nothing about: they wait half as long again as they have
 * waited, at least 15 seconds and at most an hour.
 */
export async function putBackSupplierEvents(db: WorldDb, ids: readonly bigint[]): Promise<void> {
  await sql`
    update supplier_events
       set leased_until = clock_timestamp() + greatest(interval '15 seconds', least(interval '1 hour', (clock_timestamp() - received_at) / 2)),
           applied_at = case when received_at < clock_timestamp() - ${GIVE_UP_AFTER} then clock_timestamp() end,
           note = case when received_at < clock_timestamp() - ${GIVE_UP_AFTER} then 'the supplier gave no answer for a day' end
     where id = any(${[...ids]}::bigint[]) and applied_at is null`.execute(db);
}

export async function markSupplierEventsApplied(
  db: WorldDb,
  ids: readonly bigint[],
  note: string,
): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update supplier_events set applied_at = clock_timestamp(), note = ${note}
     where id = any(${[...ids]}::bigint[]) and applied_at is null`.execute(db);
}

/**
 * Deletes events that were worked on before `appliedBefore`, and those of strangers from before
 * `foreignBefore`.
 */
export async function forgetSupplierEvents(
  db: WorldDb,
  { appliedBefore, foreignBefore }: { readonly appliedBefore: Date; readonly foreignBefore: Date },
  isOver?: () => boolean,
): Promise<number> {
  const forget = (which: RawBuilder<unknown>) =>
    inBatches(async (limit) => {
      const { numAffectedRows } = await sql`
        delete from supplier_events where id = any(array(
          select id from supplier_events where ${which} limit ${limit} for update skip locked))`.execute(db);
      return Number(numAffectedRows ?? 0n);
    }, isOver);
  const foreign = await forget(sql`is_foreign and received_at < ${foreignBefore}`);
  return foreign + (await forget(sql`applied_at < ${appliedBefore}`));
}
