/** Every migration in order, by schema. Dated files, never edited once landed; a new one is added at the end of its list. */
import type { Migration } from 'kysely/migration';
import * as accounts from './accounts/2026-11-21-accounts.ts';
import * as emailForCharges from './accounts/2026-11-21-email-for-charges.ts';
import * as people from './accounts/2026-11-21-people.ts';
import * as keyLastUse from './accounts/2026-11-23-key-last-use.ts';
import * as accessGrants from './accounts/2026-11-23-access-grants.ts';
import * as planForBounds from './accounts/2026-11-23-plan-for-bounds.ts';
import * as users from './accounts/2026-11-24-users.ts';
import * as worldAudit from './accounts/2026-11-25-world-audit.ts';
import * as disabledAccounts from './accounts/2026-11-25-disabled-accounts.ts';
import * as signInBounds from './accounts/2026-11-25-sign-in-bounds.ts';
import * as operatorTakeover from './accounts/2026-11-25-operator-takeover.ts';
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
import * as sealedEsims from './world/2026-11-23-sealed-esims.ts';
import * as paymentWatch from './world/2026-11-22-payment-watch.ts';
import * as stepEvidence from './world/2026-11-23-step-evidence.ts';
import * as actionTotals from './world/2026-11-23-action-totals.ts';
import * as batches from './world/2026-11-23-batches.ts';
import * as unpaidBound from './world/2026-11-23-unpaid-bound.ts';
import * as supplierEvents from './world/2026-11-23-supplier-events.ts';
import * as esimLife from './world/2026-11-23-esim-life.ts';
import * as installLinks from './world/2026-11-23-install-links.ts';
import * as events from './world/2026-11-23-events.ts';
import * as catalogueVersions from './world/2026-11-23-catalogue-versions.ts';
import * as quotes from './world/2026-11-23-quotes.ts';
import * as statistics from './world/2026-11-23-statistics.ts';
import * as esimSearch from './world/2026-11-23-esim-search.ts';
import * as walletEntries from './world/2026-11-24-wallet-entries.ts';
import * as webhookExchanges from './world/2026-11-24-webhook-exchanges.ts';
import * as batchRepairs from './world/2026-11-25-batch-repairs.ts';
import * as decisionReasons from './world/2026-11-25-decision-reasons.ts';
import * as idGrams from './world/2026-11-25-id-grams.ts';
import * as proposedRates from './world/2026-11-25-proposed-rates.ts';
import * as refusedIds from './world/2026-11-25-refused-ids.ts';
import * as reconciliationRequests from './world/2026-11-25-reconciliation-requests.ts';
import * as paymentAccounts from './world/2026-11-26-payments.ts';
import * as supplier from './world/2026-11-26-supplier.ts';

export const accountsMigrations: Record<string, Migration> = {
  '2026-11-21-1-accounts': accounts,
  '2026-11-21-2-email-for-charges': emailForCharges,
  '2026-11-21-3-people': people,
  '2026-11-23-1-key-last-use': keyLastUse,
  '2026-11-23-2-access-grants': accessGrants,
  '2026-11-23-3-plan-for-bounds': planForBounds,
  '2026-11-24-1-users': users,
  '2026-11-25-1-disabled-accounts': disabledAccounts,
  '2026-11-25-4-world-audit': worldAudit,
  '2026-11-25-5-sign-in-bounds': signInBounds,
  '2026-11-25-7-operator-takeover': operatorTakeover,
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
  '2026-11-23-1-step-evidence': stepEvidence,
  '2026-11-23-2-action-totals': actionTotals,
  '2026-11-23-3-sealed-esims': sealedEsims,
  '2026-11-23-4-unpaid-bound': unpaidBound,
  '2026-11-23-5-events': events,
  '2026-11-23-6-supplier-events': supplierEvents,
  '2026-11-23-61-esim-life': esimLife,
  '2026-11-23-7-catalogue-versions': catalogueVersions,
  '2026-11-23-71-quotes': quotes,
  '2026-11-23-8-statistics': statistics,
  '2026-11-23-81-esim-search': esimSearch,
  '2026-11-23-9-install-links': installLinks,
  '2026-11-23-91-batches': batches,
  '2026-11-24-1-wallet-entries': walletEntries,
  '2026-11-24-2-webhook-exchanges': webhookExchanges,
  '2026-11-25-1-batch-repairs': batchRepairs,
  '2026-11-25-4-proposed-rates': proposedRates,
  '2026-11-25-6-refused-ids': refusedIds,
  '2026-11-25-61-reconciliation-requests': reconciliationRequests,
  '2026-11-25-8-decision-reasons': decisionReasons,
  '2026-11-25-91-id-grams': idGrams,
  '2026-11-26-1-payments': paymentAccounts,
  '2026-11-26-2-supplier': supplier,
};
