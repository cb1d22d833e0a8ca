// Returns of unused eSIMs through the whole service: the supplier decides, and the money follows.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { newBuyer, timelineOf, type Buyer } from '../support/people/buyer.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const stack = await soundStack({
  timings: { attentionAfterMs: 3_000, inFlightGraceMs: 1_000 },
  env: {
    SIMWAY_RETURN_FEE: '10',
  },
});

/** An eSIM that nobody installs, and what was paid for it. */
async function boughtBy(buyer: Buyer, code = 'SIM-MANUAL-LIFE') {
  const { body } = await buyer.buy(code);
  const delivered = await until(
    () => buyer.read(`/api/esim/transactions/${body.transactionId}`),
    (answer) => answer.body.status === 'SUCCESS',
    { what: 'an eSIM to return' },
  );
  const { esimId, iccid } = delivered.body.esimDetails;
  return { esimId, iccid, transactionId: body.transactionId };
}

const giveBack = (buyer: Buyer, esimId: string, key = randomUUID()) =>
  stack.call('POST', `/api/esim/${esimId}/returns`, {
    key: buyer.account.apiKey,
    body: {},
    headers: { 'Idempotency-Key': key },
  });

const install = (buyer: Buyer, esimId: string, stage = 'DOWNLOAD') =>
  stack.call('POST', `/api/sandbox/esims/${esimId}/install`, { key: buyer.account.apiKey, body: { stage } });

const esimOf = async (buyer: Buyer, esimId: string) => (await buyer.read(`/api/esim/${esimId}`)).body;

const returnOf = (esimId: string) =>
  stack.owner.selectFrom('returns').selectAll().where('esim_id', '=', esimId).execute();

describe('a return', () => {
  it('of an unused eSIM is cancelled at the supplier, and its price less the fee is in the wallet', async () => {
    const buyer = await newBuyer(stack);
    const beforeMinor = await buyer.balanceMinor();
    const { esimId, transactionId } = await boughtBy(buyer);
    const paidMinor = beforeMinor - (await buyer.balanceMinor());
    const terms = (await buyer.read(`/api/esim/${esimId}/return-terms`)).body;
    expect(terms.data).toMatchObject({ returnable: true, refusal: null, refundTo: 'WALLET' });
    const answer = await giveBack(buyer, esimId);
    expect(answer).toMatchObject({
      status: 201,
      body: { data: { state: 'RETURNED', refundedTo: 'WALLET' } },
    });
    const feeMinor = (paidMinor + 5n) / 10n;
    expect(answer.body.data).toMatchObject({
      price: Number(paidMinor) / 100,
      fee: Number(feeMinor) / 100,
      amount: Number(paidMinor - feeMinor) / 100,
    });
    expect(await buyer.balanceMinor()).toBe(beforeMinor - feeMinor);
    expect(await esimOf(buyer, esimId)).toMatchObject({ esimStatus: 'CANCELLED' });
    expect(await stack.supplierOrders(transactionId)).toMatchObject([{ esims: [{ esimStatus: 'CANCEL' }] }]);
    expect(await timelineOf(stack, transactionId)).toEqual(
      expect.arrayContaining(['return-requested', 'returned']),
    );
  });

  it('of one installed a second ago is refused, and nothing is moved', async () => {
    const buyer = await newBuyer(stack);
    const { esimId, transactionId } = await boughtBy(buyer);
    const beforeMinor = await buyer.balanceMinor();
    await install(buyer, esimId);
    const answer = await giveBack(buyer, esimId);
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'RETURN_REFUSED' } } });
    expect(answer.body.error.details).toMatch(/^NOT_UNUSED/);
    expect(await buyer.balanceMinor()).toBe(beforeMinor);
    expect(await stack.supplierOrders(transactionId)).toMatchObject([
      { esims: [{ esimStatus: 'GOT_RESOURCE' }] },
    ]);
    expect(await returnOf(esimId)).toMatchObject([{ state: 'REFUSED', refusal: 'NOT_UNUSED' }]);
  });

  it('that is refused five times asks the supplier no more within the hour', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await boughtBy(buyer);
    await install(buyer, esimId);
    // Those of more than an hour ago do not count.
    const ask = async () => (await giveBack(buyer, esimId)).body.error.details.split(', ')[0];
    const words = [await ask()];
    await sql`insert into returns
      select * from jsonb_populate_recordset(null::returns, (
        select jsonb_agg(to_jsonb(returns) || jsonb_build_object('id', 'return-' || repeat(n::text, 32),
                 'created_at', clock_timestamp() - interval '61 minutes'))
          from returns, generate_series(1, 5) n where esim_id = ${esimId}))`.execute(stack.owner);
    for (let asked = 1; asked < 6; asked++) words.push(await ask());
    expect(words).toEqual([...Array.from({ length: 5 }, () => 'NOT_UNUSED'), 'TOO_OFTEN']);
  });

  it('is paid once, whoever asks again', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await boughtBy(buyer);
    const beforeMinor = await buyer.balanceMinor();
    const key = randomUUID();
    const [first, twin] = await Promise.all([giveBack(buyer, esimId, key), giveBack(buyer, esimId)]);
    const paid = [first, twin].filter(({ status }) => status === 201);
    expect(paid).toHaveLength(1);
    const amountMinor = BigInt(Math.round((paid[0]?.body.data.amount ?? 0) * 100));
    const again = await giveBack(buyer, esimId, randomUUID());
    expect(again).toMatchObject({ status: 409, body: { error: { details: 'ALREADY_RETURNED' } } });
    expect(await buyer.balanceMinor()).toBe(beforeMinor + amountMinor);
    if (first.status === 201) expect(await giveBack(buyer, esimId, key)).toMatchObject({ text: first.text });
  });

  it('of another account’s eSIM is refused before anything is written', async () => {
    const [buyer, stranger] = [await newBuyer(stack), await newBuyer(stack)];
    const { esimId } = await boughtBy(buyer);
    expect(await giveBack(stranger, esimId)).toMatchObject({
      status: 403,
      body: { error: { code: 'NOT_YOUR_ESIM' } },
    });
    const many = await stack.call('POST', '/api/esim/returns', {
      key: stranger.account.apiKey,
      body: { esimIds: [esimId] },
    });
    expect(many.body.data.items).toMatchObject([{ returnId: null, state: null, refusal: 'NOT_FOUND' }]);
    expect(await returnOf(esimId)).toEqual([]);
  });

  it('whose cancellation lost its answer is asked about, and paid', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await boughtBy(buyer, 'SIM-RETURN-LOSE-ANSWER');
    const beforeMinor = await buyer.balanceMinor();
    await giveBack(buyer, esimId);
    await until(
      () => returnOf(esimId),
      ([row]) => row?.state === 'RETURNED',
      { what: 'a return whose answer was lost', withinMs: 20_000 },
    );
    expect(await buyer.balanceMinor()).toBeGreaterThan(beforeMinor);
  });

  it('goes by the terms of its account', async () => {
    const buyer = await newBuyer(stack);
    const { esimId, transactionId } = await boughtBy(buyer);
    const agree = (terms: object) =>
      stack.accounts.updateTable('accounts').set(terms).where('id', '=', buyer.account.accountId).execute();
    await agree({ returns_allowed: false });
    expect(await giveBack(buyer, esimId)).toMatchObject({ body: { error: { details: 'NOT_ALLOWED' } } });
    await agree({ returns_allowed: true, return_window_days: 1 });
    await stack.owner
      .updateTable('purchases')
      .set({ closed_at: new Date(Date.now() - 25 * 3_600_000) })
      .where('transaction_id', '=', transactionId)
      .execute();
    expect(await giveBack(buyer, esimId)).toMatchObject({ body: { error: { details: 'WINDOW_OVER' } } });
    await agree({ return_window_days: 2, return_fee_bps: 10_000 });
    expect(await giveBack(buyer, esimId)).toMatchObject({ status: 201, body: { data: { amount: 0 } } });
  });

  it('waits for a person where the supplier does not say, and stays open for the supplier', async () => {
    const buyer = await newBuyer(stack);
    const { esimId, transactionId } = await boughtBy(buyer, 'SIM-RETURN-SILENT');
    const answer = await giveBack(buyer, esimId);
    expect(answer).toMatchObject({ status: 201, body: { data: { refundedTo: null, closedAt: null } } });
    await until(
      () => returnOf(esimId),
      ([row]) => row?.state === 'NEEDS_REVIEW',
      { what: 'a return in review', withinMs: 20_000 },
    );
    const flagged = stack.owner.selectFrom('purchases').select('attention_reason');
    expect(await flagged.where('transaction_id', '=', transactionId).executeTakeFirst()).toEqual({
      attention_reason: 'RETURN_NEEDS_REVIEW',
    });
  });

  it('of many is one line each', async () => {
    const buyer = await newBuyer(stack);
    const [one, two, used] = [await boughtBy(buyer), await boughtBy(buyer), await boughtBy(buyer)];
    await giveBack(buyer, two.esimId);
    await install(buyer, used.esimId);
    const missing = `esim-${'0'.repeat(32)}`;
    const esimIds = [one.esimId, two.esimId, used.esimId, missing];
    const { status, body } = await stack.call('POST', '/api/esim/returns', {
      key: buyer.account.apiKey,
      body: { esimIds },
    });
    expect(status).toBe(202);
    expect(body.data.items).toMatchObject([
      { esimId: one.esimId, refusal: null },
      { returnId: null, refusal: 'ALREADY_RETURNED' },
      { esimId: used.esimId, refusal: null },
      { returnId: null, refusal: 'NOT_FOUND' },
    ]);
    await until(
      () => buyer.read('/api/esim/returns?state=RETURNED'),
      (answer) => answer.body.data.pagination.totalItems === 2,
      { what: 'both returned' },
    );
    await until(
      () => buyer.read(`/api/esim/returns?esimId=${used.esimId}`),
      (answer) => (answer.body.data.items[0] as { state?: string }).state === 'REFUSED',
      { what: 'the used one refused' },
    );
  });
});
