/**
 * Promise G2: with every event of the gateway lost, each paid order still completes, by our polling, and
 * soon: within 90 s of payment by card, 60 s by mobile money, 5 min by transfer. At full size buyers take as
 * long as real ones do, and polling has the live environment's pace; in continuous integration both are
 * faster, and the times are not checked. That polling goes on for days, and that nothing is given up while
 * money may arrive, is shown in virtual time (test/payments/payment.unit.test.ts,
 * test/payments/late-money.workflow.test.ts).
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { percentile } from '../support/vendors/event-burst.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { runConcurrently } from '../support/time/concurrency.ts';
import { buyThroughGatewayOnce, dropped } from '../support/money/payers.ts';
import { atGateway, gatewayFaults, gatewayChecks, type GatewayMethod } from '../support/money/payments.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { startStack, type Stack, type TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

const ORDERS = size({ ci: 16, prove: 5_000 });
/** Orders that are open at one time. */
const CONCURRENCY = size({ ci: 32, prove: 300 });
const PACE = size({ ci: { pollFirstMs: 400 }, prove: { pollFirstMs: 5_000 } });
/** The longest time that a buyer takes: most are quick, some take minutes. */
const TAKES_MS = size({
  ci: [500, 1_000, 2_000],
  prove: [...Array<number>(16).fill(60_000), ...Array<number>(3).fill(180_000), 720_000],
});
const COMPLETED_WITHIN_MS: Readonly<Record<GatewayMethod, number>> = {
  CARD: 90_000,
  APPLE_PAY: 90_000,
  MOBILE_MONEY: 60_000,
  BANK_TRANSFER: 300_000,
};
const METHODS = Object.keys(COMPLETED_WITHIN_MS) as GatewayMethod[];
const IS_TIMED = size({ ci: false, prove: true });
/** The extra time that a machine busy with all these buyers may take before an order counts as lost. */
const LOST_AFTER_MS = 360_000;

interface Order {
  readonly method: GatewayMethod;
  readonly takesMs: number;
}

type PaidOrder = Awaited<ReturnType<typeof payInOwnTime>>;

let stack: Stack;
let accounts: TestAccount[];
beforeAll(async () => {
  stack = await startStack({
    processes: size({ ci: 'in-test', prove: 'own' }),
    timings: PACE,
  });
  await gatewayFaults(stack, { webhooks: 'drop' });
  const currencies = ['USD', 'NGN'] as const;
  accounts = await Promise.all(currencies.map((currency) => stack.account({ fundsMinor: 0n, currency })));
}, 120_000);
afterAll(() => stack.close());

/** Every method equally often; the slowest buyers begin first. */
function shoppingList(random: Random): Order[] {
  return Array.from({ length: ORDERS }, (_, nth) => ({
    method: METHODS[nth % METHODS.length]!,
    takesMs: random.below(random.pick(TAKES_MS)),
  })).toSorted((one, other) => other.takesMs - one.takesMs);
}

async function payInOwnTime({ method, takesMs }: Order, account: TestAccount) {
  const { answer, reference, transactionId } = await buyThroughGatewayOnce(stack, account, { method });
  expect([answer.status, answer.body.status], answer.text).toEqual([201, 'PENDING']);
  await new Promise((resolve) => setTimeout(resolve, takesMs));
  const paidAtMs = Date.now();
  await atGateway(stack, reference, 'pay');
  return { method, takesMs, transactionId, paidAtMs };
}

const purchases = () =>
  stack.world.selectFrom('purchases').select(['transaction_id', 'status', 'closed_at']).execute();

it(`${ORDERS} paid orders of every method complete without a single event`, () =>
  withSeed(async (seed) => {
    const paid: PaidOrder[] = [];
    await runConcurrently(shoppingList(createRandom(seed)), CONCURRENCY, async (order, nth) => {
      paid.push(await payInOwnTime(order, accounts[nth % accounts.length]!));
    });
    const rows = await until(purchases, (all) => all.every((row) => row.closed_at !== null), {
      what: 'every purchase closed',
      withinMs: LOST_AFTER_MS,
      everyMs: 500,
    });
    expect(rows.filter((row) => row.status !== 'SUCCESS')).toEqual([]);
    expect(rows).toHaveLength(ORDERS);
    expect(await stack.world.selectFrom('gateway_events').select('id').execute(), 'no event arrived').toEqual(
      [],
    );
    const closedAt = new Map(rows.map((row) => [row.transaction_id, row.closed_at!.getTime()]));
    const checks = (await gatewayChecks(stack)) / ORDERS;
    console.log(`G2: ${ORDERS} orders, ${checks.toFixed(1)} checks each`);
    for (const method of METHODS) {
      const times = paid
        .filter((order) => order.method === method)
        .map((order) => closedAt.get(order.transactionId)! - order.paidAtMs);
      const figures = [0.5, 0.99, 1].map((share) => (percentile(times, share) / 1_000).toFixed(1));
      console.log(`G2: ${method} ${figures.join(' s, ')} s (median, p99, most)`);
      if (IS_TIMED) expect(percentile(times, 0.99), method).toBeLessThanOrEqual(COMPLETED_WITHIN_MS[method]);
    }
    expect(await dropped(stack)).toEqual([]);
    expect(await expectSoundBooks(stack)).toMatchObject({ purchases: ORDERS, success: ORDERS });
  }));
