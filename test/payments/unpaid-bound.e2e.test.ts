/**
 * The limit of unpaid payments through the API: its answer, many at once over Temporal, and that other
 * accounts are not affected.
 */
import { expect, it } from 'vitest';
import { atGateway, buyThroughGateway, untilStatus } from '../support/money/payments.ts';
import { type Answer, type TestAccount } from '../support/world/stack.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const LIMIT = 4;

const stack = await soundStack({
  env: {
    SIMWAY_UNPAID_PAYMENTS: `STANDARD=${LIMIT}`,
  },
});

const withKey = (key: string) => ({ headers: { 'Idempotency-Key': key } });

function fund(account: TestAccount): Promise<Answer> {
  const body = { amount: 100, paymentMethod: 'CARD' };
  return stack.call('POST', '/api/wallet/fund', { key: account.apiKey, body });
}

const TOO_MANY = {
  success: false,
  error: {
    code: 'TOO_MANY_UNPAID_PAYMENTS',
    message: 'Too many payments of this account are open and not paid yet',
  },
  statusCode: 429,
};

function expectRefused(answer: Answer): void {
  expect([answer.status, answer.body]).toEqual([429, TOO_MANY]);
  expect(answer.headers.get('Retry-After')).toBe('60');
  expect(answer.headers.get('X-RateLimit-Limit')).toBe('100');
  expect(answer.headers.get('Idempotent-Replayed')).toBeNull();
}

/** As the API and the worker have counted them. */
async function refusals(): Promise<number> {
  const texts = [stack.adminUrl, stack.workerAdminUrl()].map(async (url) =>
    (await fetch(`${url}/metrics`)).text(),
  );
  const series = /^simway_unpaid_payments_refused_total\{environment="test"\} (\d+)$/m;
  return (await Promise.all(texts)).reduce((sum, text) => sum + Number(series.exec(text)?.[1]), 0);
}

it('of forty checkouts at once the plan’s limit is opened; a refused key is accepted once there is room', async () => {
  const account = await stack.account({ plan: 'STANDARD' });
  const before = await refusals();
  const asked = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const key = `order-${index}`;
      return { key, paid: await buyThroughGateway(stack, account, withKey(key)) };
    }),
  );
  const opened = asked.filter(({ paid }) => paid.answer.status === 201);
  const refused = asked.filter(({ paid }) => paid.answer.status !== 201);
  expect(opened).toHaveLength(LIMIT);
  for (const { paid } of refused) expectRefused(paid.answer);
  expect(await refusals()).toBeGreaterThanOrEqual(before + refused.length);
  const rows = await stack.owner
    .selectFrom('purchases')
    .select('status')
    .where('account_id', '=', account.accountId)
    .execute();
  expect(rows).toHaveLength(LIMIT);

  // Other routes to an unpaid payment are refused as well; paying from the wallet is not, and neither is
  // another account.
  expectRefused(await fund(account));
  expectRefused((await buyThroughGateway(stack, account, { method: 'BANK_TRANSFER' })).answer);
  expect((await buyThroughGateway(stack, await stack.account({ plan: 'STANDARD' }))).answer.status).toBe(201);
  const bought = await stack.call('POST', '/api/esim/buy', {
    key: account.apiKey,
    body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
  });
  expect(bought.body.status).toBe('SUCCESS');

  await atGateway(stack, opened[0]!.paid.reference, 'pay');
  await untilStatus(stack, opened[0]!.paid.transactionId, 'SUCCESS');
  const again = await buyThroughGateway(stack, account, withKey(refused[0]!.key));
  expect(again.answer.status).toBe(201);
  // From here on it is an ordinary key.
  const replayed = await buyThroughGateway(stack, account, withKey(refused[0]!.key));
  expect(replayed.transactionId).toBe(again.transactionId);
  expectRefused((await buyThroughGateway(stack, account, withKey(refused[1]!.key))).answer);
});
