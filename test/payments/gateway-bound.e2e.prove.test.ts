/**
 * All processes share one limit on requests to the gateway, and one account may use a quarter of it: many
 * checkouts of one account are opened and ended more slowly, do not need attention for that, and do not delay
 * other accounts.
 */
import { expect, it } from 'vitest';
import { buyThroughGateway } from '../support/money/payments.ts';
import { startStack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

const BOUND_PER_SECOND = 12;
const PILE = 20;

const stack = await forFile(
  startStack({
    timings: { checkoutMs: 6_000, slowCheckMs: 500 },
    env: {
      SIMWAY_TEST_GATEWAY_REQUESTS_PER_SECOND: String(BOUND_PER_SECOND),
    },
  }),
);

/** Openings and checks. The list that the monitor reads serves all accounts. */
async function gatewayCalls(): Promise<number> {
  const answer = await fetch(`${stack.gatewayControlUrl}/stats`);
  const { calls } = (await answer.json()) as { calls: Record<string, number> };
  return (calls['transaction/initialize'] ?? 0) + (calls['transaction/verify'] ?? 0);
}

it("many checkouts of one account use a quarter of the gateway's limit, and delay no other account", async () => {
  const [flood, other] = [await stack.account(), await stack.account()];
  const startedAt = performance.now();
  const samples: { readonly atMs: number; readonly calls: number }[] = [];
  let attention = 0;
  let isOver = false;
  const observe = async (): Promise<void> => {
    while (!isOver) {
      samples.push({ atMs: performance.now() - startedAt, calls: await gatewayCalls() });
      const flagged = await stack.owner
        .selectFrom('purchases')
        .select('transaction_id')
        .where('needs_attention_since', 'is not', null)
        .execute();
      attention = Math.max(attention, flagged.length);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const observing = observe();
  try {
    const pile = Promise.all(Array.from({ length: PILE }, () => buyThroughGateway(stack, flood)));
    await until(gatewayCalls, (calls) => calls > BOUND_PER_SECOND / 4, {
      what: 'the checkouts use their quarter of the limit',
    });
    // Payment instructions are in the first answer: the charge did not have to wait.
    const bought = await buyThroughGateway(stack, other);
    expect(bought.answer.body.paymentUrl).toMatch(/^http/);
    for (const { answer } of await pile) expect(answer.status).toBe(201);
    await until(
      async () =>
        stack.owner
          .selectFrom('purchases')
          .select(['status', 'reason'])
          .where('account_id', '=', flood.accountId)
          .execute(),
      (rows) => rows.every(({ reason }) => reason === 'PAYMENT_EXPIRED'),
      { what: 'the checkouts have ended' },
    );
  } finally {
    isOver = true;
    await observing;
  }
  // Between any two samples no more than a quarter of the limit, one window's worth more, and the requests of
  // the other account.
  for (const [index, from] of samples.entries())
    for (const to of samples.slice(index + 1)) {
      const seconds = (to.atMs - from.atMs) / 1000;
      expect(to.calls - from.calls).toBeLessThanOrEqual((BOUND_PER_SECOND / 4) * (seconds + 1.5) + 4);
    }
  expect(attention, 'waiting payments that need attention').toBe(0);
}, 90_000);
