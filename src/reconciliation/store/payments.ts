/** Payments, refunds and disputes as our books have them, in pages along an index. */
import { sql } from 'kysely';
import type { DisputedPayment, Moved, OurCharge, OurDispute, OurRefund } from '../payment-rules.ts';
import { attemptKeys } from '../../payments/store/refunds.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { findLines, type Slice, type Unlisted } from './lines.ts';

export type OurChargeRow = OurCharge & { readonly createdAt: Date };

/** What moved at the gateway under the reference, or a refund's key except for the refund itself. */
export async function findOurCharges(db: WorldDb, references: readonly string[]): Promise<OurChargeRow[]> {
  const { rows } = await sql<Omit<OurChargeRow, 'moved'> & (Moved | { readonly currency: null })>`
    select y.reference, y.transaction_id as "transactionId", y.charge_minor as "chargeMinor", y.charge_currency as "chargeCurrency",
           y.created_at as "createdAt", m.currency, m.received as "receivedMinor", m.taken_back as "takenBackMinor",
           max(m.moved_at) over (partition by y.reference) as "lastMovedAt"
      from payments y
      left join lateral (
        select e.currency, sum(greatest(-e.amount_minor, 0))::int8 as received, sum(greatest(e.amount_minor, 0))::int8 as taken_back,
               max(t.created_at) as moved_at
          from ledger_transactions t
          join ledger_entries e on e.ledger_transaction_id = t.id and e.ledger_account_id = 'gateway-clearing:' || y.gateway || ':' || e.currency
         where t.transaction_id = y.transaction_id and
           t.operation_key not like '%:done'
           and (split_part(t.operation_key, ':', 1) = y.reference
             or exists (select from refunds r where r.refund_key = split_part(t.operation_key, ':', 1) and r.reference = y.reference))
         group by e.currency
      ) m on true
     where y.reference = any(${references}::text[])
     order by y.reference, m.currency`.execute(db);
  return [...Map.groupBy(rows, (row) => row.reference).values()].map((all) => ({
    ...(all[0] as (typeof all)[number]),
    moved: all.filter((row) => row.currency !== null),
  }));
}

export interface OurRefundRow extends OurRefund {
  readonly gatewayRefundId: string | null;
  /** The keys of its attempts at the gateway, newest first. */
  readonly gatewayKeys: readonly string[];
  readonly sentAt: Date | null;
}

type StoredRefund = Omit<OurRefundRow, 'gatewayKeys'> & { readonly attempt: number };

const REFUND_COLUMNS = sql`
  r.refund_key as "refundKey", r.reference, r.transaction_id as "transactionId", r.status, r.currency, r.amount_minor as "amountMinor",
  r.gateway_refund_id as "gatewayRefundId", r.attempt, r.sent_at as "sentAt", coalesce(t.created_at, r.updated_at) as "lastMovedAt",
  coalesce((select sum(e.amount_minor) from ledger_entries e
    where e.ledger_transaction_id = t.id and e.ledger_account_id = 'gateway-clearing:' || r.gateway || ':' || r.currency), 0)::int8 as "bookedMinor"`;

function toOurRefund({ attempt, ...refund }: StoredRefund): OurRefundRow {
  return { ...refund, gatewayKeys: attemptKeys({ refund_key: refund.refundKey, attempt }) };
}

/** Refunds of these charges, or under these keys. */
export async function findOurRefunds(
  db: WorldDb,
  which: { readonly references: readonly string[]; readonly keys: readonly string[] },
): Promise<OurRefundRow[]> {
  const { rows } = await sql<StoredRefund>`
    select ${REFUND_COLUMNS}
      from refunds r left join ledger_transactions t on t.operation_key = r.refund_key || ':done'
     where r.refund_key = any(${which.keys}::text[])
        or r.transaction_id = any(array(select transaction_id from payments where reference = any(${which.references}::text[])))
     order by r.refund_key`.execute(db);
  return rows.map(toOurRefund);
}

/** Where the next page begins; times as Postgres writes them, to the microsecond. */
export interface Cursor {
  readonly at: string;
  readonly key: string;
}

type Page = Slice & { readonly after: Cursor | undefined; readonly limit: number };

const FROM_THE_START: Cursor = { at: '-infinity', key: '' };

/** References of payments opened within a time that brought money. */
export async function findUnlistedPayments(
  db: WorldDb,
  runId: bigint,
  { from, to, after = FROM_THE_START, limit }: Page,
): Promise<Unlisted<string, Cursor>> {
  const { rows } = await sql<Cursor>`
    select created_at::text as at, reference as key
      from payments
     where created_at >= ${from} and created_at < ${to}
       and (created_at, reference) > (${after.at}::timestamptz, ${after.key}) and has_money
     order by created_at, reference
     limit ${limit}`.execute(db);
  const references = rows.map((row) => row.key);
  const lines = await findLines(db, runId, { side: 'gateway', references });
  const listed = new Set(lines.filter((line) => line.part === 'charge').map((line) => line.reference));
  return { unlisted: references.filter((reference) => !listed.has(reference)), next: rows.at(-1) };
}

/** Refunds requested within a time that are booked as sent back. */
export async function findUnlistedRefunds(
  db: WorldDb,
  runId: bigint,
  { from, to, after = FROM_THE_START, limit }: Page,
): Promise<Unlisted<OurRefundRow, Cursor>> {
  const { rows } = await sql<StoredRefund & Cursor>`
    select ${REFUND_COLUMNS}, r.sent_at::text as at, r.refund_key as key
      from refunds r join ledger_transactions t on t.operation_key = r.refund_key || ':done'
     where r.sent_at >= ${from} and r.sent_at < ${to}
       and (r.sent_at, r.refund_key) > (${after.at}::timestamptz, ${after.key})
     order by r.sent_at, r.refund_key
     limit ${limit}`.execute(db);
  const refunds = rows.map(toOurRefund);
  const references = refunds.map((refund) => refund.reference);
  const lines = (await findLines(db, runId, { side: 'gateway', references })).filter(
    ({ part }) => part === 'refund',
  );
  const ids = new Set(lines.map((line) => line.line_id));
  const keys = new Set(lines.map((line) => line.refund_key));
  const isListed = ({ gatewayRefundId, gatewayKeys }: OurRefundRow): boolean =>
    ids.has(gatewayRefundId ?? '') || gatewayKeys.some((key) => keys.has(key));
  return { unlisted: refunds.filter((refund) => !isListed(refund)), next: rows.at(-1) };
}

/** Open, settled since, or settled otherwise than the gateway last said. */
export async function findDisputedReferences(db: WorldDb, since: Date): Promise<string[]> {
  const { rows } = await sql<{ reference: string }>`
    select distinct reference from disputes
     where settled_at is null or settled_at >= ${since} or gateway_state is distinct from lower(outcome)
     order by reference`.execute(db);
  return rows.map((row) => row.reference);
}

/** The payments among these references that are ours, with their disputes. */
export async function findOurDisputes(db: WorldDb, references: readonly string[]) {
  const { rows: payments } = await sql<DisputedPayment & { readonly openedAt: Date }>`
    select reference, transaction_id as "transactionId", charge_currency as currency,
           received_minor - reversed_minor as "heldMinor", created_at as "openedAt"
      from payments where reference = any(${references}::text[]) order by reference`.execute(db);
  const { rows: disputes } = await sql<OurDispute & { readonly reference: string }>`
    select reference, dispute_id as "disputeId", outcome, settled_at is not null as "isSettled",
           coalesce(settled_at, opened_at) as "lastMovedAt"
      from disputes where reference = any(${references}::text[]) order by opened_at`.execute(db);
  const disputesOf = Map.groupBy(disputes, (dispute) => dispute.reference);
  return payments.map((payment) => ({ ...payment, disputes: disputesOf.get(payment.reference) ?? [] }));
}
