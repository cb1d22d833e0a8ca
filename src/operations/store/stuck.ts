/** Overdue rows, of one moment. Every branch reads an index of what is open, flagged or unapplied. */
import { sql, type RawBuilder } from 'kysely';
import { LIST_WINDOW_MS } from '../../payments/monitor-rules.ts';
import { DISPUTE_REASONS, type AttentionReason } from '../../domain/states.ts';
import { UNMATCHED_EVENT } from '../../payments/store/gateway-events.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { StuckLimits } from '../stuck-rules.ts';

export interface StuckRow {
  readonly source:
    | 'purchase'
    | 'funding'
    | 'hold'
    | 'refund'
    | 'inbox'
    | 'unmatched-event'
    | 'late-money'
    | 'unconfirmed'
    | 'message'
    | 'approval'
    | 'action';
  readonly transaction_id: string;
  readonly reason: string;
  readonly since: Date;
  readonly amount_minor: bigint | null;
  readonly currency: string | null;
}

interface StuckQuery {
  readonly now: Date;
  readonly limits: StuckLimits;
  readonly limit: number;
}

/** The longest stuck first. */
export async function findStuckRows(db: WorldDb, query: StuckQuery): Promise<StuckRow[]> {
  const branches = BRANCHES.map((branch) => branch(query));
  const stuck = sql.join(branches, sql` union all `);
  const { rows } = await sql<StuckRow>`
    select * from (${stuck}) stuck order by since, transaction_id limit ${query.limit}`.execute(db);
  return rows;
}

/** Open for longer than `limits.workflowMs`: each should have an open workflow under its id. */
export async function findOpenRows(db: WorldDb, query: StuckQuery): Promise<StuckRow[]> {
  const before = ago(query, 'workflowMs');
  const { rows } = await sql<StuckRow>`
    select 'purchase' as source, transaction_id, coalesce(attention_reason, status) as reason, updated_at as since,
           price_minor as amount_minor, currency
      from purchases where status in ('PENDING', 'PROCESSING') and created_at < ${before}
    union all
    select 'funding', transaction_id, coalesce(attention_reason, status), updated_at, amount_minor, currency
      from fundings where status = 'PENDING' and created_at < ${before}
     limit ${query.limit}`.execute(db);
  return rows;
}

/** Whose these are and since when, by id of a purchase, a funding, a hold or a message. */
export async function findOwners(db: WorldDb, ids: readonly string[]) {
  const { rows } = await sql<{ readonly id: string; readonly account_id: string; readonly opened_at: Date }>`
    select distinct on (id) id, account_id, opened_at from (
      select transaction_id as id, account_id, created_at as opened_at from purchases where transaction_id = any(${[...ids]})
      union all
      select transaction_id, account_id, created_at from fundings where transaction_id = any(${[...ids]})
      union all
      select id, account_id, created_at from holds where id = any(${[...ids]})
      union all
      select id, account_id, created_at from webhook_messages where id = any(${[...ids]})
    ) found order by id, opened_at`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Those of these purchases and fundings that are still open. */
export async function findStillOpen(db: WorldDb, transactionIds: readonly string[]): Promise<Set<string>> {
  const ids = [...transactionIds];
  const { rows } = await sql<{ transaction_id: string }>`
    select transaction_id from purchases where transaction_id = any(${ids}) and status in ('PENDING', 'PROCESSING')
    union all
    select transaction_id from fundings where transaction_id = any(${ids}) and status = 'PENDING'`.execute(
    db,
  );
  return new Set(rows.map((row) => row.transaction_id));
}

type Branch = (query: StuckQuery) => RawBuilder<StuckRow>;

/** The moment before which something is too old. Typed, since a parameter in a `case` has no type. */
const ago = ({ now, limits }: StuckQuery, limit: keyof StuckLimits): RawBuilder<Date> =>
  sql`${new Date(now.getTime() - limits[limit])}::timestamptz`;

const disputes = sql.join([...DISPUTE_REASONS]);

/** Needs attention. Refunds that do are listed as refunds. A dispute may be of a part. */
const flagged =
  (table: 'purchases' | 'fundings', amount: string): Branch =>
  () => sql<StuckRow>`
    select ${sql.lit(table === 'purchases' ? 'purchase' : 'funding')} as source, transaction_id, attention_reason as reason,
           needs_attention_since as since, coalesce(disputed.minor, ${sql.ref(amount)}) as amount_minor,
           coalesce(disputed.currency, flagged.currency) as currency
      from ${sql.table(table)} flagged cross join lateral (
        select sum(amount_minor)::int8 as minor, min(d.currency) as currency from disputes d
         where d.transaction_id = flagged.transaction_id and d.settled_at is null and attention_reason = 'PAYMENT_DISPUTED'
      ) disputed
     where needs_attention_since is not null and attention_reason not in ('REFUND_NEEDS_ATTENTION', 'REFUND_STUCK')`;

/** Paid, not delivered in time, and needs-attention is not set. */
const undelivered: Branch = (query) => sql<StuckRow>`
  select 'purchase', purchases.transaction_id, 'NOT_DELIVERED_IN_TIME', holds.created_at, price_minor, purchases.currency
    from purchases join holds on holds.id = purchases.transaction_id
   where purchases.status = 'PROCESSING' and holds.created_at < ${ago(query, 'deliverMs')}
     and (needs_attention_since is null or attention_reason in (${disputes}))`;

/** Paid and never ordered, which should take seconds. Reads each purchase's orders by index. */
const NEVER_ORDERED = sql<boolean>`
  purchases.status = 'PROCESSING'
  and coalesce((select max(attempts) from supplier_orders orders
                 where orders.transaction_id = purchases.transaction_id), 0) = 0`;

const notOrdered: Branch = (query) => sql<StuckRow>`
  select 'purchase', purchases.transaction_id, 'NOT_ORDERED_IN_TIME', holds.created_at, price_minor, purchases.currency
    from purchases join holds on holds.id = purchases.transaction_id
   where ${NEVER_ORDERED} and holds.status = 'HELD' and holds.created_at < ${ago(query, 'orderMs')} and holds.created_at >= ${ago(query, 'deliverMs')}
     and needs_attention_since is null`;

/** Paid for longer than `forMs` by the database's clock and never ordered, oldest first: to be woken. */
export async function findNeverOrdered(
  db: WorldDb,
  { forMs, limit }: { readonly forMs: number; readonly limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ transaction_id: string }>`
    select purchases.transaction_id from purchases join holds on holds.id = purchases.transaction_id
     where ${NEVER_ORDERED} and holds.status = 'HELD' and holds.created_at < clock_timestamp() - ${forMs} * interval '1 ms'
       and (attention_reason is null or attention_reason not in (${disputes}))
     order by holds.created_at limit ${limit}`.execute(db);
  return rows.map((row) => row.transaction_id);
}

/** Neither opened nor closed in time, and needs-attention is not set. */
const unpaid =
  (table: 'purchases' | 'fundings', amount: string): Branch =>
  (query) => sql<StuckRow>`
    select ${sql.lit(table === 'purchases' ? 'purchase' : 'funding')}, waiting.transaction_id,
           case when tries.can_be_paid then 'NOT_CLOSED_IN_TIME' else 'NOT_OPENED_IN_TIME' end,
           case when tries.can_be_paid then tries.expires_at else waiting.created_at end, waiting.${sql.ref(amount)}, waiting.currency
      from ${sql.table(table)} waiting cross join lateral (
        select max(expires_at) as expires_at, coalesce(bool_or(status in ('OPEN', 'CLOSED')), false) as can_be_paid
          from payments where payments.transaction_id = waiting.transaction_id
      ) tries
     where waiting.status = 'PENDING' and waiting.needs_attention_since is null
       and case when tries.can_be_paid then tries.expires_at < ${ago(query, 'closeUnpaidMs')}
           else waiting.created_at < ${ago(query, 'openChargeMs')} end`;

/** Held, and the purchase is closed or absent. */
const forgottenHolds: Branch = (query) => sql<StuckRow>`
  select 'hold', holds.id, 'PURCHASE_' || coalesce(purchases.status, 'ABSENT'), holds.created_at, amount_minor, holds.currency
    from holds left join purchases on purchases.transaction_id = holds.id
   where holds.status = 'HELD' and holds.created_at < ${ago(query, 'deliverMs')}
     and purchases.status is distinct from 'PROCESSING'`;

const refunds: Branch = (query) => sql<StuckRow>`
  select 'refund', transaction_id, status, created_at, amount_minor, currency
    from refunds
   where closed_at is null
     and created_at < case when status in ('NEEDS_ATTENTION', 'STUCK') then ${query.now}::timestamptz
                           when status = 'PENDING' then ${ago(query, 'sendRefundMs')}
                           else ${ago(query, 'askRefundMs')} end`;

const unappliedEvents: Branch = (query) => sql<StuckRow>`
  select 'inbox', coalesce(payments.transaction_id, 'event-' || gateway_events.id), upper(about), received_at,
         charge_minor, charge_currency
    from gateway_events left join payments on payments.reference = gateway_events.reference and payments.gateway = gateway_events.gateway
   where applied_at is null and received_at < ${ago(query, 'applyEventMs')}`;

const unmatchedEvents: Branch = () => sql<StuckRow>`
  select 'unmatched-event', 'event-' || id, concat_ws(', ', type, 'reference ' || reference, 'key ' || event_key), received_at,
         null::bigint, null
    from gateway_events
   where note = ${sql.lit(UNMATCHED_EVENT)} and about in ('charge', 'refund', 'dispute')`;

/** Its gateway window is overdue and it was not checked individually. Open purchases are listed as such. */
const unmonitored: Branch = (query) => sql<StuckRow>`
  select 'late-money', payments.transaction_id, 'NOT_CHECKED', greatest(expires_at, checked_at), charge_minor, charge_currency
    from gateway_windows
    join payments on created_at >= starts_at and created_at < starts_at + ${`${LIST_WINDOW_MS} milliseconds`}::interval
   where wanted_at < ${ago(query, 'checkLateMs')}
     and status in ('ASKED', 'OPEN') and not has_money and expires_at < ${query.now}
     and greatest(expires_at, checked_at) < ${ago(query, 'checkLateMs')}`;

/** Monitored for longer than money may be late: the sweep has not closed it. */
const neverClosed: Branch = (query) => sql<StuckRow>`
  select 'late-money', transaction_id, 'NOT_CLOSED', greatest(expires_at, checked_at), charge_minor, charge_currency
    from payments
   where status in ('ASKED', 'OPEN') and not has_money and expires_at < ${ago(query, 'monitorLateMs')}
     and greatest(expires_at, checked_at) < ${ago(query, 'checkLateMs')}`;

/** Booked on a person's word: the gateway reported less, or nothing in time. With what is missing. */
const unconfirmed: Branch = (query) => sql<StuckRow>`
  select 'unconfirmed', transaction_id, case when received_minor > 0 then 'LESS_REPORTED' else 'NOT_REPORTED' end,
         operator_actions.closed_at, vouched_minor, charge_currency
    from operator_actions join payments using (transaction_id)
   where action = 'mark-paid' and operator_actions.status = 'DONE' and vouched_minor > 0
     and (received_minor > 0 or operator_actions.closed_at < ${ago(query, 'confirmMs')})`;

/** Due, or given up and recoverable. Not to an endpoint that answered 410 or that its owner closed. */
const messages: Branch = (query) => sql<StuckRow>`
  select 'message', coalesce(message.subject, message.id), 'MESSAGE_' || message.status,
         coalesce(message.next_attempt_at, message.closed_at), purchases.price_minor, purchases.currency
    from webhook_messages message
    join webhook_endpoints endpoint on endpoint.id = message.endpoint_id
    left join purchases on purchases.transaction_id = message.subject
   where ((message.status = 'PENDING' and message.next_attempt_at < ${ago(query, 'sendMessageMs')})
       or (message.status = 'FAILED' and message.closed_at >= ${ago(query, 'recoverMessageMs')}))
     and endpoint.deleted_at is null and coalesce(endpoint.disabled_reason, 'FAILING') = 'FAILING'`;

const approvals: Branch = (query) => sql<StuckRow>`
  select 'approval', operator_actions.transaction_id, action, operator_actions.created_at,
         coalesce(amount_minor, price_minor), coalesce(operator_actions.currency, purchases.currency)
    from operator_actions left join purchases on purchases.transaction_id = operator_actions.transaction_id
   where operator_actions.status = 'WAITS_FOR_APPROVAL' and operator_actions.expires_at > ${query.now}`;

const unfinishedActions: Branch = (query) => sql<StuckRow>`
  select 'action', transaction_id, action, created_at, amount_minor, currency
    from operator_actions
   where status in ('BEGUN', 'APPROVED') and created_at < ${ago(query, 'finishActionMs')}`;

/** Open for long, and its step has not asked for a person: it fails, or no worker serves its supplier. */
const notFollowed =
  (table: 'returns' | 'replacements', reason: AttentionReason, isOpen: RawBuilder<unknown>): Branch =>
  (query) => sql<StuckRow>`
    select 'purchase', transaction_id, ${sql.lit(reason)}, one.created_at, one.price_minor, one.currency
      from ${sql.table(table)} one join purchases using (transaction_id)
     where ${isOpen} and one.created_at < ${ago(query, 'deliverMs')}
       and attention_reason is distinct from ${sql.lit(reason)}`;

const notReturned = notFollowed('returns', 'RETURN_NEEDS_REVIEW', sql`state in ('PENDING', 'NEEDS_REVIEW')`);
/** While the new eSIM is ordered, its own purchase is listed. */
const notReplaced = notFollowed(
  'replacements',
  'REPLACEMENT_NEEDS_REVIEW',
  sql`one.closed_at is null and not exists (
    select from purchases new where new.transaction_id = new_transaction_id and new.status = 'PROCESSING')`,
);

const BRANCHES: readonly Branch[] = [
  flagged('purchases', 'price_minor'),
  flagged('fundings', 'amount_minor'),
  undelivered,
  notOrdered,
  unpaid('purchases', 'price_minor'),
  unpaid('fundings', 'amount_minor'),
  forgottenHolds,
  refunds,
  unappliedEvents,
  unmatchedEvents,
  unmonitored,
  neverClosed,
  unconfirmed,
  messages,
  approvals,
  unfinishedActions,
  notReturned,
  notReplaced,
];
