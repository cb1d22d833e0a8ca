// The engine without Temporal: each purchase runs the real steps (activities) one after the other, once, while its caller waits.
import { createOrderActivities } from '../../../activities/purchases/orders.ts';
import { createGatewayActivities } from '../../../activities/payments/payments.ts';
import type { ActivityDeps } from '../../../activities/deps.ts';
import type { FailureReason } from '../../../src/domain/refusals.ts';
import type { OutsideMethod, PaymentPurpose } from '../../../src/domain/states.ts';
import type { EngineAnswer } from '../../../src/payments/engine.ts';
import type { FundingInput } from '../../../src/payments/rules.ts';
import type { PurchaseEngine } from '../../../src/purchases/engine.ts';
import type { PurchaseInput } from '../../../src/purchases/purchase.ts';
import { TRANSFER_EXPIRES_AT } from './vendors.ts';

export interface TestEngine extends PurchaseEngine {
  /** The payment was not made in time. */
  expire(transactionId: string, purpose: PaymentPurpose, reason?: FailureReason): Promise<void>;
}

export function createTestEngine(
  deps: Pick<ActivityDeps, 'db' | 'supplier' | 'installData' | 'gateway' | 'clock' | 'events' | 'terms'>,
): TestEngine {
  const given = { ...deps, returnUrl: 'https://simway.example.com/pay/return' } as ActivityDeps;
  const orders = createOrderActivities(given);
  const gateway = createGatewayActivities(given);

  const deliver = async (transactionId: string): Promise<EngineAnswer> => {
    const outcome = await orders.tryDelivering(transactionId);
    if (outcome.outcome === 'delivered') return { status: 'SUCCESS' };
    if (outcome.outcome !== 'refused') return { status: 'PROCESSING' };
    await orders.failPurchase(transactionId, outcome.refusal);
    return { status: 'REFUSED', refusal: outcome.refusal };
  };
  const openPayment = async (
    input: PurchaseInput | FundingInput,
    purpose: PaymentPurpose,
    price: { readonly priceMinor: string; readonly priceCurrency: FundingInput['currency'] },
  ): Promise<EngineAnswer> => {
    const { transactionId, accountId, paymentMethod, charge } = input;
    if (!charge) throw new Error(`${transactionId} is not paid from outside`);
    await gateway.openPayment(
      {
        transactionId,
        purpose,
        accountId,
        method: paymentMethod as OutsideMethod,
        charge,
        ...price,
        expiresAtMs: TRANSFER_EXPIRES_AT.getTime(),
      },
      0,
    );
    return { status: 'PENDING' };
  };

  const purchase = async (input: PurchaseInput): Promise<EngineAnswer> => {
    const opened = await orders.openPurchase(input, new Date().toISOString());
    if (opened.stage === 'failed') return { status: 'REFUSED', refusal: opened.refusal };
    if (!input.charge) return deliver(input.transactionId);
    const { priceMinor, currency: priceCurrency } = input.quote;
    return openPayment(input, 'purchase', { priceMinor, priceCurrency });
  };

  const engine: TestEngine = {
    purchase: async (input) => withMark(input, await purchase(input)),
    fundWallet: async (input) => {
      const opened = await orders.openFunding(input, new Date().toISOString());
      if (opened.stage === 'failed') return withMark(input, { status: 'REFUSED', refusal: opened.refusal });
      const answer = await openPayment(input, 'funding', {
        priceMinor: input.amountMinor,
        priceCurrency: input.currency,
      });
      return withMark(input, answer);
    },
    // Each purchase has ended by the time its caller is answered.
    firstAnswer: () => Promise.resolve('no-workflow'),
    check: async ({ transactionId, purpose }) => {
      const { state } = await gateway.lookAtPayment(transactionId, purpose);
      if (state === 'paid' && purpose === 'purchase') await deliver(transactionId);
    },
    checkSoon: (payment) => engine.check(payment, 0),
    expire: async (transactionId, purpose, reason = 'PAYMENT_EXPIRED') => {
      await deps.db
        .updateTable('payments')
        .set({ expires_at: deps.clock.now() })
        .where('transaction_id', '=', transactionId)
        .execute();
      await orders.closeUnpaid(transactionId, purpose, reason);
    },
  };
  return engine;
}

/** Adds the request to the answer, as the workflow does. */
function withMark({ idempotency }: PurchaseInput | FundingInput, answer: EngineAnswer): EngineAnswer {
  if (typeof answer === 'string' || !idempotency) return answer;
  return { ...answer, fingerprint: idempotency.fingerprint };
}
