/**
 * What puts right the stuck things that are no purchase: an event of the gateway, a message to a merchant. Each word of a person is on record
 * beside its effect, in one transaction, among the operator actions.
 */
import { sql } from 'kysely';
import { UNMATCHED_EVENT, type GatewayEventRow } from '../../payments/store/gateway-events.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { reopenMessage } from '../../webhooks/store/messages.ts';

export interface RepairAuthor {
  readonly by: string;
  readonly reason: string;
}

interface ManualRepair extends RepairAuthor {
  readonly transactionId: string;
  readonly move: 'apply-event' | 'dismiss-event' | 'send-message';
  /** What exactly was done, or is to be. */
  readonly about: string;
}

/** On record as done. Belongs into the transaction of what was done. */
async function recordRepair(
  trx: WorldDb,
  { transactionId, move, about, by, reason }: ManualRepair,
): Promise<void> {
  await sql`
    insert into operator_moves (id, transaction_id, move, move_key, asked, by_person, reason, status, detail, closed_at)
    select 'move-' || key, ${transactionId}, ${move}::text, key, ${about}, ${by}, ${reason}, 'DONE', ${about}, clock_timestamp()
      from (select replace(gen_random_uuid()::text, '-', '') as key) made`.execute(trx);
}

/** An event by its number, with the purchase or funding that it is about. */
export async function findEvent(
  db: WorldDb,
  id: bigint,
): Promise<(GatewayEventRow & { readonly transaction_id: string | null }) | undefined> {
  const row = await db
    .selectFrom('gateway_events')
    .leftJoin('payments', 'payments.reference', 'gateway_events.reference')
    .selectAll('gateway_events')
    .select('payments.transaction_id')
    .where('gateway_events.id', '=', id)
    .executeTakeFirst();
  return row;
}

/** Events about a purchase or funding that nobody has applied, oldest first. */
export function findUnappliedOf(db: WorldDb, transactionId: string): Promise<GatewayEventRow[]> {
  return db
    .selectFrom('gateway_events')
    .innerJoin('payments', 'payments.reference', 'gateway_events.reference')
    .selectAll('gateway_events')
    .where('payments.transaction_id', '=', transactionId)
    .where('gateway_events.applied_at', 'is', null)
    .orderBy('gateway_events.id')
    .execute();
}

/** Applied by a person's word. `false`: somebody was faster, and nothing is on record. */
export async function markAppliedByHand(
  db: WorldDb,
  event: { readonly id: bigint; readonly transactionId: string; readonly note: string },
  who: RepairAuthor,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const applied = await trx
      .updateTable('gateway_events')
      .set({ applied_at: sql`clock_timestamp()`, note: event.note })
      .where('id', '=', event.id)
      .where('applied_at', 'is', null)
      .executeTakeFirst();
    if (applied.numUpdatedRows === 0n) return false;
    const { transactionId, note } = event;
    await recordRepair(trx, {
      ...who,
      transactionId,
      move: 'apply-event',
      about: `event-${event.id}: ${note}`,
    });
    return true;
  });
}

/** A person knows what an event about no payment of ours is about. `false`: it is none of these, or was dismissed before. */
export async function dismissEvent(db: WorldDb, id: bigint, who: RepairAuthor): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const dismissed = await trx
      .updateTable('gateway_events')
      .set({ note: `${UNMATCHED_EVENT}; dismissed by a person` })
      .where('id', '=', id)
      .where('note', '=', UNMATCHED_EVENT)
      .executeTakeFirst();
    if (dismissed.numUpdatedRows === 0n) return false;
    const event = `event-${id}`;
    await recordRepair(trx, { ...who, transactionId: event, move: 'dismiss-event', about: event });
    return true;
  });
}

export interface UndeliveredMessage {
  readonly id: string;
  readonly account_id: string;
  readonly subject: string | null;
  readonly event: string;
  /** Its endpoint takes messages. */
  readonly is_open: boolean;
}

/** Messages by their own id, or of a purchase or funding, that were given up or are long due. */
export async function findUndelivered(
  db: WorldDb,
  id: string,
  which: { readonly dueBefore: Date; readonly closedSince: Date },
): Promise<UndeliveredMessage[]> {
  const { rows } = await sql<UndeliveredMessage>`
    select message.id, message.account_id, message.subject, message.event,
           endpoint.enabled and endpoint.deleted_at is null as is_open
      from webhook_messages message join webhook_endpoints endpoint on endpoint.id = message.endpoint_id
     where (message.id = ${id} or message.subject = ${id})
       and ((message.status = 'PENDING' and message.next_attempt_at < ${which.dueBefore})
         or (message.status = 'FAILED' and message.closed_at >= ${which.closedSince}))
     order by message.created_at`.execute(db);
  return rows;
}

/** To be sent again, under the same id. */
export async function reopenByHand(
  db: WorldDb,
  message: UndeliveredMessage,
  who: RepairAuthor,
  now: Date,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await reopenMessage(trx, message.account_id, message.id, now);
    await recordRepair(trx, {
      ...who,
      transactionId: message.subject ?? message.id,
      move: 'send-message',
      about: `${message.id}: ${message.event}`,
    });
  });
}
