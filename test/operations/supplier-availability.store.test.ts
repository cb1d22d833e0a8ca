/** Nothing is sold that the supplier would refuse: before a buyer pays, and until a check says otherwise. */
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readAvailability } from '../../src/catalogue/store/shortages.ts';
import { isDeliverable } from '../../src/catalogue/shortage-rules.ts';
import { findCollection } from '../../src/payments/store/payments.ts';
import { openShop } from './supplier-shop.support.ts';

const COSTS = { small: 10_000n, large: 90_000n, largest: 95_000n };
const shop = await openShop(COSTS);
afterAll(() => shop.close());

beforeEach(async () => {
  shop.atSupplier.soldOut.clear();
  shop.atSupplier.balance = 1_000_000_000n;
  // What a test left open is ended: it would count.
  for (const { transaction_id: id, status } of await shop.opened())
    await (status === 'PENDING' ? shop.abandon(id) : shop.deliver(id));
  await sql`delete from package_shortages`.execute(shop.owner);
  await shop.check();
});

const passes = (interval: string) =>
  sql`
    update package_shortages set probe_at = probe_at - ${interval}::interval,
           paid_probe_at = paid_probe_at - ${interval}::interval`.execute(shop.owner);

/** Otherwise the first one is done before the others have a connection. */
const connectAll = () =>
  Promise.all(Array.from({ length: 8 }, () => sql`select pg_sleep(0.2)`.execute(shop.world)));

async function sellOut(): Promise<string> {
  shop.atSupplier.soldOut.add('small');
  const id = await shop.open('small', 'CARD');
  await shop.pay(id);
  await shop.deliver(id);
  return id;
}

describe('a package that the supplier has refused for stock', () => {
  it('is refunded to one buyer, who does not read why, and to no other', async () => {
    const id = await sellOut();
    expect(await shop.statusOf(id)).toBe('FAILED, PACKAGE_UNAVAILABLE');
    expect(await shop.open('small', 'CARD')).toBe('PACKAGE_UNAVAILABLE');
    expect(await shop.open('small', 'WALLET')).toBe('PACKAGE_UNAVAILABLE');
    expect(await shop.open('large', 'CARD')).toMatch(/^txn-/);
  });

  it('is not charged for where its purchase was opened before', async () => {
    const earlier = await shop.open('small', 'CARD');
    expect(await findCollection(shop.world, earlier)).toMatchObject({ isSoldOut: false });
    await sellOut();
    expect(await findCollection(shop.world, earlier)).toMatchObject({ isSoldOut: true });
  });

  it('is tried again by one purchase from a wallet, and sold to all once that is delivered', async () => {
    await sellOut();
    await passes('16 minutes');
    expect(await shop.open('small', 'CARD')).toBe('PACKAGE_UNAVAILABLE');
    await connectAll();
    const tries = await Promise.all(Array.from({ length: 7 }, () => shop.open('small', 'WALLET')));
    const [probe] = tries.filter((one) => one.startsWith('txn-'));
    expect(tries.filter((one) => one === 'PACKAGE_UNAVAILABLE')).toHaveLength(6);
    shop.atSupplier.soldOut.clear();
    await shop.deliver(probe!);
    await shop.check();
    expect(await shop.shortages()).toEqual([]);
    expect(await shop.open('small', 'CARD')).toMatch(/^txn-/);
  });

  it('waits longer after each try that is refused', async () => {
    await sellOut();
    await passes('16 minutes');
    await shop.deliver(await shop.open('small', 'WALLET'));
    await passes('16 minutes');
    expect(await shop.open('small', 'WALLET')).toBe('PACKAGE_UNAVAILABLE');
    await passes('15 minutes');
    expect(await shop.open('small', 'WALLET')).toMatch(/^txn-/);
  });

  it('is tried by a buyer who pays at a gateway after a day only', async () => {
    await sellOut();
    await passes('24 hours');
    expect(await shop.open('small', 'CARD')).toMatch(/^txn-/);
    expect(await shop.open('small', 'CARD')).toBe('PACKAGE_UNAVAILABLE');
  });

  it('is known to every process that reads the rows', async () => {
    await sellOut();
    const known = await readAvailability(shop.world);
    const wanted = { packageCode: 'small', cost: COSTS.small, supplier: 'esim-access' };
    expect(isDeliverable(known, wanted, 'WALLET', new Date())).toBe(false);
    expect(isDeliverable(known, { ...wanted, packageCode: 'large' }, 'CARD', new Date())).toBe(true);
  });
});

describe('a balance at the supplier', () => {
  it('is not sold twice: what is open and unpaid counts, until it is over', async () => {
    shop.atSupplier.balance = COSTS.large + COSTS.small;
    await shop.check();
    const id = await shop.open('large', 'CARD');
    expect(await shop.open('large', 'WALLET')).toBe('PACKAGE_UNAVAILABLE');
    expect(await shop.open('small', 'WALLET')).toMatch(/^txn-/);
    expect(await shop.open('small', 'WALLET')).toBe('PACKAGE_UNAVAILABLE');
    await shop.abandon(id);
    expect(await shop.open('large', 'WALLET')).toMatch(/^txn-/);
  });

  it('is not held by the unpaid checkouts of one account alone', async () => {
    shop.atSupplier.balance = 100_000n;
    await shop.check();
    for (let at = 0; at < 10; at++) expect(await shop.open('small', 'CARD', 'acc-one')).toMatch(/^txn-/);
    expect(await shop.open('small', 'CARD', 'acc-one')).toBe('PACKAGE_UNAVAILABLE');
    expect(await shop.open('small', 'CARD')).toMatch(/^txn-/);
  });

  it('is not sold twice by purchases that are opened at once', async () => {
    shop.atSupplier.balance = COSTS.small * 3n;
    await shop.check();
    const opened = await Promise.all(Array.from({ length: 8 }, () => shop.open('small', 'WALLET')));
    expect(opened.filter((one) => one.startsWith('txn-'))).toHaveLength(3);
  });

  it('that a delivery has used is not counted again, before and after the next read', async () => {
    shop.atSupplier.balance = COSTS.small * 2n;
    await shop.check();
    await shop.deliver(await shop.open('small', 'WALLET'));
    const second = await shop.open('small', 'WALLET');
    expect(second).toMatch(/^txn-/);
    expect(await shop.open('small', 'WALLET')).toBe('PACKAGE_UNAVAILABLE');
    await shop.check();
    expect(await shop.open('small', 'WALLET')).toBe('PACKAGE_UNAVAILABLE');
  });

  it('that others have used is known from one refusal, and sold again once it was paid in', async () => {
    shop.atSupplier.balance = 0n;
    const id = await shop.open('large', 'CARD');
    await shop.pay(id);
    await shop.deliver(id);
    expect(await shop.statusOf(id)).toBe('FAILED, PACKAGE_UNAVAILABLE');
    expect(await shop.open('large', 'CARD')).toBe('PACKAGE_UNAVAILABLE');
    expect(await shop.open('large', 'WALLET')).toBe('PACKAGE_UNAVAILABLE');
    expect(await shop.open('largest', 'CARD')).toBe('PACKAGE_UNAVAILABLE');
    await shop.check();
    expect(await shop.open('small', 'CARD')).toBe('PACKAGE_UNAVAILABLE');
    shop.atSupplier.balance = 2_000_000_000n;
    await shop.check();
    expect(await shop.shortages()).toEqual([]);
    expect(await shop.open('large', 'CARD')).toMatch(/^txn-/);
  });
});
