/** What a purchase or a funding was begun with, made again from its rows, for a workflow that carries it on where the first one is gone. */
import type { PurchaseTimings } from '../purchases/purchase.ts';
import type { WorkflowStart } from './engine.ts';
import { findMarkOf } from '../platform/idempotency/store.ts';
import { payingPayment, type ActionSubject } from './store/subject.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { IdempotencyMark } from '../platform/idempotency/tag.ts';
import type { OutsideMethod } from '../domain/states.ts';

/** undefined: from outside, and nobody knows any more what was to be asked for it. */
export async function restartInput(
  db: WorldDb,
  subject: ActionSubject,
  timings: PurchaseTimings,
): Promise<WorkflowStart | undefined> {
  const { transactionId, accountId, purchase, funding, facts } = subject;
  const payment = payingPayment(subject);
  if (facts.isFromOutside && !payment) return undefined;
  const mark = await findMarkOf(db, accountId, transactionId);
  const more: { readonly idempotency?: IdempotencyMark } = mark ? { idempotency: mark } : {};
  const charge = payment && {
    amountMinor: String(payment.charge_minor),
    currency: payment.charge_currency,
    // They only told where the amount came from.
    rateIds: [],
  };
  if (funding && charge) {
    return {
      purpose: 'funding',
      input: {
        transactionId,
        accountId,
        paymentMethod: funding.payment_method,
        amountMinor: String(funding.amount_minor),
        currency: funding.currency,
        charge,
        requestId: funding.request_id,
        timings,
        ...more,
      },
    };
  }
  if (!purchase) return undefined;
  return {
    purpose: 'purchase',
    input: {
      transactionId,
      accountId,
      packageType: purchase.package_type,
      packageCode: purchase.package_code,
      paymentMethod: purchase.payment_method satisfies OutsideMethod | 'WALLET',
      esimId: purchase.esim_id,
      quote: {
        priceMinor: String(purchase.price_minor),
        currency: purchase.currency,
        priceUsdMinor: String(purchase.price_usd_minor),
        costUsdE4: String(purchase.cost_usd_e4),
        settingsId: purchase.settings_id,
        ...(purchase.rate_id === null ? {} : { rateId: purchase.rate_id }),
      },
      ...(charge ? { charge } : {}),
      requestId: purchase.request_id,
      timings,
      ...more,
    },
  };
}
