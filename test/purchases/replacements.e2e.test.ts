// Replacements through the whole service: the supplier says that the old eSIM was deleted, the new one is a
// purchase, and the old one is retired once that is delivered.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { newBuyer, timelineOf, type Buyer } from '../support/people/buyer.ts';
import { EVIDENCE, newOperator } from '../support/people/operator-actions.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const stack = await soundStack({
  supplier: { activateAfterMs: null },
  timings: { attentionAfterMs: 3_000, inFlightGraceMs: 1_000 },
  env: {
    SIMWAY_REPLACEMENT_SHARE: '50',
    SIMWAY_REPLACEMENT_MAX: '2',
  },
});

const CODE = 'SIM-MANUAL-LIFE';

async function boughtBy(buyer: Buyer, code = CODE) {
  const { body } = await buyer.buy(code);
  const { body: delivered } = await until(
    () => buyer.read(`/api/esim/transactions/${body.transactionId}`),
    (answer) => answer.body.status === 'SUCCESS',
    { what: 'an eSIM to replace' },
  );
  const { esimId } = delivered.esimDetails;
  return { esimId, transactionId: body.transactionId };
}

const act = async (buyer: Buyer, esimId: string, action: string, body: object = {}) => {
  const answer = await stack.call('POST', `/api/sandbox/esims/${esimId}/${action}`, {
    key: buyer.account.apiKey,
    body,
  });
  expect(answer.status, answer.text).toBe(200);
};

/** Deleted from its phone. */
async function deleted(buyer: Buyer, code = CODE) {
  const bought = await boughtBy(buyer, code);
  await act(buyer, bought.esimId, 'install', { stage: 'CONNECTED' });
  await act(buyer, bought.esimId, 'delete-profile');
  return bought;
}

const replace = (buyer: Buyer, esimId: string, key = randomUUID()) =>
  stack.call('POST', `/api/esim/${esimId}/replacements`, {
    key: buyer.account.apiKey,
    body: { reason: 'deleted by mistake' },
    headers: { 'Idempotency-Key': key },
  });

/** Asked for and done, however long that takes. */
async function replaced(buyer: Buyer, esimId: string) {
  const { status, body, text } = await replace(buyer, esimId);
  expect(status, text).toBe(201);
  const { body: ended } = await until(
    () => buyer.read(`/api/esim/replacements/${body.data.replacementId}`),
    (answer) => answer.body.data.state === 'REPLACED',
    { what: 'a replacement done' },
  );
  return ended.data;
}

const detailsOf = async (answer: ReturnType<typeof replace>) => {
  const { status, body } = await answer;
  expect(status, JSON.stringify(body)).toBe(409);
  expect(body.error.code).toBe('REPLACEMENT_REFUSED');
  return body.error.details.split(', ');
};

const rowsOf = (esimId: string) =>
  stack.owner.selectFrom('replacements').selectAll().where('esim_id', '=', esimId).execute();

const agree = (buyer: Buyer, terms: { share?: number; days?: number; max?: number; allowed?: boolean }) =>
  stack.accounts
    .updateTable('accounts')
    .set({
      replacements_allowed: terms.allowed ?? true,
      replacement_window_days: terms.days ?? 30,
      replacement_share_bps: terms.share ?? 5_000,
      replacement_max: terms.max ?? 2,
    })
    .where('id', '=', buyer.account.accountId)
    .execute();

/** What a purchase has moved, by account and currency. */
async function booked(transactionId: string): Promise<Record<string, number>> {
  const { rows } = await sql<{ account: string; amount: string }>`
    select split_part(ledger_account_id, ':', 1) as account, sum(amount_minor)::text as amount
      from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
     where t.transaction_id = ${transactionId} group by 1 having sum(amount_minor) <> 0`.execute(stack.owner);
  return Object.fromEntries(rows.map(({ account, amount }) => [account, Number(amount)]));
}

describe('a replacement', () => {
  it('of a deleted eSIM delivers a new one for the share, and retires the old one', async () => {
    const buyer = await newBuyer(stack);
    const beforeMinor = await buyer.balanceMinor();
    const { esimId, transactionId } = await deleted(buyer);
    const paidMinor = beforeMinor - (await buyer.balanceMinor());
    const shareMinor = (paidMinor + 1n) / 2n;
    const terms = (await buyer.read(`/api/esim/${esimId}/replacement-terms`)).body.data;
    expect(terms).toMatchObject({ replaceable: true, refusal: null, price: Number(shareMinor) / 100 });
    const done = await replaced(buyer, esimId);
    expect(done).toMatchObject({ state: 'REPLACED', esimId, price: Number(shareMinor) / 100 });
    const { replacedBy, newTransactionId } = done;
    expect(await buyer.balanceMinor()).toBe(beforeMinor - paidMinor - shareMinor);
    const [old, fresh] = [
      await buyer.read(`/api/esim/${esimId}`),
      await buyer.read(`/api/esim/${replacedBy}`),
    ];
    expect(old.body).toMatchObject({ esimStatus: 'CANCELLED', replacedBy, ac: '', activationCode: '' });
    expect(fresh.body).toMatchObject({ esimStatus: 'CREATED', replaces: esimId });
    expect(fresh.body.activationCode).toMatch(/^LPA:/);
    expect(await stack.supplierOrders(transactionId)).toMatchObject([{ esims: [{ esimStatus: 'REVOKE' }] }]);
    const bought = await buyer.read(`/api/esim/transactions/${newTransactionId}`);
    expect(bought.body).toMatchObject({ status: 'SUCCESS', replaces: esimId });
    expect(await timelineOf(stack, transactionId)).toEqual(
      expect.arrayContaining(['replacement-requested', 'replacement-delivered', 'replaced']),
    );
    expect(await timelineOf(stack, newTransactionId)).toEqual(['replacement-opened', 'delivered']);
    expect(await booked(newTransactionId)).toMatchObject({
      wallet: -Number(shareMinor),
      revenue: Number(shareMinor),
    });
  });

  it('that we pay moves no money of the account, and its cost is booked', async () => {
    const buyer = await newBuyer(stack);
    await agree(buyer, { share: 0 });
    const { esimId } = await deleted(buyer);
    const beforeMinor = await buyer.balanceMinor();
    const done = await replaced(buyer, esimId);
    expect(done).toMatchObject({ state: 'REPLACED', price: 0 });
    expect(await buyer.balanceMinor()).toBe(beforeMinor);
    const { wallet, held, revenue, ...cost } = await booked(done.newTransactionId);
    expect([wallet, held, revenue]).toEqual([undefined, undefined, undefined]);
    expect(Object.values(cost).some((amount) => amount > 0)).toBe(true);
    const entries = await buyer.read('/api/wallet/entries?limit=1');
    expect(entries.text).not.toContain(done.newTransactionId);
  });

  it('that the account pays costs what the eSIM cost', async () => {
    const buyer = await newBuyer(stack);
    await agree(buyer, { share: 10_000 });
    const beforeMinor = await buyer.balanceMinor();
    const { esimId } = await deleted(buyer);
    const paidMinor = beforeMinor - (await buyer.balanceMinor());
    await replaced(buyer, esimId);
    expect(await buyer.balanceMinor()).toBe(beforeMinor - 2n * paidMinor);
  });

  it('is done once, whoever asks again and however many at once', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await deleted(buyer);
    const beforeMinor = await buyer.balanceMinor();
    const key = randomUUID();
    const first = replace(buyer, esimId, key);
    const others = Array.from({ length: 49 }, () => replace(buyer, esimId));
    const answers = await Promise.all([first, ...others]);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await rowsOf(esimId)).toHaveLength(1);
    const [row] = await until(
      () => rowsOf(esimId),
      ([found]) => found?.state === 'REPLACED',
      { what: 'the replacement done' },
    );
    expect(await buyer.balanceMinor()).toBe(beforeMinor - BigInt(String(row?.price_minor)));
    expect(await buyer.purchases()).toHaveLength(2);
    expect(await detailsOf(replace(buyer, esimId))).toEqual(['ALREADY_REPLACED']);
  }, 60_000);

  it('of an unused eSIM is refused with what to do, and nothing is bought', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await boughtBy(buyer);
    const terms = (await buyer.read(`/api/esim/${esimId}/replacement-terms`)).body.data;
    expect(terms).toMatchObject({ replaceable: false, refusal: 'UNUSED' });
    const { status, text } = await replace(buyer, esimId);
    expect(status).toBe(409);
    expect(text).toContain('It cannot be replaced: it is unused: install it again, or return it');
    expect(await buyer.purchases()).toHaveLength(1);
  });

  it('that is refused five times asks the supplier no more within the hour', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await boughtBy(buyer);
    const words = [];
    for (let asked = 0; asked < 6; asked++) words.push((await detailsOf(replace(buyer, esimId)))[0]);
    expect(words).toEqual([...Array.from({ length: 5 }, () => 'UNUSED'), 'TOO_OFTEN']);
  });

  it('of another account’s eSIM is refused before anything is written', async () => {
    const [buyer, stranger] = [await newBuyer(stack), await newBuyer(stack)];
    const { esimId } = await deleted(buyer);
    expect(await replace(stranger, esimId)).toMatchObject({
      status: 403,
      body: { error: { code: 'NOT_YOUR_ESIM' } },
    });
    expect(await rowsOf(esimId)).toEqual([]);
    const mine = await replace(buyer, esimId);
    expect(
      await stack.call('GET', `/api/esim/replacements/${mine.body.data.replacementId}`, {
        key: stranger.account.apiKey,
      }),
    ).toMatchObject({ status: 404, body: { error: { code: 'REPLACEMENT_NOT_FOUND' } } });
  });

  it('is refused for what was returned, is used up, has expired or is cancelled', async () => {
    const buyer = await newBuyer(stack);
    const returned = await boughtBy(buyer);
    const back = await stack.call('POST', `/api/esim/${returned.esimId}/returns`, {
      key: buyer.account.apiKey,
      body: {},
    });
    expect(back.status, back.text).toBe(201);
    expect(await detailsOf(replace(buyer, returned.esimId))).toEqual(['RETURNED']);
    for (const [action, refusal] of [
      ['use-up', 'USED_UP'],
      ['expire', 'EXPIRED'],
    ] as const) {
      const { esimId } = await boughtBy(buyer);
      await act(buyer, esimId, 'install', { stage: 'CONNECTED' });
      await act(buyer, esimId, action);
      expect((await detailsOf(replace(buyer, esimId)))[0]).toBe(refusal);
    }
  });

  it('goes by the terms of its account: allowed, window and how many of what was bought once', async () => {
    const buyer = await newBuyer(stack);
    const { esimId, transactionId } = await deleted(buyer);
    await agree(buyer, { allowed: false });
    expect(await detailsOf(replace(buyer, esimId))).toEqual(['NOT_ALLOWED']);
    await agree(buyer, { days: 1, max: 1, share: 0 });
    const closedAt = (hours: number) =>
      stack.owner
        .updateTable('purchases')
        .set({ closed_at: new Date(Date.now() - hours * 3_600_000) })
        .where('transaction_id', '=', transactionId)
        .execute();
    await closedAt(25);
    expect(await detailsOf(replace(buyer, esimId))).toEqual(['WINDOW_OVER']);
    await closedAt(23);
    const { replacedBy } = await replaced(buyer, esimId);
    await act(buyer, replacedBy, 'install', { stage: 'CONNECTED' });
    await act(buyer, replacedBy, 'delete-profile');
    expect(await detailsOf(replace(buyer, replacedBy))).toEqual(['TOO_MANY']);
    // Of the first price, and not of what the first replacement cost.
    await agree(buyer, { max: 2, share: 10_000 });
    const again = await replaced(buyer, replacedBy);
    expect(again).toMatchObject({ state: 'REPLACED', price: again.fullPrice });
    expect(again.price).toBeGreaterThan(0);
  });

  it('is not bought again once the price of what came in its place was given back', async () => {
    const buyer = await newBuyer(stack);
    await agree(buyer, { share: 5_000, max: 3 });
    const { esimId } = await deleted(buyer);
    const { replacedBy, newTransactionId } = await replaced(buyer, esimId);
    const goodwill = { goodwill: true, evidence: EVIDENCE };
    expect(await newOperator(stack).act(newTransactionId, 'credit-wallet', goodwill)).toMatchObject({
      outcome: 'done',
    });
    await act(buyer, replacedBy, 'install', { stage: 'CONNECTED' });
    await act(buyer, replacedBy, 'delete-profile');
    expect((await detailsOf(replace(buyer, replacedBy)))[0]).toBe('REFUNDED');
  });

  it('whose purchase fails retires nothing, and can be asked for again', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await deleted(buyer);
    const emptied = await buyer.balanceMinor();
    const wallet = `wallet:${buyer.account.accountId}`;
    const { rows } = await sql<{ currency: string }>`
      select currency from wallets where ledger_account_id = ${wallet}`.execute(stack.owner);
    const currency = rows[0]?.currency ?? '';
    const move = (minor: bigint) =>
      sql`with t as (insert into ledger_transactions (operation_key, kind) values (${randomUUID()}, 'fund') returning id)
          insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
          select id, a, ${currency}, m from t, (values (${wallet}, ${minor}::int8), (${`revenue:${currency}`}, ${-minor}::int8)) v (a, m)`.execute(
        stack.owner,
      );
    await move(-emptied);
    expect((await detailsOf(replace(buyer, esimId))).slice(0, 2)).toEqual([
      'PURCHASE_FAILED',
      'INSUFFICIENT_BALANCE',
    ]);
    const kept = (await buyer.read(`/api/esim/${esimId}`)).body;
    expect([kept.esimStatus, kept.replacedBy]).toEqual(['ACTIVE', undefined]);
    await move(emptied);
    expect(await replaced(buyer, esimId)).toMatchObject({ state: 'REPLACED' });
  });

  it('is open where the supplier does not answer the revocation, and done once it has', async () => {
    const buyer = await newBuyer(stack);
    const { esimId, transactionId } = await deleted(buyer, 'SIM-RETURN-LOSE-ANSWER');
    await replace(buyer, esimId);
    await until(
      () => rowsOf(esimId),
      ([row]) => row?.state === 'REPLACED',
      { what: 'a replacement whose revocation lost its answer', withinMs: 20_000 },
    );
    const [row] = await rowsOf(esimId);
    expect(Number(row?.revoke_attempts)).toBeGreaterThan(1);
    expect(await stack.supplierOrders(transactionId)).toMatchObject([{ esims: [{ esimStatus: 'REVOKE' }] }]);
  });

  it('sends its event with both eSIMs, and tells the traveller on the old page', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await deleted(buyer);
    const { installUrl } = (await buyer.read(`/api/esim/${esimId}/install`)).body;
    const { replacementId, replacedBy } = await replaced(buyer, esimId);
    const feed = await until(
      () => buyer.read('/api/events?event=esim.replaced'),
      ({ text }) => text.includes(replacementId),
      { what: 'the event of the replacement' },
    );
    expect(feed.text).toContain(replacedBy);
    for (const [language, words] of [
      ['en', 'The eSIM was replaced by a new one.'],
      ['es', 'La eSIM se sustituyó'],
      ['fr', 'remplacée'],
      ['pt', 'substituído'],
      ['ar', 'استُبدلت'],
    ]) {
      const page = await (await fetch(`${installUrl}?lang=${language}`)).text();
      expect(page).toContain(words);
      expect(page).not.toContain('LPA:');
    }
  });
});
