/** Keeping the figures that statistics and my-esims read (docs/decisions/0056-kept-figures.md): adding deltas to sums, counting again, comparing. */
import { sql, type RawBuilder } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';

/** The function locks no purchase; folding and counting again hold this. */
const LOCK = sql`hashtextextended('figures of ' || current_schema(), 0)`;

/** Deltas of each kind in one transaction: some 0.3 s, most of it for the index that searches use. */
const BATCH = 1_000;

/** Adds deltas to the sums until none is left or `isOver`. Returns how many; 0 while another process does it. */
export async function foldFigures(db: WorldDb, isOver: () => boolean = () => false): Promise<number> {
  let folded = 0;
  for (;;) {
    const batch = await db.transaction().execute(foldBatch);
    folded += batch;
    if (batch === 0 || isOver()) return folded;
  }
}

/** The lock is a statement of its own: the next one sees what its last holder wrote. */
async function foldBatch(trx: WorldDb): Promise<number> {
  const lock = await sql<{ mine: boolean }>`select pg_try_advisory_xact_lock(${LOCK}) as mine`.execute(trx);
  if (!lock.rows[0]?.mine) return 0;
  const { rows } = await sql<{ folded: bigint }>`select fold_figures(${BATCH}) as folded`.execute(trx);
  return Number(rows[0]?.folded ?? 0n);
}

/** A million purchases take some ten seconds. */
const REBUILD_WITHIN_MS = 30 * 60_000;

/** Counts everything again and replaces the sums in one transaction, while purchases continue. */
export function rebuildFigures(db: WorldDb): Promise<void> {
  return db.connection().execute(async (connection) => {
    const within = sql.lit(`${REBUILD_WITHIN_MS}ms`);
    // Before the transaction: its snapshot must be of what the last holder of the lock left.
    await sql`select pg_advisory_lock(${LOCK})`.execute(connection);
    try {
      await connection
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (trx) => {
          await sql`set local statement_timeout = ${within}`.execute(trx);
          await sql`select rebuild_figures()`.execute(trx);
        });
    } finally {
      await sql`select pg_advisory_unlock(${LOCK})`.execute(connection);
    }
  });
}

export interface FigureDifference {
  readonly figure: string;
  readonly kept: object | null;
  readonly counted: object | null;
}

interface KeptFigure {
  readonly name: string;
  readonly kept: RawBuilder<unknown>;
  readonly counted: RawBuilder<unknown>;
  readonly key: string;
}

/** Each with its sums and deltas, and with its count from the rows; `key` identifies the figure. */
const KEPT: readonly KeptFigure[] = [
  {
    name: 'purchases',
    key: 'account_id, day, payment_method, status',
    kept: sql`select account_id, day, payment_method, status, sum(purchases)::bigint as purchases, sum(volume_bytes)::bigint as volume_bytes
                from purchase_figures group by 1, 2, 3, 4 having sum(purchases) <> 0 or sum(volume_bytes) <> 0`,
    counted: sql`select * from purchase_recount`,
  },
  {
    name: 'packages sold',
    key: 'day, package_code',
    kept: sql`select day, package_code, sum(purchases)::bigint as purchases from package_figures group by 1, 2 having sum(purchases) <> 0`,
    counted: sql`select * from package_recount`,
  },
  {
    name: 'spend',
    key: 'account_id, day, currency',
    kept: sql`select account_id, day, currency, sum(amount_minor)::bigint as amount_minor
                from spend_figures group by 1, 2, 3 having sum(amount_minor) <> 0`,
    counted: sql`select * from spend_recount where amount_minor <> 0`,
  },
  {
    name: 'eSIMs',
    key: 'account_id, day, status',
    kept: sql`select account_id, day, status, sum(esims)::bigint as esims, sum(used_bytes)::bigint as used_bytes
                from esim_figures group by 1, 2, 3 having sum(esims) <> 0 or sum(used_bytes) <> 0`,
    counted: sql`select * from esim_recount`,
  },
  {
    name: 'eSIMs by package name',
    key: 'account_id, package_name, status',
    kept: sql`select account_id, package_name, status, sum(esims)::bigint as esims
                from esim_name_figures group by 1, 2, 3 having sum(esims) <> 0`,
    counted: sql`select * from esim_name_recount`,
  },
  {
    name: 'eSIMs by their ids',
    key: 'esim_id',
    // A delta that is not folded yet says what a search reads from the eSIM itself.
    kept: sql`select * from esim_search where esim_id not in (select esim_id from esim_deltas where is_found_anew)`,
    counted: sql`select * from esim_search_recount where esim_id not in (select esim_id from esim_deltas where is_found_anew)`,
  },
];

/** A wrong figure is rarely alone: enough to see what kind they are of. */
const MAX_DIFFERENCES = 20;

/** Compares all in one snapshot, and changes nothing. At most 20 differences of each kind. */
export function findFigureDifferences(db: WorldDb): Promise<FigureDifference[]> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await sql`set local statement_timeout = ${sql.lit(`${REBUILD_WITHIN_MS}ms`)}`.execute(trx);
      const found: FigureDifference[] = [];
      for (const { name, key, kept, counted } of KEPT) {
        const { rows } = await sql<Omit<FigureDifference, 'figure'>>`
          with kept as (${kept}), counted as (${counted})
          select to_jsonb(kept) as kept, to_jsonb(counted) as counted from kept full join counted using (${sql.raw(key)})
           where kept is distinct from counted limit ${MAX_DIFFERENCES}`.execute(trx);
        found.push(...rows.map((row) => ({ figure: name, ...row })));
      }
      return found;
    });
}
