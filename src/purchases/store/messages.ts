/**
 * A purchase's change of status, sent once per status as `esim.purchased`: the statement that makes the change also writes the event and its webhooks.
 */
import { sql, type RawBuilder } from 'kysely';
import { sealedQrCodeUrl, type PurchaseEventStatus } from '../../webhooks/event-rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { bodyOf, eventQueries, type PendingMessages } from '../../webhooks/store/messages.ts';

/** What the statement of a change returns. */
export interface StatusChange {
  readonly account_id: string;
  /** Whether this statement is the first to write its event. */
  readonly is_new: boolean;
  /** Messages to be sent; null for none. */
  readonly message_ids: string[] | null;
}

/** The parts of a statement that changes the status of a purchase and enqueues the webhook. */
interface StatusChangeQueries {
  /** The first query of the `with`, under the name that the caller gave. */
  readonly change: RawBuilder<unknown>;
  /** Queries of the `with` that write the event; after `change` and the query of `esims`. */
  readonly event: RawBuilder<unknown>;
  /** Select list, to which other columns may be added before it, and from clause. No row: nothing changed. */
  readonly result: RawBuilder<StatusChange>;
}

/**
 * `update` changes a row of `purchases`, without a returning clause. The query `name` has its row:
 * transaction_id, account_id, package_type, status, esim_id and the columns `returning`. `esims` names the
 * query of the same statement that changed the eSIM and returns id and iccid.
 */
export function statusChangeQueries(
  name: string,
  update: RawBuilder<unknown>,
  { esims, returning = [] }: { readonly esims?: string; readonly returning?: readonly string[] } = {},
): StatusChangeQueries {
  const columns = ['transaction_id', 'account_id', 'package_type', 'status', 'esim_id', ...returning];
  const { queries, result } = statusQueries(name, esims);
  return {
    change: sql`${sql.ref(name)} as (${update} returning ${sql.join(columns.map((column) => sql.ref(column)))})`,
    event: queries,
    result,
  };
}

const [SEALED_BEFORE = '', SEALED_AFTER = ''] = sealedQrCodeUrl(' ').split(' ');

/** Queries that write the event of a status. `changed` and `esims` name tables or queries; `which` chooses the purchase in a table. */
function statusQueries(
  changed: string,
  esims = 'esims',
  which: RawBuilder<boolean> = sql<boolean>`true`,
): { readonly queries: RawBuilder<unknown>; readonly result: RawBuilder<StatusChange> } {
  const purchase = sql.ref(changed);
  const sealed = sql<string>`${SEALED_BEFORE}::text || shown.id || ${SEALED_AFTER}::text`;
  const body = bodyOf(
    'esim.purchased',
    {
      transactionId: sql`${purchase}.transaction_id`,
      status: sql`${purchase}.status`,
      // Each null while there is no eSIM; a top-up has one from the beginning.
      esimId: sql`shown.id`,
      iccid: sql`shown.iccid`,
      qrCodeUrl: sql`case when shown.id is not null then ${sealed} end`,
    },
    sql<Date>`now()`,
  );
  const change = sql`
    select ${purchase}.account_id, 'esim.purchased' as event,
           'esim.purchased:' || ${purchase}.transaction_id || ':' || ${purchase}.status as event_key, ${purchase}.transaction_id as subject,
           ${body} as body, now() as at
      from ${purchase}
      left join ${sql.ref(esims)} shown on shown.id = ${purchase}.esim_id and (${purchase}.status = 'SUCCESS' or ${purchase}.package_type = 'TOPUP')
     where ${which}`;
  const { queries, happened, isNew, pendingIds } = eventQueries('esim.purchased', change, 'its account');
  const result = sql<StatusChange>`
    ${happened}.account_id, ${isNew} as is_new, ${pendingIds} as message_ids from ${happened}`;
  return { queries, result };
}

/** Hands a change's webhooks on. No change: the step was done before, and its unsent webhooks are handed on again. */
export async function collectWebhooks(
  trx: WorldDb,
  transactionId: string,
  change: StatusChange | undefined,
  pending: PendingMessages,
): Promise<void> {
  if (!change) return findUnsent(trx, transactionId, pending);
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
  const which = sql<boolean>`purchases.transaction_id = ${transactionId} and purchases.status = ${status}`;
  const { queries, result } = statusQueries('purchases', 'esims', which);
  const { rows } = await sql<StatusChange>`
    with ${queries} select ${result}`.execute(trx);
  const [change] = rows;
  if (change) await collectWebhooks(trx, transactionId, change.is_new ? change : undefined, pending);
}

/** Adds webhooks of a purchase or a funding that were never attempted: the process that wrote them may have died. */
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
