// A shop on real rows, and its supplier, which has a balance and takes each order from it: what is opened,
// paid, delivered and refunded is the product's own work.
import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'kysely';
import type { ActivityDeps } from '../../activities/deps.ts';
import { attemptDelivery } from '../../activities/purchases/delivery-attempt.ts';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { checkBalance } from '../../src/operations/supplier/balance.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { bookSeen } from '../../src/purchases/store/payment-bookings.ts';
import { closeUnpaid } from '../../src/purchases/store/purchases.ts';
import { findPurchase } from '../../src/purchases/store/reads.ts';
import { basePackage, profileFacts, purchaseInput, region } from '../support/money/facts.ts';
import { newWallet } from '../support/money/stock.ts';
import { openBooks } from '../support/world/books.ts';

export const NOW = new Date('2026-03-01T10:00:00.000Z');
const PRICE_MINOR = 1_250n;

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** `costs`: of its packages, US dollars × 10,000. */
export async function openShop(costs: Readonly<Record<string, bigint>>) {
  const books = await openBooks();
  const { world } = books;
  const packages = Object.entries(costs).map(([packageCode, cost]) => basePackage({ packageCode, cost }));
  await replaceCatalogue(world, { supplier: 'esim-access', regions: [region()], packages }, NOW);
  const wallet = await newWallet(world, { fundsMinor: 100_000_000n });
  const atSupplier = { balance: 0n, soldOut: new Set<string>(), orders: 0 };
  const supplier = {
    name: 'esim-access',
    repeats: { order: 'same-request', topUp: 'unknown' },
    effectTimeLimitMs: 5_000,
    balance: () => Promise.resolve(atSupplier.balance),
    order: ({ packageCode, costUsdE4 }: { packageCode: string; costUsdE4: bigint }) => {
      const refused = (reason: string) => Promise.resolve({ outcome: 'refused', reason, detail: 'a test' });
      if (atSupplier.soldOut.has(packageCode)) return refused('OUT_OF_STOCK');
      if (atSupplier.balance < costUsdE4) return refused('BALANCE_TOO_LOW');
      atSupplier.balance -= costUsdE4;
      atSupplier.orders += 1;
      return Promise.resolve({ outcome: 'done', value: { orderNo: `B${atSupplier.orders}` } });
    },
    profile: ({ orderNo }: { orderNo: string }) => {
      const profile = {
        ...profileFacts({ orderNo }),
        transactionId: '',
        packageCode: '',
        supplierStatus: '',
      };
      const own = { esimTranNo: `T-${orderNo}`, iccid: `89${orderNo.slice(1).padStart(17, '0')}` };
      return Promise.resolve({ outcome: 'done', value: { state: 'ready', profile: { ...profile, ...own } } });
    },
  };
  const deps = {
    db: world,
    supplier,
    clock: { now: () => NOW },
    installData: { columns: () => ({}) },
    events: createEvents(createLogger({ level: 'silent' })),
  } as unknown as ActivityDeps;
  const environment = new MockActivityEnvironment();
  let count = 0;
  const statusOf = async (id: string): Promise<string> => {
    const { status, reason } = (await findPurchase(world, id))!.purchase;
    return [status, reason].filter(Boolean).join(', ');
  };
  return {
    world,
    owner: books.owner,
    atSupplier,
    /** The id of the purchase; the reason where it is refused. */
    open: async (packageCode: string, method: 'WALLET' | 'CARD', buyer?: string) => {
      count += 1;
      const transactionId = `txn-${count}`;
      const charge = { gateway: 'paystack', amountMinor: String(PRICE_MINOR), currency: 'USD', rateIds: [] };
      const input = purchaseInput({
        transactionId,
        packageCode,
        paymentMethod: method,
        accountId: buyer ?? (method === 'WALLET' ? wallet : `acc-${count}`),
        quote: { ...purchaseInput({ transactionId }).quote, costUsdE4: String(costs[packageCode]) },
        ...(method === 'CARD' && { charge }),
      });
      const opened = await openPurchase(world, input, { now: NOW, keepRefusal: () => false });
      return opened.stage === 'failed' ? opened.refusal.reason : transactionId;
    },
    pay: async (id: string) => {
      const { rows } = await sql<{ next: bigint }>`select nextval('payment_checks') as next`.execute(world);
      const seen = { state: 'paid', netMinor: PRICE_MINOR, currency: 'USD', gatewayId: id } as const;
      await bookSeen(world, id, { ...seen, gatewayStatus: 'success' }, rows[0]!.next);
    },
    abandon: (id: string) => closeUnpaid(world, id, 'PAYMENT_EXPIRED'),
    deliver: (id: string) => environment.run(() => attemptDelivery(deps, id)),
    check: () => checkBalance({ db: world, supplier: deps.supplier }, { isForced: true }),
    deps,
    statusOf,
    opened: () =>
      world
        .selectFrom('purchases')
        .select(['transaction_id', 'status'])
        .where('status', 'in', ['PENDING', 'PROCESSING'])
        .execute(),
    shortages: () => world.selectFrom('package_shortages').selectAll().execute(),
    close: () => books.close(),
  };
}
