/**
 * Looks after payments whose time is over, for another 72 hours: what came is booked by a workflow of its own, an abandoned basket is closed
 * quietly, and only what the gateway still leaves open at the end is given to a person. Refunds that nobody has begun get such a workflow too.
 */
import type { PaymentPurpose } from '../src/domain/payment.ts';
import type { ChargeLook } from '../src/ports/payment-gateway.ts';
import {
  closePayment,
  findPayment,
  findPaymentsPastTime,
  flagMoney,
  hasPassed,
  touchPayment,
  type PaymentRow,
} from '../src/store/payments.ts';
import { findForgottenRefunds, refundedMinor } from '../src/store/refunds.ts';
import type { LatePaymentInput } from '../workflows/contract.ts';
import type { ActivityDeps } from './deps.ts';

/** decisions.md: how long money may come late. */
const LATE_FOR_MS = 72 * 3_600_000;
/** A payment is looked at about once an hour, however often this runs. */
const LOOKED_AT_BEFORE_MS = 50 * 60_000;
/** Per run and at one time: a shop with a thousand buyers an hour stays watched, and the gateway is not stormed. */
const MAX_PER_RUN = 5_000;
const AT_ONCE = 4;
/** Within the activity's two minutes, also where the gateway answers nothing. Who was left out comes first next time. */
const RUNS_FOR_MS = 90_000;
/** A refund that a workflow carries is begun within seconds. */
const FORGOTTEN_AFTER_MS = 3_600_000;

/** What needs a workflow of its own, each purchase or funding once. */
export async function findLateMoney(deps: ActivityDeps): Promise<readonly LatePaymentInput[]> {
  const now = deps.clock.now();
  const late = new Map<string, LatePaymentInput>();
  const add = (transactionId: string, purpose: PaymentPurpose) =>
    late.set(transactionId, { transactionId, purpose, timings: deps.refundTimings });
  const payments = await findPaymentsPastTime(deps.db, {
    now,
    lookedAtBefore: new Date(now.getTime() - LOOKED_AT_BEFORE_MS),
    limit: MAX_PER_RUN,
  });
  for (let from = 0; from < payments.length; from += AT_ONCE) {
    if (deps.clock.now().getTime() - now.getTime() > RUNS_FOR_MS) break;
    const batch = payments.slice(from, from + AT_ONCE);
    const news = await Promise.all(batch.map((payment) => lookAt(deps, payment, now)));
    batch.forEach((payment, index) => news[index] && add(payment.transaction_id, payment.purpose));
  }
  const madeBefore = new Date(now.getTime() - FORGOTTEN_AFTER_MS);
  for (const refund of await findForgottenRefunds(deps.db, { madeBefore, limit: MAX_PER_RUN })) {
    const payment = await findPayment(deps.db, refund.reference);
    if (payment) add(payment.transaction_id, payment.purpose);
  }
  return [...late.values()];
}

/** Whether there is something to book. */
async function lookAt(deps: ActivityDeps, payment: PaymentRow, now: Date): Promise<boolean> {
  const isLast = payment.expires_at.getTime() + LATE_FOR_MS <= now.getTime();
  const found = await deps.gateway.findCharge(payment.reference);
  const look = found.outcome === 'done' ? found.value : undefined;
  if (look && (await hasNews(deps, payment, look))) return true;
  if (!isLast) {
    await touchPayment(deps.db, payment.reference, now);
    return false;
  }
  const isOpenAtTheEnd = look === undefined || (look !== null && ['waiting', 'unknown'].includes(look.state));
  if (isOpenAtTheEnd) {
    await flagMoney(deps.db, payment.transaction_id, 'PAYMENT_STILL_OPEN');
    deps.events.purchaseNeedsAttention({
      transactionId: payment.transaction_id,
      reason: 'PAYMENT_STILL_OPEN',
    });
  }
  await closePayment(deps.db, payment.reference, now);
  return false;
}

async function hasNews({ db }: ActivityDeps, payment: PaymentRow, look: ChargeLook): Promise<boolean> {
  const netMinor = look.received.amountMinor - look.feesOnTopMinor;
  // What a person vouches for is news once the gateway says it.
  const bookedMinor = payment.booked_minor - payment.evidence_minor;
  if (look.state === 'paid') return netMinor > bookedMinor;
  if (look.state !== 'reversed') return false;
  if (bookedMinor === 0n)
    return netMinor > 0n && !(await hasPassed(db, payment.reference, look.received.currency));
  // The gateway calls a charge reversed as well once it has sent back what we asked it to.
  const knownGoneMinor = payment.reversed_minor + (await refundedMinor(db, payment.reference));
  return bookedMinor > knownGoneMinor;
}
