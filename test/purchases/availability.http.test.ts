// What the supplier would refuse is refused before a buyer pays, on each way to buy. A merchant never reads
// whether stock or balance was lacking.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../support/http/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(async () => {
  await sql`truncate package_shortages, supplier_balances`.execute(api.shop.owner);
  await api.shop.changeAvailability();
  await api.close();
});

const BASE = { packageCode: 'NG-5GB-30D', packageType: 'BASE' };

async function soldOut(reason = 'OUT_OF_STOCK'): Promise<void> {
  await sql`
    insert into package_shortages (package_code, supplier, reason, cost_usd_e4, order_id, probe_at, paid_probe_at)
    values ('NG-5GB-30D', 'esim-access', ${reason}, 10000, 'txn', now() + interval '1 h', now() + interval '1 day')`.execute(
    api.shop.owner,
  );
  await api.shop.changeAvailability();
}

const WAYS = [
  ['a purchase from the wallet', '/api/esim/buy', { ...BASE, paymentMethod: 'WALLET' }],
  ['a purchase by card', '/api/esim/buy', { ...BASE, paymentMethod: 'CARD' }],
  ['a quote', '/api/esim/quotes', BASE],
] as const;

describe.each(['OUT_OF_STOCK', 'BALANCE_TOO_LOW'])('a package in shortage, %s', (reason) => {
  it.each(WAYS)('is refused to %s, in the same words', async (_way, path, body) => {
    await soldOut(reason);
    const reply = await api.ask(path, { key: 'usd', body });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('PACKAGE_UNAVAILABLE');
    expect(reply.text).not.toMatch(/STOCK|BALANCE|supplier/i);
  });

  it('stays in the list', async () => {
    await soldOut(reason);
    expect((await api.ask('/api/esim/packages?regionCode=NG', { key: 'usd' })).text).toContain('NG-5GB-30D');
  });
});

describe('a quote that was made before', () => {
  it('buys nothing while the package is in shortage, and is free afterwards', async () => {
    const made = await api.ask('/api/esim/quotes', { key: 'usd', body: BASE });
    const { quoteId } = (made.json as { data: { quoteId: string } }).data;
    const buy = () =>
      api.ask('/api/esim/buy', { key: 'usd', body: { ...BASE, paymentMethod: 'WALLET', quoteId } });
    await soldOut();
    expect(await buy()).toMatchObject({ status: 400 });
    await sql`truncate package_shortages`.execute(api.shop.owner);
    await api.shop.changeAvailability();
    expect(await buy()).toMatchObject({ status: 201 });
  });
});

describe('a balance that does not cover a package', () => {
  it('is seen by this process before the purchase is opened', async () => {
    await sql`
      insert into supplier_balances (check_number, supplier, balance_usd_e4, uncharged_usd_e4, booked_until,
        is_bound, is_tight, asked_at)
      select nextval('supplier_balance_checks'), 'esim-access', 100, 0, 0, false, true, now()`.execute(
      api.shop.owner,
    );
    await api.shop.changeAvailability();
    const reply = await api.ask('/api/esim/buy', { key: 'usd', body: { ...BASE, paymentMethod: 'CARD' } });
    expect(reply).toMatchObject({ status: 400 });
    expect(reply.text).toContain('PACKAGE_UNAVAILABLE');
  });
});
