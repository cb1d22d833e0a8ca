/**
 * Every migration in order, by schema. Dated files; a new one is added at the end of its list, never edited.
 */
import type { Migration } from 'kysely/migration';
import * as accountsBaseline from './accounts/2026-11-26-baseline.ts';
import type { LiveIndex } from './indexes.ts';
import * as worldBaseline from './world/2026-11-26-baseline.ts';

/** By name. `indexes`: those on large tables, built once the migration is committed. */
export type Migrations = Readonly<Record<string, Migration & { readonly indexes?: readonly LiveIndex[] }>>;

export const accountsMigrations: Migrations = {
  '2026-11-26-1-baseline': accountsBaseline,
};

/** Run once in `live` and once in `test`: both environments have the same tables. */
export const worldMigrations: Migrations = {
  '2026-11-26-1-baseline': worldBaseline,
};
