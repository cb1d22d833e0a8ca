/**
 * What a purchase's change of status tells its merchant: `esim.purchased`, once a status. The statement that makes the change answers the
 * facts and who listens; where nobody does, nothing more is asked or written.
 */
import { sql, type RawBuilder } from 'kysely';
import type { PurchaseEventStatus } from '../../webhooks/rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { subscribers, enqueueWebhook, type PendingMessages } from '../../webhooks/store/messages.ts';

export interface ChangedPurchase {
  readonly account_id: string;
  readonly status: PurchaseEventStatus;
  /** Each null while there is no eSIM; a top-up has one from the beginning. */
  readonly told_esim_id: string | null;
  readonly told_iccid: string | null;
  readonly told_qr_code_url: string | null;
  readonly listeners: string[] | null;
  readonly at: Date;
}

/** What a change of `purchases` returns, for `changesOf` to be read from. */
export const CHANGED = sql`transaction_id, account_id, package_type, status, esim_id`;

/**
 * Select list and from clause: rows of ChangedPurchase from `purchases`, or from what a change of it returned; eSIMs likewise, where the same
 * statement changes them.
 */
export function changesOf(changed: string, esims = 'esims'): RawBuilder<ChangedPurchase> {
  const purchase = sql.ref(changed);
  return sql`
    ${purchase}.account_id, ${purchase}.status, goods.id as told_esim_id, goods.iccid as told_iccid,
    goods.qr_code_url as told_qr_code_url, now() as at,
    ${subscribers('esim.purchased', sql`${purchase}.account_id`)} as listeners
    from ${purchase}
    left join ${sql.ref(esims)} goods on goods.id = ${purchase}.esim_id and (${purchase}.status = 'SUCCESS' or ${purchase}.package_type = 'TOPUP')`;
}

/** Writes the messages of a change. None where the step was done before: then those that it wrote are handed over once more. */
export async function enqueuePurchaseStatus(
  trx: WorldDb,
  transactionId: string,
  change: ChangedPurchase | undefined,
  written: PendingMessages,
): Promise<void> {
  if (!change) {
    await findUnsent(trx, transactionId, written);
    return;
  }
  await enqueueWebhook(
    trx,
    {
      event: 'esim.purchased',
      key: `${transactionId}:${change.status}`,
      subject: transactionId,
      accountId: change.account_id,
      subscribers: change.listeners,
      facts: {
        transactionId,
        status: change.status,
        esimId: change.told_esim_id,
        iccid: change.told_iccid,
        qrCodeUrl: change.told_qr_code_url,
      },
      at: change.at,
    },
    written,
  );
}

/** Tells how a purchase stands, if it stands so. */
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
  if (written.ids.length === 0 && change.listeners !== null) await findUnsent(trx, transactionId, written);
}

/** Messages about a purchase or a funding that nobody has tried to send yet: the process that wrote them may have died. */
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
