/** What returns and replacements share: rows that a workflow follows step by step until they have ended. */
import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { PageQuery } from '../../domain/page.ts';
import type { AttentionReason, PurchaseEvent } from '../../domain/states.ts';
import type { EsimRequest } from '../../esims/port.ts';
import { lockPurchase } from '../../payments/store/lock-order.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { ReplacementsTable, ReturnsTable } from './tables.ts';

interface Tables {
  readonly returns: ReturnsTable;
  readonly replacements: ReplacementsTable;
}

type Table = keyof Tables;

interface Followed {
  readonly id: string;
  readonly transaction_id: string;
}

/** How the supplier is asked about its eSIM: nothing else of the row is sent. */
export const esimOf = (row: { readonly esimTranNo: string; readonly account_id: string }): EsimRequest => ({
  esimTranNo: row.esimTranNo,
  accountId: row.account_id,
});

/** A step may still move it on. The money of a cancelled return is on its way without one. */
const IS_OPEN = {
  returns: sql<boolean>`state in ('PENDING', 'NEEDS_REVIEW')`,
  replacements: sql<boolean>`closed_at is null`,
};

/** A person can decide it. */
const WAITS_FOR_PERSON = {
  returns: sql<boolean>`state = 'NEEDS_REVIEW'`,
  replacements: sql<boolean>`state in ('NEEDS_REVIEW', 'RETIRING')`,
};

const REVIEW = {
  returns: { reason: 'RETURN_NEEDS_REVIEW', event: 'return-needs-review' },
  replacements: { reason: 'REPLACEMENT_NEEDS_REVIEW', event: 'replacement-needs-review' },
} as const satisfies Record<Table, { readonly reason: AttentionReason; readonly event: PurchaseEvent }>;

export interface RequestedQuery<State> extends PageQuery {
  readonly state?: State | undefined;
  readonly esimId?: string | undefined;
  /** Includes `from`, excludes `to`. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** The rows that a list asks for. `ofEsim`: the columns that may name its eSIM. */
export function requested(
  accountId: string,
  { state, esimId, from, to }: RequestedQuery<string>,
  ofEsim: readonly string[],
): RawBuilder<boolean> {
  const wanted = [
    sql`account_id = ${accountId}`,
    ...(state === undefined ? [] : [sql`state = ${state}`]),
    ...(esimId === undefined ? [] : [sql`${esimId} in (${sql.join(ofEsim.map((name) => sql.ref(name)))})`]),
    ...(from === undefined ? [] : [sql`created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`created_at < ${to}`]),
  ];
  return sql<boolean>`${sql.join(wanted, sql` and `)}`;
}

/** When it is to be checked next, so that a sweep finds what no workflow follows. */
export async function schedule(db: WorldDb, table: Table, id: string, waitMs: number): Promise<void> {
  await sql`
    update ${sql.table(table)} set next_check_at = clock_timestamp() + ${Math.trunc(waitMs)} * interval '1 ms'
     where id = ${id} and ${IS_OPEN[table]}`.execute(db);
}

/** Those whose check is overdue; the next sweep leaves them alone for as long. */
export async function leaseOverdue<T extends Table>(
  db: WorldDb,
  table: T,
  { forMs, limit }: { readonly forMs: number; readonly limit: number },
): Promise<Selectable<Tables[T]>[]> {
  const { rows } = await sql<Selectable<Tables[T]>>`
    update ${sql.table(table)} set next_check_at = clock_timestamp()
     where id = any(array(
             select id from ${sql.table(table)}
              where ${IS_OPEN[table]} and next_check_at < clock_timestamp() - ${forMs} * interval '1 ms'
              order by next_check_at limit ${limit} for update skip locked))
    returning *`.execute(db);
  return rows;
}

/**
 * A person is to decide: the purchase is flagged for the stuck list, as soon as it is flagged for nothing
 * else. Whether it was not before.
 */
export function markForReview(db: WorldDb, table: Table, { id, transaction_id }: Followed): Promise<boolean> {
  const { reason, event } = REVIEW[table];
  return inTransaction(db, async (trx) => {
    await lockPurchase(trx, transaction_id);
    const first = await sql`
      update ${sql.table(table)} set state = 'NEEDS_REVIEW' where id = ${id} and state = 'PENDING'`.execute(
      trx,
    );
    const flagged = await sql`
      update purchases set needs_attention_since = clock_timestamp(), attention_reason = ${reason}, updated_at = now()
       where transaction_id = ${transaction_id} and needs_attention_since is null
         and exists (select from ${sql.table(table)} where id = ${id} and ${WAITS_FOR_PERSON[table]})`.execute(
      trx,
    );
    if (first.numAffectedRows === 1n || flagged.numAffectedRows === 1n)
      await addEvent(trx, transaction_id, event, id);
    return flagged.numAffectedRows === 1n;
  });
}

/** It has ended: no person needs to look for its sake. */
export async function unflag(trx: WorldDb, table: Table, transactionId: string): Promise<void> {
  await sql`
    update purchases set needs_attention_since = null, attention_reason = null, updated_at = now()
     where transaction_id = ${transactionId} and attention_reason = ${REVIEW[table].reason}`.execute(trx);
}

export const addEvent = (trx: WorldDb, transaction_id: string, what: PurchaseEvent, detail: string) =>
  trx.insertInto('purchase_events').values({ transaction_id, what, detail }).execute();
