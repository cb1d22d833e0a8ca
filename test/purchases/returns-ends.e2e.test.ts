// Where the money of a return goes, and who ends one that the supplier says nothing about: the gateway, a
// crash between the cancellation and the money, and operators.
import { describe, expect, it } from 'vitest';
import { newBuyer, timelineOf, untilClosed } from '../support/people/buyer.ts';
import { disputing } from '../support/money/disputing.ts';
import { EVIDENCE, newOperator } from '../support/people/operator-actions.ts';
import { atGateway, buyThroughGateway } from '../support/money/payments.ts';
import { reconcileNow } from '../support/money/payers.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const stack = await soundStack({
  supplier: { activateAfterMs: null },
  timings: {
    attentionAfterMs: 2_000,
    inFlightGraceMs: 500,
    refundCheckMaxMs: 500,
  },
  env: {
    SIMWAY_TEST_RECONCILE_SETTLE_MS: '1',
  },
});
const buyer = await newBuyer(stack);
const { account } = buyer;

const giveBack = (esimId: string) =>
  stack.call('POST', `/api/esim/${esimId}/returns`, { key: account.apiKey, body: {} });

const returnOf = (esimId: string) =>
  stack.owner.selectFrom('returns').selectAll().where('esim_id', '=', esimId).executeTakeFirst();

const untilState = (esimId: string, state: string) =>
  until(
    () => returnOf(esimId),
    (row) => row?.state === state,
    { what: `a return ${state}`, withinMs: 20_000 },
  );

async function bought(code = 'SIM-MANUAL-LIFE') {
  const { body } = await buyer.buy(code);
  const purchase = await untilClosed(stack, body.transactionId);
  return {
    esimId: purchase.esim_id,
    transactionId: purchase.transaction_id,
    priceMinor: BigInt(String(purchase.price_minor)),
  };
}

/** As our worker would have, just before it died. */
async function cancelAtSupplier(esimId: string): Promise<void> {
  const { esim_tran_no: esimTranNo } = await stack.owner
    .selectFrom('esims')
    .select('esim_tran_no')
    .where('id', '=', esimId)
    .executeTakeFirstOrThrow();
  const answer = await fetch(`${stack.supplierUrl}/api/v1/open/esim/cancel`, {
    method: 'POST',
    headers: { 'RT-AccessCode': 'test-access', 'Content-Type': 'application/json' },
    body: JSON.stringify({ esimTranNo }),
  });
  expect(await answer.json()).toMatchObject({ success: true });
}

/** What a person has read at the supplier that said nothing to us. */
async function setCancelled(esimId: string): Promise<void> {
  const { iccid } = await stack.owner
    .selectFrom('esims')
    .select('iccid')
    .where('id', '=', esimId)
    .executeTakeFirstOrThrow();
  await fetch(`${stack.supplierControlUrl}/esims/${iccid}`, {
    method: 'PUT',
    body: JSON.stringify({ esimStatus: 'CANCEL' }),
  });
}

describe('the money of a return', () => {
  it('goes back over the gateway that it was paid through', async () => {
    const { transactionId, reference } = await buyThroughGateway(stack, account, {
      packageCode: 'SIM-MANUAL-LIFE',
    });
    await atGateway(stack, reference, 'pay');
    const purchase = await untilClosed(stack, transactionId);
    expect(purchase.status).toBe('SUCCESS');
    const beforeMinor = await buyer.balanceMinor();
    const { body, text } = await giveBack(purchase.esim_id);
    expect(['REFUNDING', 'RETURNED'], text).toContain(body.data.state);
    expect(await untilState(purchase.esim_id, 'RETURNED')).toMatchObject({ refunded_to: 'SOURCE' });
    const [refund] = await stack.owner
      .selectFrom('refunds')
      .selectAll()
      .where('transaction_id', '=', transactionId)
      .execute();
    expect(refund).toMatchObject({ status: 'DONE', amount_minor: purchase.price_minor });
    expect(await buyer.balanceMinor()).toBe(beforeMinor);
    expect(await timelineOf(stack, transactionId)).toEqual(expect.arrayContaining(['returned', 'refunded']));
  });

  it('is given once, also where we die between the cancellation and the money', async () => {
    const { esimId, priceMinor } = await bought();
    const beforeMinor = await buyer.balanceMinor();
    await stack.stopWorker();
    expect((await giveBack(esimId)).body.data.state).toBe('PENDING');
    await cancelAtSupplier(esimId);
    await stack.startWorker();
    await untilState(esimId, 'RETURNED');
    expect(await buyer.balanceMinor()).toBe(beforeMinor + priceMinor);
  }, 90_000);

  it('agrees with the supplier’s list and balance', async () => {
    await reconcileNow(stack);
    const open = await stack.owner
      .selectFrom('reconciliation_differences')
      .select(['kind', 'subject'])
      .where('closed_at', 'is', null)
      .where('kind', '<>', 'supplier-balance-differs')
      .execute();
    expect(open).toEqual([]);
  });
});

describe('a return that the supplier says nothing about', () => {
  const operator = newOperator(stack);

  it('is given by a person with evidence, once', async () => {
    const { esimId, transactionId, priceMinor } = await bought('SIM-RETURN-SILENT');
    await giveBack(esimId);
    await untilState(esimId, 'NEEDS_REVIEW');
    const beforeMinor = await buyer.balanceMinor();
    expect(await operator.act(transactionId, 'grant-return')).toMatchObject({ code: 'EVIDENCE_NEEDED' });
    const granted = await operator.act(transactionId, 'grant-return', { evidence: EVIDENCE });
    expect(granted).toMatchObject({ outcome: 'done' });
    const again = { evidence: EVIDENCE, actionKey: 'another' };
    expect(await operator.act(transactionId, 'grant-return', again)).toMatchObject({ code: 'DOES_NOT_FIT' });
    expect(await buyer.balanceMinor()).toBe(beforeMinor + priceMinor);
    expect(await returnOf(esimId)).toMatchObject({ state: 'RETURNED' });
    await setCancelled(esimId);
  });

  it('is given by a person also where the fee is all of it', async () => {
    const { esimId, transactionId, priceMinor } = await bought('SIM-RETURN-SILENT');
    await giveBack(esimId);
    await untilState(esimId, 'NEEDS_REVIEW');
    await stack.owner
      .updateTable('returns')
      .set({ fee_minor: priceMinor, amount_minor: 0n })
      .where('esim_id', '=', esimId)
      .execute();
    const beforeMinor = await buyer.balanceMinor();
    const granted = await operator.act(transactionId, 'grant-return', { evidence: EVIDENCE });
    expect(granted).toMatchObject({ outcome: 'done' });
    expect(await returnOf(esimId)).toMatchObject({ state: 'RETURNED' });
    expect(await buyer.balanceMinor()).toBe(beforeMinor);
    await setCancelled(esimId);
  });

  it('is refused by a person only once no cancellation can arrive any more', async () => {
    const { esimId, transactionId } = await bought('SIM-RETURN-SILENT');
    await giveBack(esimId);
    await untilState(esimId, 'NEEDS_REVIEW');
    const beforeMinor = await buyer.balanceMinor();
    expect(await operator.act(transactionId, 'refuse-return')).toMatchObject({ code: 'DOES_NOT_FIT' });
    await until(
      () => operator.act(transactionId, 'refuse-return'),
      ({ outcome }) => outcome === 'done',
      { what: 'a refusal that fits', withinMs: 60_000, everyMs: 500 },
    );
    expect(await returnOf(esimId)).toMatchObject({ state: 'REFUSED', refusal: 'REFUSED_BY_OPERATOR' });
    expect(await buyer.balanceMinor()).toBe(beforeMinor);
  }, 90_000);
});

describe('a return whose payment a bank disputes or takes back', () => {
  const operator = newOperator(stack);
  const flag = (transactionId: string, reason: string | null) =>
    stack.owner
      .updateTable('purchases')
      .set({ attention_reason: reason, needs_attention_since: reason === null ? null : new Date() })
      .where('transaction_id', '=', transactionId)
      .execute();
  const { dispute, resolve, settle } = disputing(stack, operator);

  it('is refused before anything is cancelled', async () => {
    const { esimId, transactionId } = await bought();
    await stack.stopWorker();
    expect((await giveBack(esimId)).body.data.state).toBe('PENDING');
    await flag(transactionId, 'PAYMENT_DISPUTED');
    await stack.startWorker();
    expect(await untilState(esimId, 'REFUSED')).toMatchObject({
      refusal: 'PAYMENT_DISPUTED',
      cancel_attempts: 0,
    });
    expect(await stack.supplierOrders(transactionId)).toMatchObject([
      { esims: [{ esimStatus: 'GOT_RESOURCE' }] },
    ]);
  }, 90_000);

  it('waits for the end of the dispute where a cancellation was sent, and is paid then', async () => {
    const { esimId, transactionId, priceMinor } = await bought();
    const beforeMinor = await buyer.balanceMinor();
    await stack.stopWorker();
    expect((await giveBack(esimId)).body.data.state).toBe('PENDING');
    await cancelAtSupplier(esimId);
    await flag(transactionId, 'PAYMENT_DISPUTED');
    await stack.owner
      .updateTable('returns')
      .set({ cancel_attempts: 1, cancel_send_before: new Date(), cancel_settles_after: new Date() })
      .where('esim_id', '=', esimId)
      .execute();
    await stack.startWorker();
    await untilState(esimId, 'NEEDS_REVIEW');
    expect(await buyer.balanceMinor()).toBe(beforeMinor);
    await flag(transactionId, null);
    // A person is quicker than the return's workflow, which asks again after minutes.
    await until(
      () => operator.act(transactionId, 'grant-return', { evidence: EVIDENCE, actionKey: 'won' }),
      ({ outcome }) => outcome === 'done',
      { what: 'a return that is granted after the dispute', withinMs: 30_000, everyMs: 500 },
    );
    expect(await untilState(esimId, 'RETURNED')).toMatchObject({ amount_minor: String(priceMinor) });
    expect(await buyer.balanceMinor()).toBe(beforeMinor + priceMinor);
  }, 120_000);

  it('sends nothing to the card where the whole price was given back as goodwill before', async () => {
    const { transactionId, reference } = await buyThroughGateway(stack, account, {
      packageCode: 'SIM-MANUAL-LIFE',
      method: 'CARD',
    });
    await atGateway(stack, reference, 'pay');
    const { esim_id: esimId } = await untilClosed(stack, transactionId);
    const goodwill = { goodwill: true, evidence: EVIDENCE };
    expect(await operator.act(transactionId, 'credit-wallet', goodwill)).toMatchObject({ outcome: 'done' });
    const beforeMinor = await buyer.balanceMinor();
    expect((await giveBack(esimId)).body.data).toMatchObject({ state: 'RETURNED', amount: 0 });
    expect(await buyer.balanceMinor()).toBe(beforeMinor);
    const refunds = stack.owner.selectFrom('refunds').selectAll().where('transaction_id', '=', transactionId);
    expect(await refunds.execute()).toEqual([]);
  });

  // A card is charged in dollars, as the price is; a transfer in naira: its loss leaves the revenue whole.
  it.each(['CARD', 'BANK_TRANSFER'] as const)(
    'gives nothing back that a bank took, once settled: %s',
    async (method) => {
      const { transactionId, reference } = await buyThroughGateway(stack, account, {
        packageCode: 'SIM-RETURN-SILENT',
        method,
      });
      await atGateway(stack, reference, 'pay');
      const { esim_id: esimId } = await untilClosed(stack, transactionId);
      await giveBack(esimId);
      await untilState(esimId, 'NEEDS_REVIEW');
      const beforeMinor = await buyer.balanceMinor();
      await dispute(transactionId);
      await resolve(transactionId, 'merchant-accepted');
      await until(
        () => settle(transactionId, 'lost'),
        ({ outcome }) => outcome === 'done',
        { what: 'a dispute that is settled', withinMs: 30_000, everyMs: 500 },
      );
      await until(
        () =>
          operator.act(transactionId, 'grant-return', { evidence: EVIDENCE, actionKey: `lost-${method}` }),
        ({ outcome }) => outcome === 'done',
        { what: 'a return that is granted after the reversal', withinMs: 30_000, everyMs: 500 },
      );
      expect(await untilState(esimId, 'RETURNED')).toMatchObject({ amount_minor: '0' });
      await setCancelled(esimId);
      expect(await buyer.balanceMinor()).toBe(beforeMinor);
    },
    120_000,
  );
});
