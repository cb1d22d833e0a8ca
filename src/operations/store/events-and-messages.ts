/** Operators' repairs of events and messages, each recorded in the transaction of its effect. */
import { sql } from 'kysely';
import { UNMATCHED_EVENT, type GatewayEventRow } from '../../payments/store/gateway-events.ts';
import type { ActionRefusal } from '../rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { reopenMessage } from '../../webhooks/store/messages.ts';

export interface RepairAuthor {
  readonly by: string;
  readonly reason: string;
}

/** What is on record beside the actions on purchases. */
type RecordedRepair =
  | 'apply-event'
  | 'dismiss-event'
  | 'send-message'
  | 'ask-batch-repair'
  | 'approve-batch-repair'
  | 'decline-batch-repair'
  | 'stop-batch-repair';

/** Call it in the transaction of the repair. `about`: what exactly was repaired. */
export async function recordRepair(
  trx: WorldDb,
  action: RecordedRepair,
  transactionId: string,
  about: string,
  { by, reason }: RepairAuthor,
  refusal: ActionRefusal | null = null,
): Promise<void> {
  const status = refusal === null ? 'DONE' : 'REFUSED';
  await sql`
    insert into operator_actions (id, transaction_id, action, action_key, asked, by_person, reason, status, refusal, detail, closed_at)
    select 'action-' || key, ${transactionId}, ${action}::text, key, ${about}, ${by}, ${reason}, ${status}, ${refusal}::text, ${about},
           clock_timestamp()
      from (select replace(gen_random_uuid()::text, '-', '') as key) made`.execute(trx);
}

/** An event by its number, with the purchase or funding that it is about. */
export function findEvent(db: WorldDb, id: bigint) {
  return db
    .selectFrom('gateway_events')
    .leftJoin('payments', 'payments.reference', 'gateway_events.reference')
    .selectAll('gateway_events')
    .select('payments.transaction_id')
    .where('gateway_events.id', '=', id)
    .executeTakeFirst();
}

/** Unapplied events of a purchase or funding, oldest first. */
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

/** `false`: it was applied meanwhile, and nothing is recorded. */
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
    await recordRepair(trx, 'apply-event', event.transactionId, `event-${event.id}: ${event.note}`, who);
    return true;
  });
}

/** Takes an unmatched event off the stuck list. `false`: it is matched, or was dismissed before. */
export async function dismissByHand(db: WorldDb, id: bigint, who: RepairAuthor): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const dismissed = await trx
      .updateTable('gateway_events')
      .set({ note: `${UNMATCHED_EVENT}; dismissed by a person` })
      .where('id', '=', id)
      .where('note', '=', UNMATCHED_EVENT)
      .executeTakeFirst();
    if (dismissed.numUpdatedRows === 0n) return false;
    await recordRepair(trx, 'dismiss-event', `event-${id}`, `event-${id}`, who);
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
export async function reopenByHand(db: WorldDb, message: UndeliveredMessage, who: RepairAuthor, now: Date) {
  await db.transaction().execute(async (trx) => {
    await reopenMessage(trx, message.account_id, message.id, now);
    const about = `${message.id}: ${message.event}`;
    await recordRepair(trx, 'send-message', message.subject ?? message.id, about, who);
  });
}
