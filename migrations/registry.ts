/** Every migration in order, by schema. Dated files, never edited once landed; a new one is added at the end of its list. */
import type { Migration } from 'kysely/migration';
import * as accountsBaseline from './accounts/2026-11-26-baseline.ts';
import * as worldBaseline from './world/2026-11-26-baseline.ts';

export const accountsMigrations: Record<string, Migration> = {
  '2026-11-26-1-baseline': accountsBaseline,
};

/** Run once in `live` and once in `test`: both worlds have the same tables. */
export const worldMigrations: Record<string, Migration> = {
  '2026-11-26-1-baseline': worldBaseline,
};
