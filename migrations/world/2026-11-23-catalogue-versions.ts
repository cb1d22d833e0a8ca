/**
 * What was sold when: one row for each state of a package, with its whole shape and cost. It takes the place of `package_prices`, which knew costs only and
 * which only the release before still writes.
 */
import { sql, type Kysely } from 'kysely';

const SHAPE = sql.raw(
  `package_type, name, region_code, region_type, cost_usd_e4, volume_bytes, data_type, duration, duration_unit, unused_valid_days,
   speed, description, active_type, top_up_available, location, location_code, networks`,
);

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table package_versions (
      id bigint generated always as identity primary key,
      package_code text not null references packages (package_code),
      kind text not null check (kind in ('ADDED', 'CHANGED', 'WITHDRAWN')),
      changed_fields text[] not null,
      on_sale boolean not null check (on_sale = (kind <> 'WITHDRAWN')),
      valid_from timestamptz not null,
      valid_to timestamptz check (valid_to > valid_from),
      package_type text not null check (package_type in ('BASE', 'TOPUP')),
      name text not null,
      region_code text not null,
      region_type text not null,
      cost_usd_e4 bigint not null,
      volume_bytes bigint not null,
      data_type integer not null,
      duration integer not null,
      duration_unit text not null,
      unused_valid_days integer not null,
      speed text not null,
      description text not null,
      active_type integer not null,
      top_up_available boolean not null,
      location text not null,
      location_code text not null,
      networks jsonb not null,
      unique (package_code, valid_from)
    )`.execute(db);
  await sql`create unique index package_versions_current on package_versions (package_code) where valid_to is null`.execute(
    db,
  );
  // What was sold before this moment is not known, but for its cost.
  await sql`
    insert into package_versions (package_code, kind, changed_fields, on_sale, valid_from, ${SHAPE})
    select package_code, case when withdrawn_at is null then 'ADDED' else 'WITHDRAWN' end, '{}', withdrawn_at is null,
           date_trunc('milliseconds', now()), ${SHAPE}
      from packages order by package_code`.execute(db);
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const schema = rows[0]?.schema ?? '';
  await sql`grant select, insert, update on package_versions to ${sql.id(`simway_${schema}`)}`.execute(db);
}
