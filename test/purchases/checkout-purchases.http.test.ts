// One purchase a checkout session, whoever makes it: another request with its quote, another handler, a key
// with a budget.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../support/http/api.ts';
import {
  CARD,
  checkoutOf,
  CREATE,
  expectRefusal,
  PACKAGE,
  WALLET,
  type Session,
} from './checkout-sessions.support.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const { post, read, created, completed, nothingBought } = checkoutOf(() => api);

describe('a checkout session', () => {
  const buyElsewhere = (quoteId: string, paymentMethod = 'WALLET') =>
    api.ask('/api/esim/buy', {
      key: 'usd',
      body: { packageCode: PACKAGE, packageType: 'BASE', paymentMethod, quoteId },
    });

  it('shows the purchase that has bought with its quote elsewhere, and completing answers it', async () => {
    const { id, quote_id: quoteId } = await created();
    const bought = (await buyElsewhere(quoteId)).json as { transactionId: string };
    await nothingBought(async () => {
      const session = (await read(id)).json;
      expect(session).toMatchObject({
        status: 'completed',
        order: { id: bought.transactionId, status: 'completed' },
        capabilities: { payment: { handlers: [] } },
      });
      for (const body of [WALLET, CARD]) expect(await completed(id, body)).toEqual(session);
      expectRefusal(await post(`/${id}`, { line_items: [{ id: PACKAGE }] }), 409, 'checkout_session_closed');
      expectRefusal(await post(`/${id}/cancel`, {}), 405, 'checkout_session_not_cancelable');
    });
  });

  it('whose quote waits elsewhere for the buyer shows the page to pay on', async () => {
    const { id, quote_id: quoteId } = await created();
    const { transactionId, paymentUrl } = (await buyElsewhere(quoteId, 'CARD')).json as Record<
      string,
      string
    >;
    expect(await completed(id)).toMatchObject({
      status: 'requires_escalation',
      continue_url: paymentUrl,
      order: { id: transactionId },
    });
  });

  it.each(['', '/cancel', '/complete'])(
    'whose quote was bought elsewhere in vain is as it was: POST %s is taken',
    async (action) => {
      const { id, quote_id: quoteId } = await created();
      api.shop.vendors.supplier = 'refuses';
      expect((await buyElsewhere(quoteId)).status).toBe(400);
      api.shop.vendors.supplier = 'delivers';
      expect((await read(id)).json).toMatchObject({ status: 'ready_for_payment' });
      const body = action === '/complete' ? WALLET : action === '' ? { line_items: [{ id: PACKAGE }] } : {};
      expect((await post(`/${id}${action}`, body)).status).toBe(200);
    },
  );

  it('of a key with a budget is paid from the wallet alone, and a refusal names the limit', async () => {
    await api.shop.giveBudget('usd', { maxPriceMinor: 12_50n });
    const { id } = await created();
    expect((await read(id)).json).toMatchObject({
      capabilities: { payment: { handlers: [{ id: 'wallet' }] } },
    });
    const byCard = await post(`/${id}/complete`, CARD);
    expectRefusal(byCard, 403, 'key_budget_exceeded');
    expect(byCard.text).toContain('pays from the wallet alone');
    await api.shop.giveBudget('usd', { maxPriceMinor: 12_49n });
    for (const reply of [
      await post('', CREATE),
      await post(`/${id}`, { line_items: [{ id: PACKAGE }] }),
      await post(`/${id}/complete`, WALLET),
    ]) {
      expectRefusal(reply, 403, 'key_budget_exceeded');
      expect(reply.text).toContain('this: maxPrice is USD 12.49, and this package costs more');
    }
    await api.shop.giveBudget('usd', { maxPurchases: 9 });
    expect(await completed(id)).toMatchObject({ status: 'completed' });
  });
});

describe('completing', () => {
  it('by two handlers at once buys once: each gets that order, or is told to wait', async () => {
    for (let round = 0; round < 6; round += 1) {
      const { id } = await created();
      const before = await api.shop.purchases('usd');
      const bodies = Array.from({ length: 8 }, () => [WALLET, CARD]).flat();
      const replies = await Promise.all(bodies.map((body) => post(`/${id}/complete`, body)));
      expect(await api.shop.purchases('usd')).toBe(before + 1);
      const done = replies.filter(({ status }) => status === 200);
      expect(done.length).toBeGreaterThan(0);
      expect(new Set(done.map(({ json }) => (json as Session).order?.id)).size).toBe(1);
      for (const reply of replies.filter(({ status }) => status !== 200)) {
        expectRefusal(reply, 409, 'idempotency_in_flight');
        expect(reply.headers['retry-after']).toBe('1');
      }
    }
  });
});
