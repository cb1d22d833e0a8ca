/**
 * A purchase's change of status, sent once per status as `esim.purchased`: the function that makes the change
 * also writes the event and its webhooks.
 */
import type { PurchaseEventStatus } from '../../webhooks/event-rules.ts';
import { callFunction } from '../../platform/database/functions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { PendingMessages, WrittenEvent } from '../../webhooks/store/messages.ts';

/** What the function of a change returns. The account is null where nothing changed. */
export interface StatusChange extends WrittenEvent {
  readonly account_id: string | null;
}

/**
 * Hands a change's webhooks on. No change: the step was done before, and its unsent webhooks are handed on
 * again.
 */
export async function collectWebhooks(
  trx: WorldDb,
  transactionId: string,
  change: StatusChange,
  pending: PendingMessages,
): Promise<void> {
  if (change.account_id === null) return findUnsent(trx, transactionId, pending);
  pending.accountId = change.account_id;
  pending.ids.push(...(change.message_ids ?? []));
}

/** Enqueues the webhook of a status that the purchase has now. */
export async function enqueueStatus(
  trx: WorldDb,
  transactionId: string,
  status: PurchaseEventStatus,
  pending: PendingMessages,
): Promise<void> {
  const args = { transaction_id: transactionId, status };
  const change = await callFunction<StatusChange & { readonly is_new: boolean }>(
    trx,
    'write_present_status',
    args,
  );
  if (change.account_id === null) return;
  await collectWebhooks(
    trx,
    transactionId,
    change.is_new ? change : { ...change, account_id: null },
    pending,
  );
}

/**
 * Adds webhooks of a purchase or a funding that were never attempted: the process that wrote them may have
 * died.
 */
export async function findUnsent(
  trx: WorldDb,
  transactionId: string,
  pending: PendingMessages,
): Promise<void> {
  const rows = await trx
    .selectFrom('webhook_messages')
    .select(['id', 'account_id'])
    .where('subject', '=', transactionId)
    .where('status', '=', 'PENDING')
    .where('attempts', '=', 0)
    .execute();
  pending.accountId = rows[0]?.account_id ?? '';
  pending.ids.push(...rows.map((row) => row.id));
}
