/**
 * Batches that were ordered for later. Who ordered one must still be allowed to, and its prices are those of
 * its start. The API prices and signs them: workers hold no prices.
 */
import { randomUUID } from 'node:crypto';
import { findCaller } from '../../accounts/callers.ts';
import type { Environment, Principal } from '../../domain/account.ts';
import { DomainError } from '../../domain/errors.ts';
import { openOwnDetails } from '../../payments/own-details.ts';
import { listRows, type JobRow } from '../../jobs/store/jobs.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import type { WebhookDeps } from '../../webhooks/deps.ts';
import type { BatchDeps } from '../deps.ts';
import {
  cancelScheduled,
  listDueStarts,
  lockScheduled,
  startBatch,
  type ScheduledBatch,
} from '../store/batches.ts';
import {
  findOnSale,
  getBatchView,
  requireBatch,
  requirePayable,
  termsOf,
  totalOf,
  type BatchView,
} from './order-batch.ts';
import { MAX_BEGINNING_BATCHES, MAX_START_LATE_MS, type CancelReason } from './rules.ts';

type ScheduledDeps = BatchDeps & Pick<WebhookDeps, 'accounts'>;

/** One indexed query when none is due: 8,640 a day and process. */
export const START_CHECK_MS = 10_000;
/** Some seconds of work; the next check takes the rest. */
const MAX_STARTS_AT_ONCE = 20;

/**
 * Starts what is due in this environment, and answers how many ended their waiting. Every API process may do
 * it: a batch has one of them. One that cannot be priced now is tried again for a day. Throws what failed
 * after all others had their turn.
 */
export async function startDueBatches(deps: ScheduledDeps, environment: Environment): Promise<number> {
  let ended = 0;
  const failed: string[] = [];
  for (const id of await listDueStarts(deps.db, MAX_STARTS_AT_ONCE))
    try {
      if (await startDue(deps, environment, id)) ended += 1;
    } catch (error) {
      failed.push(`${id} (${error instanceof Error ? error.message : String(error)})`);
    }
  if (failed.length > 0) throw new Error(`these batches could not be started: ${failed.join(', ')}`);
  return ended;
}

/** Whether it ended its waiting. */
async function startDue(deps: ScheduledDeps, environment: Environment, id: string): Promise<boolean> {
  const { outcome, accountId } = await inTransaction(deps.db, async (trx) => {
    const batch = await lockScheduled(trx, id);
    if (!batch) return { outcome: 'later' as const, accountId: '' };
    const outcome = await startOrCancel({ ...deps, db: trx }, environment, batch);
    return { outcome, accountId: batch.account_id };
  });
  if (outcome === 'started') await deps.jobEngine.begin({ id, kind: 'order', accountId });
  return outcome !== 'later';
}

async function startOrCancel(
  deps: ScheduledDeps,
  environment: Environment,
  batch: ScheduledBatch,
): Promise<'started' | 'cancelled' | 'later'> {
  const isTooLate = batch.late_ms > MAX_START_LATE_MS;
  const outcome = isTooLate ? 'NOT_STARTED_IN_TIME' : await tryStart(deps, environment, batch);
  if (outcome === 'started' || outcome === 'later') return outcome;
  await cancelScheduled(deps.db, batch, { reason: outcome, now: deps.clock.now() });
  return 'cancelled';
}

async function tryStart(
  deps: ScheduledDeps,
  environment: Environment,
  batch: ScheduledBatch,
): Promise<'started' | 'later' | CancelReason> {
  const now = deps.clock.now();
  const which = { accountId: batch.account_id, callerId: batch.caller ?? '', environment };
  const principal = await findCaller(deps.accounts, which, now);
  if (!principal?.scopes.includes('purchase')) return 'CALLER_NOT_ALLOWED';
  if (batch.beginning >= MAX_BEGINNING_BATCHES) return 'later';
  try {
    const rows = price(deps, principal, await listRows(deps.db, batch.id));
    const priced = rows.flatMap(({ terms }) => (terms ? { terms } : []));
    const total = totalOf(principal.account, priced);
    if (batch.max_total_minor !== null && total.amountMinor > batch.max_total_minor) return 'PRICE_ABOVE_MAX';
    await requirePayable(deps, principal, priced, total);
    await startBatch(deps.db, batch.id, { rows, totalMinor: total.amountMinor, now });
    return 'started';
  } catch (error) {
    return outcomeOf(error);
  }
}

/** Without terms: not on sale any more. */
const price = (deps: ScheduledDeps, principal: Principal, rows: readonly JobRow[]) =>
  rows.map(({ row_number, package_code: packageCode, transaction_id: transactionId, terms }) => ({
    row_number,
    terms: findOnSale(deps, principal.account, packageCode)
      ? termsOf(deps, principal, packageCode, {
          ...{ requestId: randomUUID(), transactionId },
          ownDetails: terms ? openOwnDetails(deps.secretBox, terms) : {},
        })
      : undefined,
  }));

function outcomeOf(error: unknown): 'later' | CancelReason {
  if (!(error instanceof DomainError)) throw error;
  switch (error.code) {
    case 'INSUFFICIENT_BALANCE':
    case 'KEY_BUDGET_EXCEEDED':
      return error.code;
    case 'EXCHANGE_RATE_UNAVAILABLE':
      return 'later';
    default:
      throw error;
  }
}

/**
 * Ends a batch that waits for its start: nothing is bought. Repeating it changes nothing. BATCH_NOT_FOUND,
 * and BATCH_STARTED once it has begun.
 */
export async function cancelBatch(
  deps: ScheduledDeps,
  principal: Principal,
  batchId: string,
): Promise<BatchView> {
  await inTransaction(deps.db, async (trx) => {
    const batch = await requireBatch({ db: trx }, principal, batchId);
    if (batch.status === 'STOPPED') return;
    const waiting = await lockScheduled(trx, batchId, 'waits');
    if (!waiting && (await requireBatch({ db: trx }, principal, batchId)).status === 'STOPPED') return;
    if (!waiting)
      throw new DomainError('BATCH_STARTED', 'This batch has started, so it cannot be cancelled any more');
    await cancelScheduled(trx, waiting, { reason: 'CANCELLED', now: deps.clock.now() });
  });
  return getBatchView(deps, principal, batchId);
}
