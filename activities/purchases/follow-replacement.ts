/**
 * One step of a replacement: asks the supplier whether the profile was deleted, buys the new eSIM as any
 * purchase is bought, and then revokes the old one. Nothing is revoked before the new one is delivered.
 * Whether a revocation whose answer was lost took effect is asked, never assumed.
 */
import { EngineUnavailable } from '../../src/domain/outcome.ts';
import { createFence } from '../../src/platform/fence.ts';
import {
  judgeReplaceable,
  replacementPauseMs,
  REVIEW_PAUSE_MS,
} from '../../src/purchases/replacements/rules.ts';
import { esimOf, markForReview, schedule } from '../../src/purchases/store/followed-rows.ts';
import { findPurchase } from '../../src/purchases/store/reads.ts';
import {
  beginOrdering,
  beginRevoke,
  loadReplacement,
  openReplacement,
  recordReplaced,
  recordReplacementDelivered,
  refuseReplacement,
} from '../../src/purchases/store/replacements.ts';
import { SEND_WITHIN_MS } from '../../src/purchases/store/supplier-orders.ts';
import type { FollowStep } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';

type Replacement = NonNullable<Awaited<ReturnType<typeof loadReplacement>>>;

const ENDED: FollowStep = { line: 'This replacement has ended.', waitMs: null };

/** As far as it comes now: what the rows say decides where it goes on. */
export async function followReplacement(deps: ActivityDeps, replacementId: string): Promise<FollowStep> {
  for (;;) {
    const row = await loadReplacement(deps.db, replacementId);
    if (!row) return ENDED;
    const step = await stepOf(deps, row);
    if (step !== 'next') return { ...step };
  }
}

/** `next`: the row has moved on. */
async function stepOf(deps: ActivityDeps, row: Replacement): Promise<FollowStep | 'next'> {
  switch (row.state) {
    case 'PENDING':
    case 'NEEDS_REVIEW':
      return askSupplier(deps, row);
    case 'ORDERING':
      return order(deps, row);
    case 'RETIRING':
      return retire(deps, row);
    case 'REPLACED':
      return { line: `Replaced by ${row.new_esim_id}.`, waitMs: null };
    case 'REFUSED':
      return { line: `Refused: ${row.refusal}. Nothing was retired.`, waitMs: null };
  }
}

async function askSupplier(deps: ActivityDeps, row: Replacement): Promise<FollowStep | 'next'> {
  const { db } = deps;
  const verdict = await readVerdict(deps, row);
  switch (verdict) {
    case 'replace':
      return begin(deps, row);
    case 'review':
      return inReview(deps, row, 'the supplier does not say that it was deleted');
    case 'unknown':
      return row.state === 'NEEDS_REVIEW' || row.ageMs >= deps.returnReviewAfterMs
        ? inReview(deps, row, 'the supplier does not answer')
        : wait(deps, row, 'for the supplier to say how the eSIM stands');
    default:
      await refuseReplacement(db, row, verdict);
      return 'next';
  }
}

async function readVerdict({ supplier }: ActivityDeps, row: Replacement) {
  if (row.supplier !== supplier.name) return 'unknown';
  const answer = await supplier.profile(esimOf(row));
  const isKnown = answer.outcome === 'done' && answer.value.state === 'ready';
  return isKnown ? judgeReplaceable(answer.value.profile) : 'unknown';
}

async function begin(deps: ActivityDeps, row: Replacement): Promise<FollowStep | 'next'> {
  const mostMinor = deps.replacementLimits[row.currency];
  const begun = await beginOrdering(deps.db, row, { by: 'supplier', mostMinor });
  switch (begun) {
    case 'BEGUN':
    case 'ENDED':
      return 'next';
    case 'TOP_UP_OPEN':
      return wait(deps, row, 'for a top-up of it to end');
    case 'BEYOND_LIMIT':
      return inReview(deps, row, 'we would pay more on this account today than without a person');
    default:
      await refuseReplacement(deps.db, row, begun);
      return 'next';
  }
}

/** This run ends. The sweep begins another when it is due, or when a person has granted it. */
async function inReview(deps: ActivityDeps, row: Replacement, why: string): Promise<FollowStep> {
  await flag(deps, row);
  await schedule(deps.db, 'replacements', row.id, REVIEW_PAUSE_MS);
  return { line: `Waiting for a person: ${why}.`, waitMs: null };
}

async function flag({ db, events }: ActivityDeps, row: Replacement): Promise<void> {
  if (!(await markForReview(db, 'replacements', row))) return;
  events.purchaseNeedsAttention({ transactionId: row.transaction_id, reason: 'REPLACEMENT_NEEDS_REVIEW' });
}

/** The purchase is on record before its workflow starts, so that a step that runs twice buys once. */
async function order(deps: ActivityDeps, row: Replacement): Promise<FollowStep | 'next'> {
  const { db, clock, purchaseTimings: timings } = deps;
  const { new_transaction_id: transactionId } = row;
  const onNotRecorded = (detail: string) =>
    deps.events.rowRefused({ step: 'openPurchase', transactionId, detail });
  const options = { timings, now: clock.now(), onNotRecorded };
  const { input, opened } = await openReplacement(db, row, options);
  if (opened.stage === 'failed') {
    await refuseReplacement(db, row, 'PURCHASE_FAILED', opened.refusal.reason);
    return 'next';
  }
  if (opened.stage === 'paid') await runPurchase(deps, input);
  const bought = await findPurchase(db, transactionId);
  switch (bought?.purchase.status) {
    case 'SUCCESS':
      await recordReplacementDelivered(db, row);
      return 'next';
    // Opening it again says why.
    case 'FAILED':
      return 'next';
    default:
      return wait(deps, row, 'for the new eSIM to be delivered');
  }
}

/** Its caller is this step, which reads the rows anyway. */
const ANSWER_WITHIN_MS = 5_000;

/** Started, or joined where it runs. It has no signature: its row decides. */
async function runPurchase(
  { engine }: ActivityDeps,
  input: Parameters<ActivityDeps['engine']['purchase']>[0],
): Promise<void> {
  try {
    await engine.purchase(input, ANSWER_WITHIN_MS, `eSIM ${input.packageCode} in place of another`);
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
  }
}

async function retire(deps: ActivityDeps, row: Replacement): Promise<FollowStep | 'next'> {
  const { db, supplier } = deps;
  if (row.supplier !== supplier.name) return lookAtRetiring(deps, row);
  const fence = createFence(SEND_WITHIN_MS);
  if (!(await beginRevoke(db, row.id))) return 'next';
  const revoked = await supplier.revoke(esimOf(row), fence);
  if (revoked.outcome !== 'done') return lookAtRetiring(deps, row);
  await recordReplaced(db, row);
  return 'next';
}

/** It is asked again; after a while a person looks as well. */
async function lookAtRetiring(deps: ActivityDeps, row: Replacement): Promise<FollowStep> {
  if (row.ageMs >= deps.returnReviewAfterMs) await flag(deps, row);
  return wait(deps, row, 'for the supplier to say that the old eSIM is revoked');
}

async function wait({ db }: ActivityDeps, { id, ageMs }: Replacement, why: string): Promise<FollowStep> {
  const waitMs = replacementPauseMs(ageMs);
  await schedule(db, 'replacements', id, waitMs);
  return { line: `Waiting ${why}.`, waitMs };
}
