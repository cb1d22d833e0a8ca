/** All versions of all packages, each with its validity. Made by comparison with the table of packages. */
import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { PageQuery } from '../../domain/page.ts';
import type { PackageType } from '../../domain/states.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { UNLISTED_REGION_CODE, type ChangedField, type ChangeKind } from '../rules.ts';
import type { PackagesTable, PackageVersionsTable } from './tables.ts';

type SoldColumn = Exclude<keyof PackagesTable, 'package_code' | 'supplier' | 'slug' | 'withdrawn_at'>;

/** What is sold, and the name of its change in the feed; null: buyers do not see it. */
const SOLD: Readonly<Record<SoldColumn, ChangedField | null>> = {
  package_type: null,
  name: 'packageName',
  region_code: 'regionCode',
  region_type: 'regionCode',
  cost_usd_e4: 'price',
  volume_bytes: 'data',
  data_type: 'dataType',
  duration: 'validity',
  duration_unit: 'validity',
  unused_valid_days: 'unusedValidTime',
  speed: 'speed',
  description: 'description',
  active_type: 'activation',
  top_up_available: 'topUpAvailable',
  location: 'location',
  location_code: 'location',
  networks: 'coverage',
};

const SOLD_COLUMNS = Object.keys(SOLD) as readonly SoldColumn[];
const SHAPE = sql.join(SOLD_COLUMNS.map((column) => sql.ref(column)));

export interface PackageChange {
  /** Of the version. */
  readonly id: bigint;
  readonly packageCode: string;
  readonly packageType: PackageType;
  readonly packageName: string;
  readonly regionCode: string;
  readonly kind: ChangeKind;
  readonly changedFields: readonly ChangedField[];
  readonly at: Date;
}

/**
 * Makes the versions that the packages have become since, of all or of these codes, and returns them in
 * order. A version is valid for at least a millisecond, even if the clock stood still or went back. Call it
 * under the catalogue's lock.
 */
export async function recordVersions(
  trx: WorldDb,
  now: Date,
  packageCodes?: readonly string[],
): Promise<PackageChange[]> {
  const { rows: news } = await newVersions(now, packageCodes).execute(trx);
  if (news.length === 0) return [];
  const given = sql`jsonb_to_recordset(${JSON.stringify(news)}::jsonb)
    as news (package_code text, kind text, changed_fields text[], valid_from timestamptz)`;
  await sql`
    update package_versions version set valid_to = news.valid_from from ${given}
     where version.package_code = news.package_code and version.valid_to is null`.execute(trx);
  const { rows } = await sql<Selectable<PackageVersionsTable>>`
    insert into package_versions (package_code, kind, changed_fields, on_sale, valid_from, ${SHAPE})
    select package_code, kind, changed_fields, kind <> 'WITHDRAWN', valid_from, ${SHAPE}
      from packages join ${given} using (package_code)
     order by package_code
    returning *`.execute(trx);
  return rows.map(toChange).sort((a, b) => (a.id < b.id ? -1 : 1));
}

type NewVersion = Pick<
  Selectable<PackageVersionsTable>,
  'package_code' | 'kind' | 'changed_fields' | 'valid_from'
>;

function newVersions(now: Date, packageCodes: readonly string[] | undefined) {
  const changed = SOLD_COLUMNS.flatMap((column) => {
    const field = SOLD[column];
    const [before, after] = [sql.ref(`version.${column}`), sql.ref(`package.${column}`)];
    return field === null ? [] : [sql`case when ${before} is distinct from ${after} then ${field}::text end`];
  });
  const only: RawBuilder<unknown> =
    packageCodes === undefined ? sql`` : sql`where package.package_code = any(${[...packageCodes]}::text[])`;
  return sql<NewVersion>`
    with compared as (
      select package.package_code, package.withdrawn_at is null as on_sale, version.on_sale as was_on_sale, version.valid_from as known_from,
             (select coalesce(array_agg(distinct field), '{}') from unnest(array[${sql.join(changed)}]) field where field is not null) as fields
        from packages package
        left join package_versions version on version.package_code = package.package_code and version.valid_to is null
       ${only}
    )
    select package_code,
           case when not on_sale then 'WITHDRAWN' when was_on_sale then 'CHANGED' else 'ADDED' end as kind,
           case when known_from is null then '{}'
                when on_sale <> was_on_sale then array['availability'] || fields
                else fields end as changed_fields,
           greatest(${now}, known_from + interval '1 millisecond') as valid_from
      from compared
     where known_from is null or on_sale <> was_on_sale or (on_sale and fields <> '{}')`;
}

export interface FeedItem extends PackageChange {
  /** At the supplier's present cost; null: the package is not on sale now. */
  readonly current: ReturnType<typeof soldFields> | null;
}

/** Changes of listed BASE packages after a version, in order; at most `limit`. */
export async function findChangesAfter(db: WorldDb, afterId: bigint, limit: number): Promise<FeedItem[]> {
  const rows = await db
    .selectFrom('package_versions as version')
    .innerJoin('packages', 'packages.package_code', 'version.package_code')
    .selectAll('version')
    .select(['packages.cost_usd_e4 as current_cost', 'packages.withdrawn_at'])
    .where('version.id', '>', afterId)
    .where('version.package_type', '=', 'BASE')
    .where('version.region_code', '<>', UNLISTED_REGION_CODE)
    .orderBy('version.id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    ...toChange(row),
    current: row.withdrawn_at === null ? { ...soldFields(row), cost: row.current_cost } : null,
  }));
}

/**
 * Ids grow in the order of commits, so nothing that commits later comes before it. 0 before the first
 * version.
 */
export async function findLastVersionId(db: WorldDb): Promise<bigint> {
  const row = await db
    .selectFrom('package_versions')
    .select((eb) => eb.fn.max<bigint | null>('id').as('id'))
    .executeTakeFirst();
  return row?.id ?? 0n;
}

export type PackageVersion = ReturnType<typeof toVersion>;

export interface OnSaleFilter {
  readonly packageCode?: string | undefined;
  readonly regionCode?: string | undefined;
}

/**
 * What was on sale at a moment, by code: all of it, or one page. `knownSince`: when the first version was
 * made; nothing is known of before.
 */
export async function findOnSaleAt(
  db: WorldDb,
  at: Date,
  filter: OnSaleFilter,
  page?: PageQuery,
): Promise<{ readonly knownSince: Date | null; readonly packages: PackageVersion[] }> {
  let listed = onSaleAt(db, at, filter).selectAll().orderBy('package_code');
  if (page !== undefined) listed = listed.limit(page.limit).offset((page.page - 1) * page.limit);
  const [first, rows] = await Promise.all([
    db
      .selectFrom('package_versions')
      .select((eb) => eb.fn.min<Date | null>('valid_from').as('at'))
      .executeTakeFirst(),
    listed.execute(),
  ]);
  return { knownSince: first?.at ?? null, packages: rows.map(toVersion) };
}

/** How many packages were on sale at a moment, on all pages. */
export async function countOnSaleAt(db: WorldDb, at: Date, filter: OnSaleFilter): Promise<number> {
  const counted = await onSaleAt(db, at, filter)
    .select((eb) => eb.fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow();
  return Number(counted.total);
}

function onSaleAt(db: WorldDb, at: Date, { packageCode, regionCode }: OnSaleFilter) {
  let matching = db
    .selectFrom('package_versions')
    .where('valid_from', '<=', at)
    .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', at)]))
    .where('on_sale', '=', true);
  if (packageCode !== undefined) matching = matching.where('package_code', '=', packageCode);
  if (regionCode !== undefined) matching = matching.where('region_code', '=', regionCode);
  return matching;
}

function toChange(row: Selectable<PackageVersionsTable>): PackageChange {
  return {
    id: row.id,
    packageCode: row.package_code,
    packageType: row.package_type,
    packageName: row.name,
    regionCode: row.region_code,
    kind: row.kind,
    changedFields: row.changed_fields,
    at: row.valid_from,
  };
}

const toVersion = (row: Selectable<PackageVersionsTable>) => ({
  ...soldFields(row),
  validFrom: row.valid_from,
  validTo: row.valid_to,
});

/** What a package and each of its versions have. */
export function soldFields(row: Omit<Selectable<PackagesTable>, 'supplier' | 'slug' | 'withdrawn_at'>) {
  return {
    packageCode: row.package_code,
    packageType: row.package_type,
    name: row.name,
    regionCode: row.region_code,
    regionType: row.region_type,
    cost: row.cost_usd_e4,
    volumeBytes: Number(row.volume_bytes),
    dataType: row.data_type,
    duration: row.duration,
    durationUnit: row.duration_unit,
    unusedValidDays: row.unused_valid_days,
    speed: row.speed,
    description: row.description,
    activeType: row.active_type,
    topUpAvailable: row.top_up_available,
    location: row.location,
    locationCode: row.location_code,
    networks: row.networks,
  };
}
