/** Every migration in order, by schema. Dated files, never edited once landed; a new one is added at the end of its list. */
import type { Migration } from 'kysely/migration';
import * as accounts from './accounts/2026-11-21-accounts.ts';
import * as emailForCharges from './accounts/2026-11-21-email-for-charges.ts';
import * as people from './accounts/2026-11-21-people.ts';
import * as catalogue from './world/2026-11-21-catalogue.ts';
import * as ledger from './world/2026-11-21-ledger.ts';
import * as purchases from './world/2026-11-21-purchases.ts';
import * as grants from './world/2026-11-21-grants.ts';
import * as payments from './world/2026-11-21-payments.ts';
import * as webhooks from './world/2026-11-21-webhooks.ts';
import * as operatorMoves from './world/2026-11-21-operator-moves.ts';
import * as stuckIndexes from './world/2026-11-21-stuck-indexes.ts';
import * as reconciliation from './world/2026-11-21-reconciliation.ts';
import * as refundsTakenBack from './world/2026-11-21-refunds-taken-back.ts';
import * as setRates from './world/2026-11-21-set-rates.ts';
import * as keysBegun from './world/2026-11-21-keys-begun.ts';
import * as olderSecrets from './world/2026-11-21-older-secrets.ts';
import * as notices from './world/2026-11-21-notices.ts';
import * as withdrawals from './world/2026-11-22-withdrawals.ts';
import * as retention from './world/2026-11-22-retention.ts';
import * as retiredIds from './world/2026-11-22-retired-ids.ts';
import * as refundAttempts from './world/2026-11-22-refund-attempts.ts';
import * as disputes from './world/2026-11-22-disputes.ts';
import * as usageAsked from './world/2026-11-22-usage-asked.ts';
import * as paymentWatch from './world/2026-11-22-payment-watch.ts';

export const accountsMigrations: Record<string, Migration> = {
  '2026-11-21-1-accounts': accounts,
  '2026-11-21-2-email-for-charges': emailForCharges,
  '2026-11-21-3-people': people,
};

/** Run once in `live` and once in `test`: both worlds have the same tables. */
export const worldMigrations: Record<string, Migration> = {
  '2026-11-21-1-catalogue': catalogue,
  '2026-11-21-2-ledger': ledger,
  '2026-11-21-3-purchases': purchases,
  '2026-11-21-4-grants': grants,
  '2026-11-21-5-payments': payments,
  '2026-11-21-6-webhooks': webhooks,
  '2026-11-21-7-operator-moves': operatorMoves,
  '2026-11-21-8-stuck-indexes': stuckIndexes,
  '2026-11-21-9-reconciliation': reconciliation,
  '2026-11-21-91-refunds-taken-back': refundsTakenBack,
  '2026-11-21-92-set-rates': setRates,
  '2026-11-21-93-keys-begun': keysBegun,
  '2026-11-21-94-older-secrets': olderSecrets,
  '2026-11-21-95-notices': notices,
  '2026-11-22-1-withdrawals': withdrawals,
  '2026-11-22-11-refund-attempts': refundAttempts,
  '2026-11-22-12-disputes': disputes,
  '2026-11-22-31-usage-asked': usageAsked,
  '2026-11-22-32-retired-ids': retiredIds,
  '2026-11-22-33-retention': retention,
  '2026-11-22-4-payment-watch': paymentWatch,
};
