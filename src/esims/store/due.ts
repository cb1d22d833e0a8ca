/**
 * Which eSIMs the schedule asks about next: those that are overdue for longest, so that every eSIM gets its
 * turn.
 */
import { sql } from 'kysely';
import { CHECK_RETRY_MS, USAGE_RETRY_MS } from '../life-rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { MOVING, type EsimRow } from './esims.ts';

/** A call costs the same for ten eSIMs as for one: where fewer are due, it takes those that would be soon. */
const AHEAD_MS = 10 * 60_000;

interface DueLease {
  /** By its name. */
  readonly supplier: string;
  readonly now: Date;
  readonly limit: number;
}

/**
 * Leases eSIMs of a supplier whose usage is due, and returns its numbers of them. Only an answer moves the
 * due time. Without one an eSIM stays overdue, and is leased again once its retry time has passed. Concurrent
 * calls lease different ones.
 */
export async function leaseForUsage(db: WorldDb, { supplier, now, limit }: DueLease): Promise<string[]> {
  const askable = sql`${MOVING} and supplier = ${supplier} and ${notAskedSince('usage_asked_at', now, USAGE_RETRY_MS)}`;
  const { rows } = await sql<{ esim_tran_no: string }>`
    update esims set usage_asked_at = ${now}
     where id = any(array(
             select id from esims
              where ${askable} and next_usage_at <= ${new Date(now.getTime() + AHEAD_MS)}
                and (select next_usage_at from esims where ${askable} order by next_usage_at limit 1) <= ${now}
              order by next_usage_at limit ${limit} for update skip locked))
    returning esim_tran_no`.execute(db);
  return rows.map((row) => row.esim_tran_no);
}

/** The same for eSIMs that are due as a whole. */
export async function leaseForCheck(db: WorldDb, { supplier, now, limit }: DueLease): Promise<EsimRow[]> {
  const { rows } = await sql<EsimRow>`
    update esims set check_asked_at = ${now}
     where id = any(array(
             select id from esims
              where ${MOVING} and supplier = ${supplier} and next_check_at <= ${now} and ${notAskedSince('check_asked_at', now, CHECK_RETRY_MS)}
              order by next_check_at limit ${limit} for update skip locked))
    returning *`.execute(db);
  return rows;
}

/**
 * An answer clears the column. Those without one are few, because a run ends when the supplier does not
 * answer.
 */
function notAskedSince(column: 'usage_asked_at' | 'check_asked_at', now: Date, retryMs: number) {
  return sql`(${sql.ref(column)} is null or ${sql.ref(column)} <= ${new Date(now.getTime() - retryMs)})`;
}

/** Counting stops here: beyond it only the age says how bad it is. */
const MAX_COUNTED = 10_000;

export interface Overdue {
  readonly what: 'usage' | 'state';
  readonly count: number;
  readonly oldestSeconds: number;
}

/**
 * How many eSIMs are due and not answered about yet, up to 10,000, and for how long the oldest. Reads only.
 */
export async function readOverdue(db: WorldDb): Promise<Overdue[]> {
  const of = (what: Overdue['what'], column: 'next_usage_at' | 'next_check_at') => sql`
    select ${what}::text as what, count(*)::integer as count,
           coalesce(greatest(0, extract(epoch from clock_timestamp() - min(at))), 0)::float8 as "oldestSeconds"
      from (select ${sql.ref(column)} as at from esims where ${MOVING} and ${sql.ref(column)} <= clock_timestamp()
             order by ${sql.ref(column)} limit ${MAX_COUNTED}) due`;
  const { rows } = await sql<Overdue>`
    ${of('usage', 'next_usage_at')} union all ${of('state', 'next_check_at')}`.execute(db);
  return rows;
}
