/** Install data is secret and never logged. */
import { sql, type Selectable } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { EsimsTable } from './tables.ts';

export type EsimRow = Selectable<EsimsTable>;

export function findEsim(db: WorldDb, id: string): Promise<EsimRow | undefined> {
  return db.selectFrom('esims').selectAll().where('id', '=', id).executeTakeFirst();
}

/** By its supplier's number of it, which is never given to another. */
export function findEsimByTranNo(
  db: WorldDb,
  supplier: string,
  esimTranNo: string,
): Promise<EsimRow | undefined> {
  return db
    .selectFrom('esims')
    .selectAll()
    .where('esim_tran_no', '=', esimTranNo)
    .where('supplier', '=', supplier)
    .executeTakeFirst();
}

/** By our id of an order at the supplier; one that was made again has `-2` behind the purchase's. */
export async function findEsimByTransaction(
  db: WorldDb,
  supplierIds: readonly string[],
): Promise<EsimRow | undefined> {
  const ids = supplierIds.flatMap((id) => [id, id.replace(/-2$/, '')]);
  if (ids.length === 0) return undefined;
  return db.selectFrom('esims').selectAll().where('transaction_id', 'in', ids).executeTakeFirst();
}

/** As in migrations/world/baseline/esims.ts, literally. */
export const MOVING = sql.raw<boolean>("status in ('CREATED', 'ACTIVE', 'SUSPENDED') and esim_tran_no <> ''");

/** An account's eSIMs that may have changed at the supplier, stalest first. */
export function findStaleEsims(
  db: WorldDb,
  which: { accountId: string; before: Date; limit: number },
): Promise<EsimRow[]> {
  return db
    .selectFrom('esims')
    .selectAll()
    .where('account_id', '=', which.accountId)
    .where(MOVING)
    .where('checked_at', '<', which.before)
    .orderBy('checked_at')
    .limit(which.limit)
    .execute();
}

/**
 * When the oldest usage figure of an account was true at the supplier, among eSIMs that may still change;
 * null where there are none.
 */
export async function findOldestUsage(db: WorldDb, accountId: string): Promise<Date | null> {
  const asOf = sql<Date | null>`coalesce(usage_as_of, checked_at)`;
  const row = await db
    .selectFrom('esims')
    .select(asOf.as('asOf'))
    .where('account_id', '=', accountId)
    .where(MOVING)
    .orderBy(asOf)
    .limit(1)
    .executeTakeFirst();
  return row?.asOf ?? null;
}
