/** Every migration in order, by schema. Dated files, never edited once landed; a new one is added at the end of its list. */
import type { Migration } from 'kysely/migration';
import * as accounts from './accounts/2026-11-21-accounts.ts';
import * as emailForCharges from './accounts/2026-11-21-email-for-charges.ts';
import * as catalogue from './world/2026-11-21-catalogue.ts';
import * as ledger from './world/2026-11-21-ledger.ts';
import * as purchases from './world/2026-11-21-purchases.ts';
import * as grants from './world/2026-11-21-grants.ts';
import * as payments from './world/2026-11-21-payments.ts';

export const accountsMigrations: Record<string, Migration> = {
  '2026-11-21-1-accounts': accounts,
  '2026-11-21-2-email-for-charges': emailForCharges,
};

/** Run once in `live` and once in `test`: both worlds have the same tables. */
export const worldMigrations: Record<string, Migration> = {
  '2026-11-21-1-catalogue': catalogue,
  '2026-11-21-2-ledger': ledger,
  '2026-11-21-3-purchases': purchases,
  '2026-11-21-4-grants': grants,
  '2026-11-21-5-payments': payments,
};
