/** What is for sale: regions, packages, which top-ups fit which package, and every version of a package. */
import { sql } from 'kysely';
import { PACKAGE_TYPES } from '../../../src/domain/states.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const catalogue = (world: World) => sql`
  ${packages(world)}
  ${versions(world)}
`;

const packages = ({ role }: World) => sql`
  create table regions (
    region_code text primary key,
    region_name text not null,
    region_type text not null check (region_type in ('LC', 'RG', 'GL')),
    country_code text,
    flag_url text not null,
    withdrawn_at timestamptz
  );

  create table packages (
    package_code text primary key,
    -- Whose package it is, by name.
    supplier text not null,
    package_type text not null ${oneOf('package_type', PACKAGE_TYPES)},
    slug text not null,
    name text not null,
    region_code text not null,
    region_type text not null check (region_type in ('LC', 'RG', 'GL')),
    cost_usd_e4 bigint not null check (cost_usd_e4 >= 0),
    volume_bytes bigint not null,
    data_type integer not null,
    duration integer not null,
    duration_unit text not null check (duration_unit in ('DAY', 'HOUR', 'MONTH')),
    unused_valid_days integer not null,
    speed text not null,
    description text not null,
    active_type integer not null,
    top_up_available boolean not null,
    location text not null,
    location_code text not null,
    networks jsonb not null,
    withdrawn_at timestamptz
  );

  -- A supplier's price that is too far from the last one: it waits for a person, and the last one counts.
  create table held_costs (
    id bigint generated always as identity primary key,
    package_code text not null unique references packages (package_code),
    cost_usd_e4 bigint not null check (cost_usd_e4 >= 0),
    held_since timestamptz not null
  );

  create table package_top_ups (
    package_code text not null references packages (package_code),
    top_up_code text not null references packages (package_code),
    position integer not null,
    primary key (package_code, top_up_code)
  );

  create table package_top_up_checks (
    package_code text primary key references packages (package_code),
    checked_at timestamptz not null
  );

  grant insert, update on regions, packages, package_top_ups, package_top_up_checks to ${role};
  grant insert, delete on held_costs to ${role};
  grant delete on package_top_ups to ${role};
`;

const versions = ({ role }: World) => sql`
  -- What was sold when: one row for each state of a package, with its whole shape and cost.
  create table package_versions (
    id bigint generated always as identity primary key,
    package_code text not null references packages (package_code),
    kind text not null check (kind in ('ADDED', 'CHANGED', 'WITHDRAWN')),
    changed_fields text[] not null,
    on_sale boolean not null check (on_sale = (kind <> 'WITHDRAWN')),
    valid_from timestamptz not null,
    valid_to timestamptz check (valid_to > valid_from),
    package_type text not null ${oneOf('package_type', PACKAGE_TYPES)},
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
  );
  create unique index package_versions_current on package_versions (package_code) where valid_to is null;

  -- Counts the changes of what processes keep in memory, so that they know when to read it again.
  create table revisions (
    name text primary key,
    revision bigint not null default 0
  );
  insert into revisions (name) values ('catalogue'), ('pricing'), ('rates');

  grant insert, update on package_versions, revisions to ${role};
`;
