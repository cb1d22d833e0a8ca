import { isDeepStrictEqual } from 'node:util';
import { sql, type Insertable, type Selectable } from 'kysely';
import { formatAmount } from '../../domain/money.ts';
import type { SupplierCatalogue } from '../port.ts';
import type { CataloguePackage, Region } from '../rules.ts';
import { inTransaction, lockByName } from '../../platform/database/transactions.ts';
import { writeWorldAudit } from '../../accounts/store/audit.ts';
import type { CostUsdE4 } from '../pricing.ts';
import { bumpRevision } from './revisions.ts';
import { recordVersions, soldFields, type PackageChange } from './versions.ts';
import { countAndOldest } from '../../platform/database/summary.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { PackagesTable, RegionsTable } from './tables.ts';

export interface StoredPackage extends CataloguePackage {
  readonly supplier: string;
  readonly withdrawn: boolean;
}

/** Rows of one insert: 20 columns each, well under Postgres's 65,535 parameters. */
const CHUNK = 500;

/**
 * Regions and BASE packages. Includes withdrawn packages, so that callers can tell them from unknown ones.
 */
export async function readCatalogue(db: WorldDb): Promise<{ regions: Region[]; packages: StoredPackage[] }> {
  const regions = await db
    .selectFrom('regions')
    .select(['region_code as regionCode', 'region_name as regionName', 'region_type as regionType'])
    .select(['country_code as countryCode', 'flag_url as flagUrl'])
    .where('withdrawn_at', 'is', null)
    .orderBy('region_name')
    .execute();
  const packages = await db
    .selectFrom('packages')
    .selectAll()
    .where('package_type', '=', 'BASE')
    .orderBy('region_code')
    .orderBy('volume_bytes')
    .orderBy('duration')
    .orderBy('package_code')
    .execute();
  return { regions, packages: packages.map(toPackage) };
}

/** Every package on sale, top-ups included, with what its price is made of. */
export async function readCosts(
  db: WorldDb,
): Promise<Pick<CataloguePackage, 'packageCode' | 'name' | 'packageType' | 'cost'>[]> {
  return db
    .selectFrom('packages')
    .select(['package_code as packageCode', 'name', 'package_type as packageType', 'cost_usd_e4 as cost'])
    .where('withdrawn_at', 'is', null)
    .orderBy('package_code')
    .execute();
}

/** The last list that the supplier gave for a BASE package; undefined when it was never fetched. */
export async function readTopUps(
  db: WorldDb,
  packageCode: string,
): Promise<{ checkedAt: Date; packages: StoredPackage[] } | undefined> {
  const fetched = await db
    .selectFrom('package_top_up_checks')
    .select('checked_at')
    .where('package_code', '=', packageCode)
    .executeTakeFirst();
  if (!fetched) return undefined;
  const rows = await db
    .selectFrom('package_top_ups')
    .innerJoin('packages', 'packages.package_code', 'package_top_ups.top_up_code')
    .selectAll('packages')
    .where('package_top_ups.package_code', '=', packageCode)
    .orderBy('package_top_ups.position')
    .execute();
  return { checkedAt: fetched.checked_at, packages: rows.map(toPackage) };
}

/** A top-up from any stored list, whatever its code looks like. */
export async function findTopUpPackage(db: WorldDb, code: string): Promise<StoredPackage | undefined> {
  const row = await db
    .selectFrom('packages')
    .selectAll()
    .where('package_code', '=', code)
    .where('package_type', '=', 'TOPUP')
    .where('withdrawn_at', 'is', null)
    .executeTakeFirst();
  return row && toPackage(row);
}

/** Whether a price is too far from the last one to be sold at before a person has seen it. */
export type IsCostJump = (last: CostUsdE4, cost: CostUsdE4) => boolean;

const NEVER: IsCostJump = () => false;

/** Replaces the stored top-ups of one BASE package by those listed now, and returns them as kept. */
export async function replaceTopUps(
  db: WorldDb,
  packageCode: string,
  listed: readonly CataloguePackage[],
  now: Date,
  isJump: IsCostJump = NEVER,
): Promise<readonly CataloguePackage[]> {
  return db.transaction().execute(async (trx) => {
    await lockCatalogue(trx);
    const { supplier } = await trx
      .selectFrom('packages')
      .select('supplier')
      .where('package_code', '=', packageCode)
      .executeTakeFirstOrThrow();
    const topUps = await holdJumps(trx, withoutDuplicates(listed), now, isJump);
    await writePackages(trx, topUps, supplier);
    await recordVersions(
      trx,
      now,
      topUps.map((topUp) => topUp.packageCode),
    );
    await trx.deleteFrom('package_top_ups').where('package_code', '=', packageCode).execute();
    if (topUps.length > 0) {
      await trx
        .insertInto('package_top_ups')
        .values(
          topUps.map((topUp, position) => ({
            package_code: packageCode,
            top_up_code: topUp.packageCode,
            position,
          })),
        )
        .execute();
    }
    await trx
      .insertInto('package_top_up_checks')
      .values({ package_code: packageCode, checked_at: now })
      .onConflict((conflict) => conflict.column('package_code').doUpdateSet({ checked_at: now }))
      .execute();
    return topUps;
  });
}

/** Called with the changes, in their transaction: for webhooks. */
export type Announce = (trx: WorldDb, changes: readonly PackageChange[]) => Promise<void>;

/**
 * Stores a supplier's whole catalogue. What it no longer lists is withdrawn, not removed. A price that jumps
 * is held, and the package keeps its last one. `held`: how many are.
 */
export async function replaceCatalogue(
  db: WorldDb,
  catalogue: SupplierCatalogue,
  now: Date,
  announce: Announce = () => Promise.resolve(),
  isJump: IsCostJump = NEVER,
) {
  return db.transaction().execute(async (trx) => {
    await lockCatalogue(trx);
    const regionsChanged = await writeRegions(trx, catalogue.regions, now);
    const listed = withoutDuplicates(catalogue.packages);
    const packages = await holdJumps(trx, listed, now, isJump);
    const written = await writePackages(trx, packages, catalogue.supplier);
    const withdrawn = await withdrawMissing(trx, { ...catalogue, packages }, now);
    // An unchanged catalogue must not empty every process's caches.
    if (written.added + written.changed + written.repriced + withdrawn + regionsChanged > 0)
      await bumpRevision(trx, 'catalogue');
    await announce(trx, await recordVersions(trx, now));
    return { ...written, withdrawn, held: listed.filter((item, at) => packages[at] !== item).length };
  });
}

/** BASE packages on sale now. */
export async function countPackages(db: WorldDb): Promise<number> {
  const row = await db
    .selectFrom('packages')
    .select((eb) => eb.fn.countAll<bigint>().as('total'))
    .where('package_type', '=', 'BASE')
    .where('withdrawn_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(row.total);
}

/** One writer of packages at a time: several lists name the same top-ups. */
const lockCatalogue = (trx: WorldDb): Promise<void> => lockByName(trx, 'catalogue');

/**
 * The packages as they may be sold: one whose price jumps keeps its last price, and the new one is held until
 * a person confirms it, or the supplier lists one that is near. An order at the last price cannot lose money:
 * the supplier refuses it if its price is another.
 */
async function holdJumps(
  trx: WorldDb,
  listed: readonly CataloguePackage[],
  now: Date,
  isJump: IsCostJump,
): Promise<CataloguePackage[]> {
  const codes = listed.map((item) => item.packageCode);
  const rows = await trx
    .selectFrom('packages')
    .leftJoin('held_costs as held', 'held.package_code', 'packages.package_code')
    .select(['packages.package_code', 'packages.cost_usd_e4 as cost', 'held.cost_usd_e4 as held_cost'])
    .where((eb) => eb('packages.package_code', '=', eb.fn.any(sql<string[]>`${codes}::text[]`)))
    .execute();
  const known = new Map(rows.map((row) => [row.package_code, row]));
  const jumps = listed.filter(({ packageCode, cost }) => {
    const last = known.get(packageCode)?.cost;
    return last !== undefined && isJump(last, cost);
  });
  const isHeld = new Set(jumps.map((item) => item.packageCode));
  const isNew = (item: CataloguePackage) => known.get(item.packageCode)?.held_cost !== item.cost;
  const over = rows.filter((row) => row.held_cost !== null && !isHeld.has(row.package_code));
  const replaced = [
    ...over.map((row) => row.package_code),
    ...jumps.filter(isNew).map((it) => it.packageCode),
  ];
  if (replaced.length > 0) await trx.deleteFrom('held_costs').where('package_code', 'in', replaced).execute();
  const held = jumps
    .filter(isNew)
    .map((item) => ({ package_code: item.packageCode, cost_usd_e4: item.cost, held_since: now }));
  for (let from = 0; from < held.length; from += CHUNK)
    await trx
      .insertInto('held_costs')
      .values(held.slice(from, from + CHUNK))
      .execute();
  return listed.map((item) =>
    isHeld.has(item.packageCode) ? { ...item, cost: known.get(item.packageCode)?.cost ?? item.cost } : item,
  );
}

/** Prices of the supplier that await a person, those held longest first. */
export const findHeldCosts = (db: WorldDb, limit: number) =>
  db
    .selectFrom('held_costs as held')
    .innerJoin('packages', 'packages.package_code', 'held.package_code')
    .select(['held.id as holdId', 'held.package_code as packageCode', 'packages.name', 'packages.supplier'])
    .select(['packages.cost_usd_e4 as cost', 'held.cost_usd_e4 as heldCost', 'held.held_since as since'])
    .orderBy('held.id')
    .limit(limit)
    .execute();

/** How many prices of the supplier are held, and since when the first is; null: none. */
export const summariseHeldCosts = (db: WorldDb) =>
  db.selectFrom('held_costs').select(countAndOldest('held_since')).executeTakeFirstOrThrow();

/** The held price counts from now on. undefined: nothing with this id is held (any more). */
export function confirmHeldCost(
  db: WorldDb,
  {
    id,
    by,
    reason,
    now,
  }: { readonly id: bigint; readonly by: string; readonly reason: string; readonly now: Date },
  announce: Announce,
): Promise<'confirmed' | undefined> {
  return inTransaction(db, async (trx) => {
    await lockCatalogue(trx);
    const held = await trx.deleteFrom('held_costs').where('id', '=', id).returningAll().executeTakeFirst();
    if (!held) return undefined;
    const { package_code: code, cost_usd_e4: cost } = held;
    const before = await trx
      .selectFrom('packages')
      .select('cost_usd_e4')
      .where('package_code', '=', code)
      .executeTakeFirstOrThrow();
    await trx.updateTable('packages').set({ cost_usd_e4: cost }).where('package_code', '=', code).execute();
    const usd = (amountMinor: CostUsdE4) => `USD ${formatAmount({ amountMinor, currency: 'USD4' })}`;
    const detail = { before: usd(before.cost_usd_e4), after: usd(cost), reason };
    await writeWorldAudit(trx, { actor: by, action: 'supplier-price.confirm', subject: code, detail });
    await bumpRevision(trx, 'catalogue');
    await announce(trx, await recordVersions(trx, now, [code]));
    return 'confirmed';
  });
}

/** Returns how many regions are new, changed or gone. */
async function writeRegions(trx: WorldDb, regions: readonly Region[], now: Date): Promise<number> {
  if (regions.length === 0) return 0;
  const written = await trx
    .insertInto('regions')
    .values(regions.map(toRegionRow))
    .onConflict((conflict) =>
      conflict.column('region_code').doUpdateSet((eb) => ({
        region_name: eb.ref('excluded.region_name'),
        region_type: eb.ref('excluded.region_type'),
        country_code: eb.ref('excluded.country_code'),
        flag_url: eb.ref('excluded.flag_url'),
        withdrawn_at: null,
      })).where(sql<boolean>`
        (regions.region_name, regions.region_type, regions.country_code, regions.flag_url, regions.withdrawn_at) is distinct from
        (excluded.region_name, excluded.region_type, excluded.country_code, excluded.flag_url, null::timestamptz)`),
    )
    .executeTakeFirst();
  const codes = regions.map((region) => region.regionCode);
  const gone = await trx
    .updateTable('regions')
    .set({ withdrawn_at: now })
    .where('withdrawn_at', 'is', null)
    .where((eb) => eb.not(eb('region_code', '=', eb.fn.any(sql<string[]>`${codes}::text[]`))))
    .executeTakeFirst();
  return Number(written.numInsertedOrUpdatedRows) + Number(gone.numUpdatedRows);
}

/** Counts a package with a new cost as repriced, not as changed. */
async function writePackages(trx: WorldDb, packages: readonly CataloguePackage[], supplier: string) {
  const codes = packages.map((item) => item.packageCode);
  const rows = await trx
    .selectFrom('packages')
    .selectAll()
    .where((eb) => eb('package_code', '=', eb.fn.any(sql<string[]>`${codes}::text[]`)))
    .execute();
  const known = new Map(rows.map((row) => [row.package_code, row]));
  const added = packages.filter((item) => !known.has(item.packageCode));
  const changed = packages.filter((item) => {
    const row = known.get(item.packageCode);
    return row !== undefined && !sameValue(row, toRow(item, supplier));
  });
  const repriced = changed.filter((item) => known.get(item.packageCode)?.cost_usd_e4 !== item.cost);
  const written = [...added, ...changed];
  for (let from = 0; from < written.length; from += CHUNK)
    await upsertPackages(trx, written.slice(from, from + CHUNK), supplier);
  return { added: added.length, changed: changed.length - repriced.length, repriced: repriced.length };
}

async function upsertPackages(
  trx: WorldDb,
  packages: readonly CataloguePackage[],
  supplier: string,
): Promise<void> {
  const rows = packages.map((item) => toRow(item, supplier));
  // Setting the key as well would take a lock that waits for purchases.
  const columns = (Object.keys(rows[0] ?? {}) as (keyof PackagesTable)[]).filter(
    (column) => column !== 'package_code',
  );
  await trx
    .insertInto('packages')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('package_code')
        .doUpdateSet((eb) =>
          Object.fromEntries(columns.map((column) => [column, eb.ref(`excluded.${column}`)])),
        ),
    )
    .execute();
}

async function withdrawMissing(
  trx: WorldDb,
  { supplier, packages }: Pick<SupplierCatalogue, 'supplier' | 'packages'>,
  now: Date,
): Promise<number> {
  const codes = packages.map((item) => item.packageCode);
  const result = await trx
    .updateTable('packages')
    .set({ withdrawn_at: now })
    .where('supplier', '=', supplier)
    .where('package_type', '=', 'BASE')
    .where('withdrawn_at', 'is', null)
    .where((eb) => eb.not(eb('package_code', '=', eb.fn.any(sql<string[]>`${codes}::text[]`))))
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Where a list names a package twice, the last entry counts. */
function withoutDuplicates(packages: readonly CataloguePackage[]): CataloguePackage[] {
  return [...new Map(packages.map((item) => [item.packageCode, item])).values()];
}

function toRegionRow(region: Region): Insertable<RegionsTable> {
  return {
    region_code: region.regionCode,
    region_name: region.regionName,
    region_type: region.regionType,
    country_code: region.countryCode,
    flag_url: region.flagUrl,
    withdrawn_at: null,
  };
}

function toRow(item: CataloguePackage, supplier: string): Insertable<PackagesTable> {
  return {
    package_code: item.packageCode,
    supplier,
    package_type: item.packageType,
    slug: item.slug,
    name: item.name,
    region_code: item.regionCode,
    region_type: item.regionType,
    cost_usd_e4: item.cost,
    volume_bytes: BigInt(item.volumeBytes),
    data_type: item.dataType,
    duration: item.duration,
    duration_unit: item.durationUnit,
    unused_valid_days: item.unusedValidDays,
    speed: item.speed,
    description: item.description,
    active_type: item.activeType,
    top_up_available: item.topUpAvailable,
    location: item.location,
    location_code: item.locationCode,
    networks: JSON.stringify(item.networks),
    withdrawn_at: null,
  };
}

export function toPackage(row: Selectable<PackagesTable>): StoredPackage {
  return { ...soldFields(row), supplier: row.supplier, slug: row.slug, withdrawn: row.withdrawn_at !== null };
}

/** jsonb does not keep the order of keys, so networks are compared as values. */
function sameValue(row: Selectable<PackagesTable>, next: Insertable<PackagesTable>): boolean {
  return (Object.keys(next) as (keyof PackagesTable)[]).every((column) =>
    column === 'networks'
      ? isDeepStrictEqual(row.networks, JSON.parse(next.networks))
      : row[column] === next[column],
  );
}
