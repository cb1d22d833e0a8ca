/** What a run reads of the vendors' lists, kept so that its memory stays small. */
import { sql, type Insertable, type Selectable } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { ReconciliationLinesTable } from './tables.ts';

export type LineRow = Selectable<ReconciliationLinesTable>;
export type NewLine = Required<Omit<Insertable<ReconciliationLinesTable>, 'run_id'>>;

export interface Slice {
  readonly from: Date;
  readonly to: Date;
}

/** A vendor. A payment's reference may also be a purchase's id, so subjects are distinguished by side. */
export type Side = 'gateway' | 'supplier';

/** Rows that the run has no line of, and where the next page begins; undefined: this was the last. */
export interface Unlisted<Row, Cursor> {
  readonly unlisted: readonly Row[];
  readonly next: Cursor | undefined;
}

const PARTS: Readonly<Record<Side, readonly LineRow['part'][]>> = {
  gateway: ['charge', 'reversal', 'refund'],
  supplier: ['order'],
};

/** Stores lines; one that was read before is replaced. */
export async function keepLines(db: WorldDb, runId: bigint, lines: readonly NewLine[]): Promise<void> {
  // The same line twice in one statement would be refused.
  const once = new Map(lines.map((line) => [`${line.part} ${line.reference} ${line.line_id}`, line]));
  if (once.size === 0) return;
  await sql`
    insert into reconciliation_lines (run_id, part, reference, line_id, currency, amount_minor, fees_minor, fees_on_top_minor, refund_key,
           package_code, is_refunded, opened_at, at)
    select ${runId}::bigint, line.* from jsonb_to_recordset(${toJson([...once.values()])}::jsonb) as line (
           part text, reference text, line_id text, currency text, amount_minor bigint, fees_minor bigint, fees_on_top_minor bigint,
           refund_key text, package_code text, is_refunded boolean, opened_at timestamptz, at timestamptz)
    on conflict (run_id, reference, part, line_id) do update
       set currency = excluded.currency, amount_minor = excluded.amount_minor, fees_minor = excluded.fees_minor,
           fees_on_top_minor = excluded.fees_on_top_minor, refund_key = excluded.refund_key, package_code = excluded.package_code,
           is_refunded = excluded.is_refunded, opened_at = excluded.opened_at, at = excluded.at`.execute(db);
}

/** For jsonb_to_recordset: a bigint becomes its digits. */
export const toJson = (rows: readonly object[]): string =>
  JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

/** References that a run has lines of, in order. */
export async function nextReferences(
  db: WorldDb,
  runId: bigint,
  page: { readonly side: Side; readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('reconciliation_lines')
    .select('reference')
    .distinct()
    .where('run_id', '=', runId)
    .where('part', 'in', PARTS[page.side])
    .where('reference', '>', page.after)
    .orderBy('reference')
    .limit(page.limit)
    .execute();
  return rows.map((row) => row.reference);
}

/** The lines of a run with these references, of one side. */
export function findLines(
  db: WorldDb,
  runId: bigint,
  which: { readonly side: Side; readonly references: readonly string[] },
): Promise<LineRow[]> {
  return db
    .selectFrom('reconciliation_lines')
    .selectAll()
    .where('run_id', '=', runId)
    .where('reference', '=', sql<string>`any(${which.references}::text[])`)
    .where('part', 'in', PARTS[which.side])
    .orderBy('reference')
    .orderBy('part')
    .orderBy('line_id')
    .execute();
}

/** How many lines of each part a run has. */
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

/** Deletes up to `limit` lines of runs that have ended; returns how many. */
export async function dropLines(db: WorldDb, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from reconciliation_lines
     where ctid = any(array(
       select line.ctid from reconciliation_lines line
         join reconciliation_runs run on run.id = line.run_id and run.status <> 'RUNNING'
        limit ${limit}))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
