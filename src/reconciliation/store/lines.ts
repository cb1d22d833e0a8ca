/**
 * What a run reads of the other sides, kept while it compares, so that its memory stays small however long the statement is; and what we have
 * of the same things. Every list is read in pages along an index. Must not write anything but the run's own lines.
 */
import { sql, type Insertable, type Selectable } from 'kysely';
import type { Moved, OurCharge, OurRefund } from '../payment-rules.ts';
import { attemptKeys } from '../../payments/store/refunds.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { ReconciliationLinesTable } from './tables.ts';

export type LineRow = Selectable<ReconciliationLinesTable>;
export type NewLine = Required<Omit<Insertable<ReconciliationLinesTable>, 'run_id'>>;
type Part = LineRow['part'];

export const GATEWAY_PARTS: readonly Part[] = ['charge', 'reversal', 'refund'];
export const SUPPLIER_PARTS: readonly Part[] = ['order'];

/** Keeps lines; one that was read before is as it was read last. */
export async function keepLines(db: WorldDb, runId: bigint, lines: readonly NewLine[]): Promise<void> {
  // The same line twice in one statement would be refused.
  const once = new Map(lines.map((line) => [`${line.part} ${line.reference} ${line.line_id}`, line]));
  if (once.size === 0) return;
  await sql`
    insert into reconciliation_lines (run_id, part, reference, line_id, currency, amount_minor, fees_minor, fees_on_top_minor, refund_key,
           package_code, is_refunded, opened_at, at)
    select ${runId}::bigint, line.* from jsonb_to_recordset(${JSON.stringify([...once.values()], digits)}::jsonb) as line (
           part text, reference text, line_id text, currency text, amount_minor bigint, fees_minor bigint, fees_on_top_minor bigint,
           refund_key text, package_code text, is_refunded boolean, opened_at timestamptz, at timestamptz)
    on conflict (run_id, reference, part, line_id) do update
       set currency = excluded.currency, amount_minor = excluded.amount_minor, fees_minor = excluded.fees_minor,
           fees_on_top_minor = excluded.fees_on_top_minor, refund_key = excluded.refund_key, package_code = excluded.package_code,
           is_refunded = excluded.is_refunded, opened_at = excluded.opened_at, at = excluded.at`.execute(db);
}

function digits(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/** References that a run has lines of, in order. */
export async function nextReferences(
  db: WorldDb,
  runId: bigint,
  page: { readonly parts: readonly Part[]; readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('reconciliation_lines')
    .select('reference')
    .distinct()
    .where('run_id', '=', runId)
    .where('part', 'in', [...page.parts])
    .where('reference', '>', page.after)
    .orderBy('reference')
    .limit(page.limit)
    .execute();
  return rows.map((row) => row.reference);
}

export function findLines(
  db: WorldDb,
  runId: bigint,
  which: { readonly parts: readonly Part[]; readonly references: readonly string[] },
): Promise<LineRow[]> {
  return db
    .selectFrom('reconciliation_lines')
    .selectAll()
    .where('run_id', '=', runId)
    .where('reference', '=', sql<string>`any(${[...which.references]}::text[])`)
    .where('part', 'in', [...which.parts])
    .orderBy('reference')
    .orderBy('part')
    .orderBy('line_id')
    .execute();
}

/** How many lines of each sort a run has. */
export async function countLines(db: WorldDb, runId: bigint): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('reconciliation_lines')
    .select(['part', (eb) => eb.fn.countAll<bigint>().as('count')])
    .where('run_id', '=', runId)
    .groupBy('part')
    .orderBy('part')
    .execute();
  return Object.fromEntries(rows.map(({ part, count }) => [`${part}s`, Number(count)]));
}

/** Forgets lines of runs that have ended, at most so many; answers how many. */
export async function dropLines(db: WorldDb, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from reconciliation_lines
     where ctid = any(array(
       select line.ctid from reconciliation_lines line
         join reconciliation_runs run on run.id = line.run_id and run.status <> 'RUNNING'
        limit ${limit}))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/**
 * Payments as the ledger has them. What moved on the gateway's account under a payment's reference counts, or under one of its refunds' keys
 * but for the refund itself; a dispute moves nothing at the gateway.
 */
export async function findOurCharges(
  db: WorldDb,
  references: readonly string[],
): Promise<(OurCharge & { readonly createdAt: Date })[]> {
  const { rows } = await sql<ChargeRow>`
    select y.reference, y.transaction_id, y.charge_minor, y.charge_currency, y.created_at, m.currency, m.received_minor,
           m.taken_back_minor, m.moved_at
      from payments y
      left join lateral (
        select e.currency, sum(greatest(-e.amount_minor, 0))::int8 as received_minor,
               sum(greatest(e.amount_minor, 0))::int8 as taken_back_minor, max(t.created_at) as moved_at
          from ledger_transactions t
          join ledger_entries e on e.ledger_transaction_id = t.id and e.ledger_account_id = 'gateway-clearing:' || e.currency
         where t.transaction_id = y.transaction_id and t.kind not in ('disputed', 'dispute-settled')
           and t.operation_key not like '%:done'
           and (split_part(t.operation_key, ':', 1) = y.reference
             or exists (select from refunds r where r.refund_key = split_part(t.operation_key, ':', 1) and r.reference = y.reference))
         group by e.currency
      ) m on true
     where y.reference = any(${[...references]}::text[])
     order by y.reference, m.currency`.execute(db);
  return [...Map.groupBy(rows, (row) => row.reference).values()].map(toOurCharge);
}

interface ChargeRow {
  readonly reference: string;
  readonly transaction_id: string;
  readonly charge_minor: bigint;
  readonly charge_currency: string;
  readonly created_at: Date;
  readonly currency: string | null;
  readonly received_minor: bigint | null;
  readonly taken_back_minor: bigint | null;
  readonly moved_at: Date | null;
}

function toOurCharge(rows: readonly ChargeRow[]): OurCharge & { readonly createdAt: Date } {
  const [first] = rows as [ChargeRow];
  const moved = rows.flatMap((row): Moved[] =>
    row.currency === null
      ? []
      : [
          {
            currency: row.currency,
            receivedMinor: row.received_minor ?? 0n,
            takenBackMinor: row.taken_back_minor ?? 0n,
          },
        ],
  );
  const movedAt = rows.flatMap((row) => row.moved_at ?? []);
  return {
    reference: first.reference,
    transactionId: first.transaction_id,
    chargeMinor: first.charge_minor,
    chargeCurrency: first.charge_currency,
    createdAt: first.created_at,
    moved,
    lastMovedAt: movedAt.length === 0 ? null : new Date(Math.max(...movedAt.map((at) => at.getTime()))),
  };
}

export interface OurRefundRow extends OurRefund {
  readonly gatewayRefundId: string | null;
  /** That its attempts go by at the gateway, the newest first. */
  readonly gatewayKeys: readonly string[];
  readonly askedAt: Date | null;
}

/** Refunds of these charges, or under these keys. */
export async function findOurRefunds(
  db: WorldDb,
  which: { readonly references: readonly string[]; readonly keys: readonly string[] },
): Promise<OurRefundRow[]> {
  const { rows } = await sql<RefundFactsRow>`
    select ${REFUND_COLUMNS}
      from refunds r left join ledger_transactions t on t.operation_key = r.refund_key || ':done'
     where r.refund_key = any(${[...which.keys]}::text[])
        or r.transaction_id = any(array(
             select transaction_id from payments where reference = any(${[...which.references]}::text[])))
     order by r.refund_key`.execute(db);
  return rows.map(toOurRefund);
}

const REFUND_COLUMNS = sql`
  r.refund_key, r.reference, r.transaction_id, r.status, r.currency, r.amount_minor, r.gateway_refund_id, r.attempt, r.asked_at,
  coalesce(t.created_at, r.updated_at) as moved_at,
  coalesce((select sum(e.amount_minor) from ledger_entries e
    where e.ledger_transaction_id = t.id and e.ledger_account_id = 'gateway-clearing:' || r.currency), 0)::int8 as booked_minor`;

interface RefundFactsRow {
  readonly refund_key: string;
  readonly reference: string;
  readonly transaction_id: string;
  readonly status: string;
  readonly currency: string;
  readonly amount_minor: bigint;
  readonly gateway_refund_id: string | null;
  readonly attempt: number;
  readonly asked_at: Date | null;
  readonly moved_at: Date;
  readonly booked_minor: bigint;
}

function toOurRefund(row: RefundFactsRow): OurRefundRow {
  return {
    refundKey: row.refund_key,
    reference: row.reference,
    transactionId: row.transaction_id,
    status: row.status,
    currency: row.currency,
    amountMinor: row.amount_minor,
    bookedMinor: row.booked_minor,
    lastMovedAt: row.moved_at,
    gatewayRefundId: row.gateway_refund_id,
    gatewayKeys: attemptKeys(row),
    askedAt: row.asked_at,
  };
}

export interface Slice {
  readonly from: Date;
  readonly to: Date;
}

/** Where the next page begins; times as Postgres writes them, to the microsecond. */
export interface Cursor {
  readonly at: string;
  readonly key: string;
}

export const FROM_THE_START: Cursor = { at: '-infinity', key: '' };

/** A page of our own rows: those that the run has no line of, and where the next page begins; undefined: there is none. */
export interface Unseen<T> {
  readonly unseen: readonly T[];
  readonly next: Cursor | undefined;
}

/** Of these references, the ones that a run has a line of. */
async function findListed(
  db: WorldDb,
  runId: bigint,
  part: Part,
  references: readonly string[],
): Promise<LineRow[]> {
  return references.length === 0 ? [] : findLines(db, runId, { parts: [part], references });
}

/** Payments opened within a time that brought money. */
export async function findUnseenPayments(
  db: WorldDb,
  runId: bigint,
  page: Slice & { readonly after: Cursor; readonly limit: number },
): Promise<Unseen<string>> {
  const { rows } = await sql<Cursor>`
    select created_at::text as at, reference as key
      from payments
     where created_at >= ${page.from} and created_at < ${page.to}
       and (created_at, reference) > (${page.after.at}::timestamptz, ${page.after.key}) and booked_minor > 0
     order by created_at, reference
     limit ${page.limit}`.execute(db);
  const references = rows.map((row) => row.key);
  const listed = await findListed(db, runId, 'charge', references);
  const seen = new Set(listed.map((line) => line.reference));
  return { unseen: references.filter((reference) => !seen.has(reference)), next: rows.at(-1) };
}

/** Refunds asked for within a time that are booked as sent back. */
export async function findUnseenRefunds(
  db: WorldDb,
  runId: bigint,
  page: Slice & { readonly after: Cursor; readonly limit: number },
): Promise<Unseen<OurRefundRow>> {
  const { rows } = await sql<RefundFactsRow & { readonly asked_text: string }>`
    select ${REFUND_COLUMNS}, r.asked_at::text as asked_text
      from refunds r join ledger_transactions t on t.operation_key = r.refund_key || ':done'
     where r.asked_at >= ${page.from} and r.asked_at < ${page.to}
       and (r.asked_at, r.refund_key) > (${page.after.at}::timestamptz, ${page.after.key})
     order by r.asked_at, r.refund_key
     limit ${page.limit}`.execute(db);
  const refunds = rows.map(toOurRefund);
  const lines = await findListed(
    db,
    runId,
    'refund',
    refunds.map((refund) => refund.reference),
  );
  const ids = new Set(lines.map((line) => line.line_id));
  const keys = new Set(lines.map((line) => line.refund_key));
  const last = rows.at(-1);
  return {
    unseen: refunds.filter(
      ({ gatewayRefundId, gatewayKeys }) =>
        !ids.has(gatewayRefundId ?? '') && !gatewayKeys.some((key) => keys.has(key)),
    ),
    next: last && { at: last.asked_text, key: last.refund_key },
  };
}
