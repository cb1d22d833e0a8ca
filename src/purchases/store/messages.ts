/**
 * The webhook of a purchase's change of status: `esim.purchased`, once per status. The statement that makes the change returns its facts and the
 * subscribers; where there are none, nothing more is read or written.
 */
import { sql, type RawBuilder } from 'kysely';
import type { PurchaseEventStatus } from '../../webhooks/rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { subscribers, enqueueWebhook, type PendingMessages } from '../../webhooks/store/messages.ts';

export interface ChangedPurchase {
  readonly account_id: string;
  readonly status: PurchaseEventStatus;
  /** Each null while there is no eSIM; a top-up has one from the beginning. */
  readonly changed_esim_id: string | null;
  readonly changed_iccid: string | null;
  readonly changed_qr_code_url: string | null;
  readonly subscriber_ids: string[] | null;
  readonly at: Date;
}

/** The columns that a change of `purchases` must return for `changesOf`. */
export const CHANGED = sql`transaction_id, account_id, package_type, status, esim_id`;

/**
 * Select list and from clause of ChangedPurchase. `changed` and `esims` name the tables, or the queries of the same statement that changed them and return
 * their rows.
 */
export function changesOf(changed: string, esims = 'esims'): RawBuilder<ChangedPurchase> {
  const purchase = sql.ref(changed);
  return sql`
    ${purchase}.account_id, ${purchase}.status, shown.id as changed_esim_id, shown.iccid as changed_iccid,
    shown.qr_code_url as changed_qr_code_url, now() as at,
    ${subscribers('esim.purchased', sql`${purchase}.account_id`)} as subscriber_ids
    from ${purchase}
    left join ${sql.ref(esims)} shown on shown.id = ${purchase}.esim_id and (${purchase}.status = 'SUCCESS' or ${purchase}.package_type = 'TOPUP')`;
}

/** Enqueues the webhooks of a change. No change: the step was done before, and its unsent webhooks are handed over again. */
export async function enqueuePurchaseStatus(
  trx: WorldDb,
  transactionId: string,
  change: ChangedPurchase | undefined,
  written: PendingMessages,
): Promise<void> {
  if (!change) return findUnsent(trx, transactionId, written);
  const { status, account_id: accountId, subscriber_ids: subscribers, at } = change;
  const { changed_esim_id: esimId, changed_iccid: iccid, changed_qr_code_url: qrCodeUrl } = change;
  const facts = { transactionId, status, esimId, iccid, qrCodeUrl };
  const key = `${transactionId}:${status}`;
  await enqueueWebhook(
    trx,
    { event: 'esim.purchased', key, subject: transactionId, accountId, subscribers, facts, at },
    written,
  );
}

/** Enqueues the webhooks of a status that the purchase has now. */
export async function enqueueStatus(
  trx: WorldDb,
  transactionId: string,
  status: PurchaseEventStatus,
  written: PendingMessages,
): Promise<void> {
  const { rows } = await sql<ChangedPurchase>`
    select ${changesOf('purchases')}
     where purchases.transaction_id = ${transactionId} and purchases.status = ${status}`.execute(trx);
  const [change] = rows;
  if (!change) return;
  await enqueuePurchaseStatus(trx, transactionId, change, written);
  if (written.ids.length === 0 && change.subscriber_ids !== null)
    await findUnsent(trx, transactionId, written);
}

/** Adds webhooks of a purchase or a funding that were never attempted: the process that wrote them may have died. */
export async function findUnsent(
  trx: WorldDb,
  transactionId: string,
  written: PendingMessages,
): Promise<void> {
  const rows = await trx
    .selectFrom('webhook_messages')
    .select(['id', 'account_id'])
    .where('subject', '=', transactionId)
    .where('status', '=', 'PENDING')
    .where('attempts', '=', 0)
    .execute();
  written.accountId = rows[0]?.account_id ?? '';
  written.ids.push(...rows.map((row) => row.id));
}
