// When no replacement is bought: above what we pay in a day, for money that is gone, for callers who may not
// buy any more, or beside a top-up.
import { describe, expect, it } from 'vitest';
import { newBuyer, untilClosed, type Buyer } from '../support/people/buyer.ts';
import { EVIDENCE, newOperator } from '../support/people/operator-actions.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const stack = await soundStack({
  supplier: { activateAfterMs: null },
  // No eSIM comes for one that is stuck: an operator's action waits that long.
  timings: { attentionAfterMs: 2_000, inFlightGraceMs: 500, answerWithinMs: 8_000 },
  env: {
    SIMWAY_REPLACEMENT_SHARE: '0',
    // Of one eSIM of 2.30: the second within a day is for a person.
    SIMWAY_APPROVAL_LIMIT_ACCOUNT_DAY: 'USD=4.00,NGN=1000000.00',
  },
});
const operator = newOperator(stack);

const post = ({ account }: Buyer, path: string, body: object = {}) =>
  stack.call('POST', path, { key: account.apiKey, body });
const replace = (buyer: Buyer, esimId: string) => post(buyer, `/api/esim/${esimId}/replacements`);
const whyNot = async (buyer: Buyer, esimId: string) =>
  (await replace(buyer, esimId)).body.error.details.split(', ')[0];

async function installed(buyer: Buyer) {
  const { body } = await buyer.buy('SIM-MANUAL-LIFE');
  const { esim_id: esimId, transaction_id: transactionId } = await untilClosed(stack, body.transactionId);
  await post(buyer, `/api/sandbox/esims/${esimId}/install`, { stage: 'CONNECTED' });
  return { esimId, transactionId };
}

async function deleted(buyer: Buyer) {
  const one = await installed(buyer);
  await post(buyer, `/api/sandbox/esims/${one.esimId}/delete-profile`);
  return one;
}

const rowOf = (esimId: string) =>
  stack.owner
    .selectFrom('replacements')
    .selectAll()
    .where('esim_id', '=', esimId)
    .orderBy('created_at', 'desc')
    .executeTakeFirst();
const untilState = (esimId: string, state: string) =>
  until(
    () => rowOf(esimId),
    (row) => row?.state === state,
    { what: `a replacement ${state}`, withinMs: 40_000 },
  );
const attentionOf = async (transactionId: string) =>
  (await untilClosed(stack, transactionId)).attention_reason;
const flag = (transactionId: string, reason: 'OTHER_PACKAGE_DELIVERED' | 'PAYMENT_DISPUTED' | null) =>
  stack.owner
    .updateTable('purchases')
    .set({ attention_reason: reason, needs_attention_since: reason && new Date() })
    .where('transaction_id', '=', transactionId)
    .execute();
/** The sweep finds it at once. */
const makeDue = (esimId: string) =>
  stack.owner
    .updateTable('replacements')
    .set({ next_check_at: new Date(0) })
    .where('esim_id', '=', esimId)
    .execute();

describe('a replacement that we pay', () => {
  it('goes to a person above what we pay on one account within a day', async () => {
    const buyer = await newBuyer(stack);
    const [first, second] = [await deleted(buyer), await deleted(buyer)];
    expect((await replace(buyer, first.esimId)).body.data).toMatchObject({ state: 'REPLACED', price: 0 });
    expect((await replace(buyer, second.esimId)).body.data).toMatchObject({
      ...{ state: 'NEEDS_REVIEW', newTransactionId: null },
    });
    expect(await attentionOf(second.transactionId)).toBe('REPLACEMENT_NEEDS_REVIEW');
    await operator.act(second.transactionId, 'grant-replacement', { evidence: EVIDENCE });
    await untilState(second.esimId, 'REPLACED');
  }, 60_000);

  it('is not bought for money that was given back', async () => {
    const buyer = await newBuyer(stack);
    const { esimId, transactionId } = await deleted(buyer);
    const goodwill = { goodwill: true, evidence: EVIDENCE };
    expect(await operator.act(transactionId, 'credit-wallet', goodwill)).toMatchObject({ outcome: 'done' });
    expect(await whyNot(buyer, esimId)).toBe('REFUNDED');
  });

  it.each([
    ['whose key is revoked', { revoked_at: new Date() }],
    ['whose maker may not buy any more', { maker_role: 'FINANCE' }],
  ] as const)('is not bought for a caller %s, also if a person grants it', async (_who, change) => {
    const buyer = await newBuyer(stack);
    const { esimId, transactionId } = await installed(buyer);
    expect((await replace(buyer, esimId)).body.data).toMatchObject({ state: 'NEEDS_REVIEW' });
    await stack.accounts
      .updateTable('api_keys')
      .set(change)
      .where('account_id', '=', buyer.account.accountId)
      .execute();
    expect(await operator.act(transactionId, 'grant-replacement', { evidence: EVIDENCE })).toMatchObject({
      code: 'DOES_NOT_FIT',
    });
  });

  it('is refused once a bank disputes the payment while a person decides', async () => {
    const buyer = await newBuyer(stack);
    const { esimId, transactionId } = await installed(buyer);
    await replace(buyer, esimId);
    await flag(transactionId, 'PAYMENT_DISPUTED');
    await post(buyer, `/api/sandbox/esims/${esimId}/delete-profile`);
    await makeDue(esimId);
    expect(await untilState(esimId, 'REFUSED')).toMatchObject({ refusal: 'PAYMENT_DISPUTED' });
  }, 60_000);

  it('can be cancelled while its new eSIM is not delivered, and be asked for again', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await deleted(buyer);
    let newTransactionId: string | undefined;
    await stack.faults({ neverAllocate: 1 });
    try {
      await replace(buyer, esimId);
      newTransactionId = (await untilState(esimId, 'ORDERING'))?.new_transaction_id;
      const cancelled = await operator.act(String(newTransactionId), 'cancel', { evidence: EVIDENCE });
      expect(cancelled).toMatchObject({ outcome: 'done' });
      expect(await untilState(esimId, 'REFUSED')).toMatchObject({ refusal: 'PURCHASE_FAILED' });
    } finally {
      await stack.clearFaults();
    }
    expect((await replace(buyer, esimId)).status).toBe(201);
    await operator.act(String(newTransactionId), 'check-supplier');
  }, 90_000);
});

describe('a replacement in review', () => {
  it('is on the stuck list once what hid it is settled', async () => {
    const buyer = await newBuyer(stack);
    const { esimId, transactionId } = await installed(buyer);
    await flag(transactionId, 'OTHER_PACKAGE_DELIVERED');
    expect((await replace(buyer, esimId)).body.data).toMatchObject({ state: 'NEEDS_REVIEW' });
    expect(await attentionOf(transactionId)).toBe('OTHER_PACKAGE_DELIVERED');
    await flag(transactionId, null);
    await makeDue(esimId);
    await until(
      () => attentionOf(transactionId),
      (reason) => reason === 'REPLACEMENT_NEEDS_REVIEW',
      { what: 'the replacement on the stuck list', withinMs: 40_000 },
    );
  }, 60_000);
});

describe('a top-up', () => {
  const topUp = (buyer: Buyer, esimId: string, paymentMethod = 'WALLET') =>
    post(buyer, '/api/esim/buy', {
      ...{ packageCode: 'TOPUP_SIM-MANUAL-LIFE', packageType: 'TOPUP', paymentMethod, esimId },
    });

  it('that is open keeps its eSIM from being replaced', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await installed(buyer);
    expect((await topUp(buyer, esimId, 'CARD')).body.status).toBe('PENDING');
    expect(await whyNot(buyer, esimId)).toBe('TOP_UP_OPEN');
  });

  it('is not sold to an eSIM that is being replaced', async () => {
    const buyer = await newBuyer(stack);
    const { esimId, transactionId } = await installed(buyer);
    await replace(buyer, esimId);
    await stack.faults({ neverAllocate: 1 });
    try {
      await operator.act(transactionId, 'grant-replacement', { evidence: EVIDENCE });
      await untilState(esimId, 'ORDERING');
      const { body } = await topUp(buyer, esimId);
      expect(body).toMatchObject({ code: 'INVALID_TOPUP' });
    } finally {
      await stack.clearFaults();
    }
    await untilState(esimId, 'REPLACED');
  }, 90_000);
});
