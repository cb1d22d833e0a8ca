import { ApplicationFailure, Context } from '@temporalio/activity';
import {
  KEEP_ALERTS_MS,
  KEEP_EVENTS_MS,
  KEEP_FOREIGN_EVENTS_MS,
  KEEP_BUYER_EMAILS_MS,
  KEEP_GATEWAY_EVENTS_MS,
  KEEP_KEYS_MS,
  KEEP_QUOTES_MS,
  KEEP_RATES_MS,
  KEEP_REFUSED_IDS_MS,
  KEEP_SUPPLIER_BALANCES_MS,
  KEEP_SUPPLIER_EVENTS_MS,
  KEEP_TRAVELLER_EMAILS_MS,
} from '../src/platform/database/retention.ts';
import { forgetRates } from '../src/catalogue/store/rates.ts';
import { forgetGatewayEvents } from '../src/payments/store/gateway-events.ts';
import { forgetBuyerEmails } from '../src/payments/store/buyer-details.ts';
import { forgetTravellerEmails } from '../src/purchases/store/batch-emails.ts';
import { forgetEvents } from '../src/webhooks/store/feed.ts';
import { forgetQuotes } from '../src/purchases/store/quotes.ts';
import { forgetOldKeys, forgetRefusedIds } from '../src/platform/idempotency/store.ts';
import { forgetAlerts } from '../src/operations/store/alerts.ts';
import { forgetBalances } from '../src/operations/store/supplier-balances.ts';
import { findNeverOrdered } from '../src/operations/store/stuck.ts';
import { type OpsActivities, RECONCILE_SCHEDULE } from '../workflows/contract.ts';
import { forgetSupplierEvents } from '../src/esims/store/supplier-events.ts';
import { Unavailable } from '../src/domain/outcome.ts';
import type { ActivityDeps } from './deps.ts';
import { beginOverdue } from './purchases/begin-overdue.ts';
import { followLateMoney } from './payments/late-money.ts';
import { refreshRates } from './catalogue/refresh-rates.ts';
import { refreshEsims } from './esims/refresh-esims.ts';
import { syncCatalogue } from './catalogue/sync-catalogue.ts';

/**
 * Well within the activity's two minutes; the search for late payments waits for it. The next run deletes
 * what is left.
 */
const DELETE_FOR_MS = 45_000;

/** The scheduled jobs. Each may run twice, or at once in two processes, without harm. */
export function createOpsActivities(
  deps: ActivityDeps,
): Pick<
  OpsActivities,
  'syncCatalogue' | 'refreshRates' | 'refreshUsage' | 'followLateMoney' | 'applyInbox' | 'forgetOldKeys'
> {
  const { clock } = deps;
  let syncedAtMs = 0;
  return {
    syncCatalogue: async ({ unlessSyncedWithinMs }) => {
      if (clock.now().getTime() - syncedAtMs < unlessSyncedWithinMs) return 'synced a moment ago';
      const line = await syncCatalogue(deps);
      syncedAtMs = clock.now().getTime();
      return line;
    },
    refreshRates: () => refreshRates(deps),
    refreshUsage: () => refreshEsims(deps),
    followLateMoney: () => followLateMoney(deps),
    applyInbox: async () =>
      `${await deps.applyInbox()} gateway events applied, ${await wakeNeverOrdered(deps)} paid purchases woken, ${await beginOverdue(deps, 'returns', deps.returnEngine)} returns and ${await beginOverdue(deps, 'replacements', deps.replacementEngine)} replacements begun again`,
    forgetOldKeys: () => deleteOldRows(deps),
  };
}

const NEVER_ORDERED_FOR_MS = 60_000;
/** Far more than an outage of workers leaves behind within half a minute; the next run takes the others. */
const MAX_WOKEN = 500;

/** Wakes purchases that are paid and were never ordered. Most runs find none: one statement each 30 s. */
async function wakeNeverOrdered({ db, engine }: ActivityDeps): Promise<number> {
  const found = await findNeverOrdered(db, { forMs: NEVER_ORDERED_FOR_MS, limit: MAX_WOKEN });
  for (const transactionId of found) await engine.supplierAnnounced(transactionId);
  return found.length;
}

/** Workflows know this activity as `forgetOldKeys`: at first it deleted nothing else. */
async function deleteOldRows({ db, clock }: ActivityDeps): Promise<string> {
  const now = clock.now().getTime();
  const isOver = () => clock.now().getTime() > now + DELETE_FOR_MS;
  const keys = await forgetOldKeys(db, new Date(now - KEEP_KEYS_MS), isOver);
  const refusals = await forgetRefusedIds(db, new Date(now - KEEP_REFUSED_IDS_MS), isOver);
  const feedEvents = await forgetEvents(db, new Date(now - KEEP_EVENTS_MS), isOver);
  const events = await forgetGatewayEvents(db, new Date(now - KEEP_GATEWAY_EVENTS_MS), isOver);
  const supplierEvents = await forgetSupplierEvents(
    db,
    {
      appliedBefore: new Date(now - KEEP_SUPPLIER_EVENTS_MS),
      foreignBefore: new Date(now - KEEP_FOREIGN_EVENTS_MS),
    },
    isOver,
  );
  const rates = await forgetRates(db, new Date(now - KEEP_RATES_MS), isOver);
  const quotes = await forgetQuotes(db, new Date(now - KEEP_QUOTES_MS), isOver);
  const emails = await forgetTravellerEmails(db, new Date(now - KEEP_TRAVELLER_EMAILS_MS), isOver);
  const buyers = await forgetBuyerEmails(db, new Date(now - KEEP_BUYER_EMAILS_MS), isOver);
  const balances = await forgetBalances(db, new Date(now - KEEP_SUPPLIER_BALANCES_MS), isOver);
  const alerts = await forgetAlerts(db, new Date(now - KEEP_ALERTS_MS), isOver);
  return (
    `${balances} balances, ${alerts} alerts, ${keys} keys, ${refusals} refusals, ${feedEvents} events, ${events} gateway events, ${supplierEvents} supplier events, ${rates} rates, ${quotes} quotes, ` +
    `${emails} addresses of travellers and ${buyers} of buyers deleted`
  );
}

/** A vendor that refuses all requests is final; everything else is retried. */
export function createReconcileActivities({ reconcile }: ActivityDeps): Pick<OpsActivities, 'reconcile'> {
  return {
    reconcile: async ({ runKey, askedBy, range }) => {
      try {
        return await reconcile({
          runKey,
          askedBy,
          isScheduled: askedBy === RECONCILE_SCHEDULE && !range,
          ...(range ? { range: { from: new Date(range.from), to: new Date(range.to) } } : {}),
          signal: Context.current().cancellationSignal,
        });
      } catch (error) {
        if (error instanceof Unavailable && !error.retryable)
          throw ApplicationFailure.nonRetryable(error.message, error.name);
        throw error;
      }
    },
  };
}
