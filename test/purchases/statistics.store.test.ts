/**
 * Statistics, spending and top destinations equal a count by hand, after some hundred random purchases by
 * eight writers at once, with all their ends.
 */
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { replaceCatalogue, replaceTopUps } from '../../src/catalogue/store/catalogue.ts';
import type { Principal } from '../../src/domain/account.ts';
import { DAY_MS } from '../../src/domain/clock.ts';
import type { EsimStatus, PaymentMethod, PurchaseStatus } from '../../src/domain/states.ts';
import { keepUsage, refreshEsim } from '../../src/esims/store/esims.ts';
import { ensureWallet, fundWallet, transfer } from '../../src/ledger/store/ledger.ts';
import { placePaidHold } from '../../src/ledger/store/holds.ts';
import type { PurchaseDeps } from '../../src/purchases/deps.ts';
import { getSpending, getStatistics } from '../../src/purchases/figures/statistics.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { markPaid } from '../../src/purchases/store/payment-bookings.ts';
import { profileItem, settlePurchase, topUpItem } from '../../src/purchases/store/purchases.ts';
import { countByRegion } from '../../src/purchases/store/statistics.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { basePackage, profileFacts, purchaseInput, region } from '../support/money/facts.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { UNBOUNDED } from '../support/money/unpaid.ts';
import { createRandom } from '../support/time/size.ts';
import { forFile } from '../support/world/for-file.ts';

const PURCHASES = 600;
const WRITERS = 8;
const START_MS = Date.UTC(2026, 0, 1);
const ALL = { from: '2026-01-01', to: '2026-12-31' };
const WEEK = { from: '2026-01-10', to: '2026-01-16' };
const ACCOUNTS = ['acc-a', 'acc-b', 'acc-c'];
const METHODS: readonly PaymentMethod[] = ['WALLET', 'WALLET', 'CARD', 'BANK_TRANSFER'];
const VOLUME = basePackage().volumeBytes;

const seed = Math.trunc(Math.random() * 2 ** 31);
const books: Books = await forFile(openBooks({ maxConnections: 10, statementTimeoutMs: 30_000 }));

const packages = [basePackage(), basePackage({ packageCode: 'KE-1', regionCode: 'KE' })];
await replaceCatalogue(
  books.world,
  { supplier: 'esim-access', regions: [region(), region({ regionCode: 'KE' })], packages },
  new Date(START_MS),
);
await replaceTopUps(
  books.world,
  'NG-5GB-30D',
  [basePackage({ packageCode: 'TOPUP_NG', packageType: 'TOPUP' })],
  new Date(START_MS),
);
for (const accountId of ACCOUNTS) {
  await ensureWallet(books.world, accountId, 'USD');
  const amount = { amountMinor: 1_000_000_000n, currency: 'USD' };
  await fundWallet(books.world, { operationKey: `fund:${accountId}`, accountId, amount, reason: 'a test' });
}

/** The expected figures, counted by hand. */
interface Bought {
  readonly accountId: string;
  readonly day: string;
  readonly method: PaymentMethod;
  readonly packageCode: string;
  status: PurchaseStatus;
  spentMinor: bigint;
  esim: { status: EsimStatus; usedBytes: number } | undefined;
}

async function buyOne(random: (below: number) => number, id: string, active: string[]): Promise<Bought> {
  const accountId = ACCOUNTS[random(ACCOUNTS.length)]!;
  const now = new Date(START_MS + random(40) * DAY_MS + random(DAY_MS));
  const method = METHODS[random(METHODS.length)]!;
  const target = accountId === ACCOUNTS[0] && random(3) === 0 ? active[random(active.length)] : undefined;
  const packageCode = target === undefined ? ['NG-5GB-30D', 'KE-1'][random(2)]! : 'TOPUP_NG';
  const input = purchaseInput({
    transactionId: `txn-${id}`,
    accountId,
    paymentMethod: method,
    packageCode,
    ...(target === undefined ? {} : { packageType: 'TOPUP', esimId: target }),
  });
  const bought: Bought = {
    accountId,
    day: now.toISOString().slice(0, 10),
    method,
    packageCode,
    status: method === 'WALLET' ? 'PROCESSING' : 'PENDING',
    spentMinor: 0n,
    esim: target === undefined ? { status: 'PENDING', usedBytes: 0 } : undefined,
  };
  const options = { now, gateway: 'paystack', keepRefusal: () => false, unpaidLimits: UNBOUNDED };
  expect(await openPurchase(books.world, input, options)).toMatchObject({
    stage: method === 'WALLET' ? 'paid' : 'awaiting-payment',
  });
  if (method !== 'WALLET') {
    const way = random(4);
    if (way === 0) return bought;
    if (way === 1) {
      await expire(input.transactionId);
      Object.assign(bought, { status: 'FAILED', esim: bought.esim && { status: 'CANCELLED', usedBytes: 0 } });
      return bought;
    }
    await pay(input.transactionId, accountId);
    bought.status = 'PROCESSING';
  }
  if (random(5) === 0) return bought;
  if (random(4) === 0 && method === 'WALLET') {
    await failPurchase(books.world, input.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
    Object.assign(bought, { status: 'FAILED', esim: bought.esim && { status: 'FAILED', usedBytes: 0 } });
    return bought;
  }
  await deliver(random, input, bought);
  if (bought.esim?.status === 'CREATED' && accountId === ACCOUNTS[0] && random(4) === 0) {
    await refreshEsim(
      books.world,
      input.esimId,
      profileFacts({ status: 'ACTIVE', orderUsageBytes: bought.esim.usedBytes }),
      new Date(),
    );
    bought.esim.status = 'ACTIVE';
    // Top-ups leave its usage as it is.
    active.push(input.esimId);
  }
  return bought;
}

async function expire(id: string): Promise<void> {
  await sql`
    with closed as (
      update purchases set status = 'FAILED', reason = 'PAYMENT_EXPIRED', closed_at = now() where transaction_id = ${id} returning esim_id, package_type
    )
    update esims set status = 'CANCELLED' from closed where id = esim_id and package_type = 'BASE'`.execute(
    books.world,
  );
}

async function pay(id: string, accountId: string): Promise<void> {
  await books.world.transaction().execute(async (trx) => {
    await placePaidHold(trx, { id, accountId, amount: { amountMinor: 1_250n, currency: 'USD' } });
    await markPaid(trx, id);
  });
}

async function deliver(
  random: (below: number) => number,
  { transactionId: id, esimId }: ReturnType<typeof purchaseInput>,
  bought: Bought,
): Promise<void> {
  const usedBytes = random(1_000_000);
  const tran = `tran-${id}`;
  const item = bought.esim
    ? profileItem(
        profileFacts({ esimTranNo: tran, iccid: `8944${String(random(2 ** 30)).padStart(15, '0')}` }),
        new Date(0),
        {},
      )
    : topUpItem(
        { iccid: '8', totalVolumeBytes: 1, orderUsageBytes: 0, totalDuration: 1, expiredTime: null },
        new Date(),
      );
  // A repeat changes nothing.
  await Promise.all([1, 2].map(() => settlePurchase(books.world, id, item)));
  Object.assign(bought, { status: 'SUCCESS', spentMinor: 1_250n });
  if (bought.esim) {
    bought.esim.status = 'CREATED';
    if (random(2) === 0) {
      await keepUsage(
        books.world,
        'esim-access',
        [{ esimTranNo: tran, usedBytes, observedAt: null }],
        new Date(),
      );
      bought.esim.usedBytes = usedBytes;
    }
    if (random(6) === 0) {
      await refreshEsim(
        books.world,
        esimId,
        profileFacts({ status: 'EXPIRED', orderUsageBytes: bought.esim.usedBytes }),
        new Date(),
      );
      bought.esim.status = 'EXPIRED';
    }
  }
  if (random(6) > 0) return;
  const backMinor = BigInt(1 + random(1_250));
  const entries = [
    { account: 'revenue:USD', currency: 'USD', amountMinor: -backMinor },
    { account: 'suspense:USD', currency: 'USD', amountMinor: backMinor },
  ];
  const refund = { operationKey: `back:${id}`, kind: 'refund', transactionId: id, reason: 'a test', entries };
  await transfer(books.world, refund);
  await transfer(books.world, refund);
  bought.spentMinor -= backMinor;
}

describe('after some hundred random purchases', () => {
  const done: Bought[] = [];

  beforeAll(async () => {
    const active: string[] = [];
    let started = 0;
    const write = async (writer: number): Promise<void> => {
      const random = createRandom(seed + writer);
      const below = (count: number) => random.below(count);
      while (started < PURCHASES) done.push(await buyOne(below, `${writer}-${(started += 1)}`, active));
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  }, 120_000);

  it.each(ACCOUNTS.flatMap((accountId) => [ALL, WEEK].map((days) => [accountId, days] as const)))(
    '%s reads the sums of its purchases’ ends: %j',
    async (accountId, days) => {
      const mine = done.filter(
        ({ accountId: id, day }) => id === accountId && day >= days.from && day <= days.to,
      );
      const principal = { account: { id: accountId, currency: 'USD' } } as Principal;
      const deps = { db: books.world, clock: { now: () => new Date(START_MS) } } as Parameters<
        typeof getStatistics
      >[0];
      const read = await getStatistics(deps, principal, days);
      const esims = mine.flatMap(({ esim }) => (esim ? [esim] : []));
      const count = (keep: (one: Bought) => boolean) => BigInt(mine.filter(keep).length);
      expect(read.purchases.total).toBe(BigInt(mine.length));
      for (const status of ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'] as const) {
        expect(read.purchases.byStatus[status]).toBe(count((one) => one.status === status));
        for (const method of ['WALLET', 'CARD', 'BANK_TRANSFER', 'APPLE_PAY'] as const)
          expect(read.purchases.byPaymentMethod[method][status]).toBe(
            count((one) => one.status === status && one.method === method),
          );
      }
      expect(read.spend).toEqual([
        { currency: 'USD', amountMinor: mine.reduce((sum, one) => sum + one.spentMinor, 0n) },
      ]);
      for (const status of ['PENDING', 'CREATED', 'ACTIVE', 'EXPIRED', 'FAILED', 'CANCELLED'] as const)
        expect(read.esims.byStatus[status]).toBe(BigInt(esims.filter((one) => one.status === status).length));
      expect(read.boughtBytes).toBe(count((one) => one.status === 'SUCCESS') * BigInt(VOLUME));
      // A top-up's answer includes the eSIM's usage.
      if (accountId !== ACCOUNTS[0])
        expect(read.usedBytes).toBe(BigInt(esims.reduce((sum, one) => sum + one.usedBytes, 0)));
    },
  );

  it.each(ACCOUNTS)('%s reads for each day the sums of its purchases’ ends', async (accountId) => {
    const principal = { account: { id: accountId, currency: 'USD' } } as Principal;
    const catalogue = { current: () => ({ regions: [] }) } as unknown as PurchaseDeps['catalogue'];
    const deps = { db: books.world, clock: { now: () => new Date(START_MS) }, catalogue };
    const { days, total } = await getSpending(deps, principal, ALL);
    expect(days).toHaveLength(365);
    for (const { day, ...figures } of days) {
      const mine = done.filter((one) => one.accountId === accountId && one.day === day);
      const sold = BigInt(mine.filter((one) => one.status === 'SUCCESS').length);
      expect(figures, `${day}, seed ${seed}`).toEqual({
        purchases: sold,
        failed: BigInt(mine.filter((one) => one.status === 'FAILED').length),
        spentMinor: mine.reduce((sum, one) => sum + one.spentMinor, 0n),
        dataBytes: sold * BigInt(VOLUME),
        // A top-up's answer includes the eSIM's usage.
        usedBytes:
          accountId === ACCOUNTS[0]
            ? figures.usedBytes
            : BigInt(mine.reduce((sum, one) => sum + (one.esim?.usedBytes ?? 0), 0)),
      });
    }
    const { purchases, spentMinor, usedBytes } = total;
    const statistics = await getStatistics(deps, principal, ALL);
    expect([purchases, spentMinor, usedBytes]).toEqual([
      statistics.purchases.byStatus.SUCCESS,
      statistics.spend[0]?.amountMinor,
      statistics.usedBytes,
    ]);
  });

  it('destinations are counted by delivered purchases', async () => {
    const sold = done.filter((one) => one.status === 'SUCCESS' && one.day >= '2026-01-21');
    const of = (keep: (code: string) => boolean) =>
      BigInt(sold.filter((one) => keep(one.packageCode)).length);
    const expected = [
      { regionCode: 'NG', purchases: of((code) => code !== 'KE-1') },
      { regionCode: 'KE', purchases: of((code) => code === 'KE-1') },
    ].toSorted((a, b) => Number(b.purchases - a.purchases) || (a.regionCode < b.regionCode ? -1 : 1));
    expect(await countByRegion(books.world, '2026-01-21')).toEqual(expected);
  });
});
