// The engine without Temporal: each purchase runs the real steps (activities) one after the other, once,
// while its caller waits.
import { createOrderActivities } from '../../../activities/purchases/orders.ts';
import { followReplacement } from '../../../activities/purchases/follow-replacement.ts';
import { followReturn } from '../../../activities/purchases/follow-return.ts';
import { createGatewayActivities } from '../../../activities/index.ts';
import type { ActivityDeps } from '../../../activities/deps.ts';
import type { Environment } from '../../../src/domain/account.ts';
import type { FailureReason } from '../../../src/domain/refusals.ts';
import type { PaymentPurpose } from '../../../src/domain/states.ts';
import type { EngineAnswer } from '../../../src/payments/engine.ts';
import type { ReturnKeys } from '../../../src/payments/return-keys.ts';
import type { FundingInput } from '../../../src/payments/rules.ts';
import { closeFundingUnpaid } from '../../../src/payments/store/payments.ts';
import type { SecretBox } from '../../../src/platform/secret-box.ts';
import { closeUnpaid } from '../../../src/purchases/store/purchases.ts';
import type { PurchaseEngine } from '../../../src/purchases/engine.ts';
import type { PurchaseInput } from '../../../src/purchases/purchase.ts';
import { purchaseInput } from '../money/facts.ts';

export type TestEngine = ReturnType<typeof createTestEngine>;

const { timings } = purchaseInput({ transactionId: 'txn-1' });

export function createTestEngine(
  deps: Pick<ActivityDeps, 'db' | 'supplier' | 'installData' | 'gateway' | 'clock' | 'events' | 'terms'> & {
    readonly environment: Environment;
    readonly secretBox: SecretBox;
    readonly returnKeys: ReturnKeys;
  },
) {
  const { environment, secretBox, returnKeys, ...rest } = deps;
  const given = {
    ...rest,
    webhooks: { secretBox },
    notices: { environment },
    returnUrl: (reference) => `https://simway.example.com/pay/return?key=${returnKeys.keyOf(reference)}`,
    returnReviewAfterMs: 600_000,
    replacementLimits: {},
    purchaseTimings: timings,
  } as ActivityDeps;
  const orders = createOrderActivities(given);
  const gateway = createGatewayActivities(given);

  const deliver = async (transactionId: string): Promise<EngineAnswer> => {
    const delivered = await orders.tryDelivering({ transactionId, timings });
    if (delivered.state === 'done') return { status: 'SUCCESS' };
    if (delivered.state === 'waiting') return { status: 'PROCESSING' };
    return { status: 'REFUSED', refusal: delivered };
  };
  const openPayment = async (
    { transactionId, timings }: PurchaseInput | FundingInput,
    purpose: PaymentPurpose,
  ): Promise<EngineAnswer> => {
    await gateway.collectPayment({ transactionId, purpose, budgetMs: 0, timings });
    return { status: 'PENDING' };
  };

  const purchase = async (input: PurchaseInput): Promise<EngineAnswer> => {
    const opened = await orders.openPurchase(input, new Date().toISOString());
    if (opened.stage === 'failed') return { status: 'REFUSED', refusal: opened.refusal };
    if (!input.charge) return deliver(input.transactionId);
    return openPayment(input, 'purchase');
  };

  const engine: PurchaseEngine = {
    purchase: async (input) => withMark(input, await purchase(input)),
    fundWallet: async (input) => {
      const opened = await orders.openFunding(input, new Date().toISOString());
      if (opened.stage === 'failed') return withMark(input, { status: 'REFUSED', refusal: opened.refusal });
      return withMark(input, await openPayment(input, 'funding'));
    },
    // Each purchase has ended by the time its caller is answered.
    supplierAnnounced: () => Promise.resolve(),
    firstAnswer: () => Promise.resolve('no-workflow'),
    check: async ({ transactionId, purpose }) => {
      const { state } = await gateway.checkPayment(transactionId, purpose);
      if (state === 'paid' && purpose === 'purchase') await deliver(transactionId);
    },
    checkSoon: (payment) => engine.check(payment, 0),
  };
  return {
    ...engine,
    /** One step, while the caller waits. */
    returns: {
      begin: async ({ id }: { readonly id: string }) => {
        await followReturn({ ...given, engine }, id);
      },
      waitFor: () => Promise.resolve(),
    },
    replacements: {
      begin: async ({ id }: { readonly id: string }) => {
        await followReplacement({ ...given, engine }, id);
      },
      waitFor: () => Promise.resolve(),
    },
    /** The payment was not made in time. */
    expire: async (
      transactionId: string,
      purpose: PaymentPurpose,
      reason: FailureReason = 'PAYMENT_EXPIRED',
    ) => {
      await deps.db
        .updateTable('payments')
        .set({ expires_at: deps.clock.now() })
        .where('transaction_id', '=', transactionId)
        .execute();
      const close = purpose === 'purchase' ? closeUnpaid : closeFundingUnpaid;
      await close(deps.db, transactionId, reason);
    },
  };
}

/** Adds the request to the answer, as the workflow does. */
function withMark({ idempotency }: PurchaseInput | FundingInput, answer: EngineAnswer): EngineAnswer {
  if (typeof answer === 'string' || !idempotency) return answer;
  return { ...answer, fingerprint: idempotency.fingerprint };
}
