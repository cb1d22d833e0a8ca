// What a checkout session may cost and whom its link is shown to: prices that rise, budgets of keys, and keys
// that may not install.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findPricingSettings, insertPricingSettings } from '../../src/catalogue/store/pricing-settings.ts';
import { startApi, type Ask, type TestApi } from '../support/http/api.ts';
import { untilStatementWaits } from '../support/world/books.ts';
import {
  CARD,
  checkoutOf,
  CREATE,
  expectRefusal,
  PACKAGE,
  type Session,
  WALLET,
} from './checkout-sessions.support.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const { post, read, created, completed, nothingBought } = checkoutOf(() => api);

async function setMarkup(markupBps: number): Promise<void> {
  const { owner } = api.shop;
  const markups = { userMarkupBps: markupBps, merchantMarkupBps: markupBps, ngnIncrementBps: 0 };
  const settings = { id: randomUUID(), ...markups, by: 'a test', reason: 'a test', confirmedBy: null };
  await insertPricingSettings(owner, settings, await findPricingSettings(owner));
  await api.shop.changePrices();
}

describe('a checkout session', () => {
  it('is sold at the price that it shows, though prices have risen since', async () => {
    const { id } = await created();
    const before = await api.shop.balance('usd');
    await setMarkup(5_000);
    try {
      expect((await created()) as object).toMatchObject({ line_items: [{ item: { unit_amount: 1500 } }] });
      expect(await completed(id)).toMatchObject({ line_items: [{ item: { unit_amount: 1250 } }] });
    } finally {
      await setMarkup(2_500);
    }
    expect(await api.shop.balance('usd')).toBe(before - 12_50n);
  });

  it('stays within the budget of its key, which pays from the wallet alone', async () => {
    const [first, second] = [await created(), await created()];
    await api.shop.giveBudget('usd', { maxPurchases: 1 });
    await nothingBought(async () =>
      expectRefusal(await post(`/${first.id}/complete`, CARD), 403, 'key_budget_exceeded'),
    );
    expect(await completed(first.id)).toMatchObject({ status: 'completed' });
    await nothingBought(async () =>
      expectRefusal(await post(`/${second.id}/complete`, WALLET), 403, 'key_budget_exceeded'),
    );
    expect((await read(second.id)).json).toMatchObject({ status: 'ready_for_payment' });
    await api.shop.giveBudget('usd', { maxPriceMinor: 12_49n });
    expectRefusal(await post('', CREATE), 403, 'key_budget_exceeded');
  });

  it('is neither canceled nor changed once a purchase has taken its price, however close they come', async () => {
    for (const path of ['/cancel', '']) {
      const { id, quote_id: quoteId } = await created();
      const { changing } = await api.shop.owner.transaction().execute(async (trx) => {
        const taken = { used_by: `txn-${'0'.repeat(32)}`, used_at: new Date() };
        await trx.updateTable('quotes').set(taken).where('id', '=', quoteId).execute();
        const changing = post(`/${id}${path}`, path === '' ? { line_items: [{ id: PACKAGE }] } : {});
        await untilStatementWaits(api.shop.owner);
        return { changing };
      });
      expect((await changing).status).toBe(path === '' ? 409 : 405);
    }
  });

  it('is bought by no other request, whatever key that sends', async () => {
    const { id } = await created();
    const headers = { 'idempotency-key': `acp ${api.idOf(id)}` };
    const body = { packageCode: PACKAGE, packageType: 'BASE', paymentMethod: 'WALLET' };
    expect((await api.ask('/api/esim/buy', { key: 'usd', body, headers })).status).toBe(201);
    expect((await read(id)).json).toMatchObject({ status: 'ready_for_payment' });
    expect(await completed(id)).toMatchObject({ status: 'completed' });
    expect(await api.shop.purchases('usd')).toBe(2);
  });
});

describe('the link to the install page', () => {
  const LINK = /^https:\/\/shop\.example\/i\/[\w-]{32}$/;
  const DASHBOARD = 'https://shop.example/dashboard';
  const permalinkIn = ({ order }: Session) => order?.permalink_url;

  it('is shown to no key that may not install, in a repeated answer neither', async () => {
    const { id } = await created({ ...CREATE, currency: 'ngn' }, { key: 'noinstall' });
    const headers = { 'idempotency-key': randomUUID() };
    const complete = (key: string, given: Ask = {}) => completed(id, WALLET, { key, headers, ...given });
    expect(permalinkIn(await complete('noinstall'))).toBe(DASHBOARD);
    expect(permalinkIn((await read(id, { key: 'noinstall' })).json as Session)).toBe(DASHBOARD);
    expect(permalinkIn(await complete('ngn'))).toMatch(LINK);
    expect(permalinkIn(await complete('noinstall'))).toBe(DASHBOARD);
    expect(permalinkIn(await complete('noinstall', { headers: {} }))).toBe(DASHBOARD);
  });

  it('is not kept with the answer to a repeat that comes after the purchase', async () => {
    const [creating, changing] = [randomUUID(), randomUUID()].map((key) => ({
      headers: { 'idempotency-key': key },
    }));
    const { id } = await created(CREATE, creating);
    const change = { line_items: [{ id: PACKAGE }] };
    expect((await post(`/${id}`, change, changing)).status).toBe(200);
    const { order } = await completed(id);
    // As where the service was killed before it kept the answers.
    await api.shop.owner
      .updateTable('idempotency_keys')
      .set({ answer_status: null, answer_body: null, created_at: new Date(Date.now() - 60_000) })
      .where('account_id', '=', api.shop.accountId('usd'))
      .execute();
    expect(permalinkIn(await created(CREATE, creating))).toBe(order?.permalink_url);
    expect(permalinkIn((await post(`/${id}`, change, changing)).json as Session)).toMatch(LINK);
    const kept = await api.shop.owner
      .selectFrom('idempotency_keys')
      .select('answer_body')
      .where('account_id', '=', api.shop.accountId('usd'))
      .where('answer_body', 'is not', null)
      .execute();
    expect(kept).toHaveLength(2);
    expect(JSON.stringify(kept)).not.toContain((order?.permalink_url ?? '').slice(-32));
    expect(permalinkIn(await created(CREATE, creating))).toBe(order?.permalink_url);
  });
});
