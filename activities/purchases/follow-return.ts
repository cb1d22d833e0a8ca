/**
 * One step of a return: asks the supplier whether the eSIM is unused, cancels it there, and then gives the
 * money back. The supplier decides: it cancels only what no device has. What became of a cancellation whose
 * answer was lost is asked, never assumed.
 */
import type { ReturnRefusal } from '../../src/domain/states.ts';
import { createFence } from '../../src/platform/fence.ts';
import { judgeProfile, returnPauseMs } from '../../src/purchases/returns/rules.ts';
import { esimOf, markForReview, schedule } from '../../src/purchases/store/followed-rows.ts';
import {
  beginCancelReturn,
  forgetCancelReturn,
  loadReturn,
  recordReturned,
  refuseReturn,
} from '../../src/purchases/store/returns.ts';
import { SEND_WITHIN_MS } from '../../src/purchases/store/supplier-orders.ts';
import type { FollowStep } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';

type OpenReturn = NonNullable<Awaited<ReturnType<typeof loadReturn>>>;

/** What the supplier's word comes to. */
type Heard =
  | { readonly state: 'cancelled' }
  | { readonly state: 'refused'; readonly refusal: ReturnRefusal; readonly knownAttempts: number }
  | { readonly state: 'unknown'; readonly why: string };

const MAY_ARRIVE = 'until a cancellation that was sent cannot arrive any more';
const ENDED = { line: 'This return has ended.', waitMs: null };

export async function followReturn(deps: ActivityDeps, returnId: string): Promise<FollowStep> {
  const open = await loadReturn(deps.db, returnId);
  if (!open || !['PENDING', 'NEEDS_REVIEW'].includes(open.state)) return ENDED;
  const heard = await hear(deps, open);
  switch (heard.state) {
    case 'cancelled':
      return conclude(deps, open);
    case 'refused':
      return (await refuseReturn(deps.db, open, heard.refusal, heard.knownAttempts))
        ? { line: `Refused: ${heard.refusal}. Nothing was given back.`, waitMs: null }
        : wait(deps, open, MAY_ARRIVE);
    case 'unknown':
      return wait(deps, open, heard.why);
  }
}

/** The money goes back, once. A refund at the gateway is sent by the purchase's own workflow. */
async function conclude(deps: ActivityDeps, open: OpenReturn): Promise<FollowStep> {
  const returned = await recordReturned(deps.db, open);
  if (!returned) return ENDED;
  if (returned === 'CONTESTED') return wait(deps, open, 'for the dispute of its payment to end');
  // What a crash leaves is found by the hourly sweep of refunds.
  if (returned.refund_key !== null)
    await deps.engine.checkSoon({ transactionId: open.transaction_id, purpose: 'purchase' });
  return { line: `Returned: cancelled, and the money is given back.`, waitMs: null };
}

/** What a bank disputes is not cancelled: both the eSIM and its money could be gone. */
function hear(deps: ActivityDeps, open: OpenReturn): Promise<Heard> | Heard {
  const isSent = open.cancel_attempts > 0;
  return open.isContested && !isSent ? settled(open, 'PAYMENT_DISPUTED') : askSupplier(deps, open);
}

async function askSupplier(deps: ActivityDeps, open: OpenReturn): Promise<Heard> {
  const { supplier } = deps;
  if (open.supplier !== supplier.name) return unknown('for its supplier to be connected');
  const first = await readVerdict(deps, open);
  if (first === 'unknown') return SILENT;
  // One that is cancelled already: the supplier says whether it gave the money back, when asked again.
  if (first !== 'try' && first !== 'CANCELLED') return settled(open, first);
  const fence = createFence(SEND_WITHIN_MS);
  if (!(await beginCancelReturn(deps.db, open.id, supplier.effectTimeLimitMs))) return SILENT;
  const cancelled = await supplier.cancel(esimOf(open), fence);
  if (cancelled.outcome === 'done') return { state: 'cancelled' };
  if (cancelled.outcome === 'unknown' && cancelled.notSent) {
    await forgetCancelReturn(deps.db, open);
    return unknown('for the supplier to be asked');
  }
  if (cancelled.outcome === 'unknown' || cancelled.reason !== 'NOT_ALLOWED_IN_STATE')
    return unknown('for the supplier to say whether it is cancelled');
  const since = await readVerdict(deps, open);
  if (since === 'unknown') return SILENT;
  const sent = { ...open, cancel_attempts: open.cancel_attempts + 1 };
  return settled(sent, since === 'try' ? 'SUPPLIER_REFUSED' : since);
}

async function readVerdict({ supplier }: ActivityDeps, open: OpenReturn) {
  const answer = await supplier.profile(esimOf(open));
  const isKnown = answer.outcome === 'done' && answer.value.state === 'ready';
  return isKnown ? judgeProfile(answer.value.profile) : 'unknown';
}

/** A cancellation that was sent earlier may still arrive: nothing is refused before that. */
function settled({ settlesInMs, cancel_attempts }: OpenReturn, refusal: ReturnRefusal): Heard {
  return settlesInMs > 0
    ? unknown(MAY_ARRIVE)
    : { state: 'refused', refusal, knownAttempts: cancel_attempts };
}

/** Asks again after a while; after a longer one a person looks as well. */
async function wait(
  { db, events, returnReviewAfterMs }: ActivityDeps,
  open: OpenReturn,
  why: string,
): Promise<FollowStep> {
  const isInReview = open.state === 'NEEDS_REVIEW' || open.ageMs >= returnReviewAfterMs;
  if (isInReview && (await markForReview(db, 'returns', open)))
    events.purchaseNeedsAttention({ transactionId: open.transaction_id, reason: 'RETURN_NEEDS_REVIEW' });
  const waitMs = returnPauseMs(open.ageMs, isInReview);
  await schedule(db, 'returns', open.id, waitMs);
  return { line: `Waiting ${why}.`, waitMs };
}

const unknown = (why: string): Heard => ({ state: 'unknown', why });
const SILENT = unknown('for the supplier to say how the eSIM stands');
