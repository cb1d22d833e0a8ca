// One merchant who sends purchases without end: what others wait for, and what becomes of his own.
import { describe, expect, it } from 'vitest';
import { MAX_WAITING_PURCHASES } from '../../src/platform/http/limits.ts';
import { untilClosed } from '../support/people/buyer.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack, type Stack, type TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

const BODY = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };

const buy = (stack: Stack, key: string, name: string) =>
  stack.call('POST', '/api/esim/buy', { key, body: BODY, headers: { 'Idempotency-Key': name } });

/** Purchases of an account, of one status or all. */
async function countOf(stack: Stack, { accountId }: TestAccount, ...of: 'PROCESSING'[]) {
  const { count } = await stack.world
    .selectFrom('purchases')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('account_id', '=', accountId)
    .$if(of.length > 0, (query) => query.where('status', 'in', of))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Orders of an account that were delivered between another's first attempt to order and its delivery. */
async function deliveredDuring(stack: Stack, { accountId }: TestAccount, transactionId: string) {
  const { count } = await stack.world
    .selectFrom('supplier_orders as theirs')
    .innerJoin('purchases', 'purchases.transaction_id', 'theirs.transaction_id')
    .innerJoin('supplier_orders as other', (join) =>
      join
        .on('other.transaction_id', '=', transactionId)
        .onRef('theirs.closed_at', '>', 'other.first_sent_at')
        .onRef('theirs.closed_at', '<', 'other.closed_at'),
    )
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('purchases.account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

describe('more purchases at once than an API process lets wait', () => {
  it('are refused before anything is begun, bought when sent again, and keep no other account waiting', async () => {
    const stack = await forFile(startStack({ env: { SIMWAY_PURCHASES_AT_ONCE: '1' } }));
    const heavy = await stack.account();
    const other = await stack.account();
    const sent = Promise.all(
      Array.from({ length: MAX_WAITING_PURCHASES + 30 }, async (_, index) => {
        const { status, body, headers } = await buy(stack, heavy.apiKey, `flood-${index}`);
        return {
          index,
          status,
          code: (body.error as { code?: string } | undefined)?.code,
          retryAfter: headers.get('retry-after'),
        };
      }),
    );
    expect((await buy(stack, other.apiKey, 'other')).status).toBe(201);
    const answers = await sent;
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(29);
    expect(new Set(refused.map(({ code, retryAfter }) => `${code} ${retryAfter}`))).toEqual(
      new Set(['RATE_LIMIT_EXCEEDED 1']),
    );
    const bought = answers.filter(({ status }) => status === 201);
    expect(bought.length + refused.length).toBe(answers.length);
    expect(await countOf(stack, heavy)).toBe(bought.length);
    expect((await buy(stack, heavy.apiKey, `flood-${refused[0]?.index}`)).status).toBe(201);
  });
});

describe("one account's orders, more than the supplier takes", () => {
  it("leave enough of its allowance for another's order at once", async () => {
    const stack = await forFile(startStack({ env: { SIMWAY_TEST_SUPPLIER_REQUESTS_PER_SECOND: '8' } }));
    const heavy = await stack.account();
    const other = await stack.account();
    const flood = Promise.all(
      Array.from({ length: 30 }, (_, index) => buy(stack, heavy.apiKey, `f-${index}`)),
    );
    await until(
      () => countOf(stack, heavy, 'PROCESSING'),
      (open) => open >= 15,
    );
    const { status, body } = await buy(stack, other.apiKey, 'other');
    expect(status).toBe(201);
    await untilClosed(stack, body.transactionId);
    // Behind the others in one line it would be some twenty.
    expect(await deliveredDuring(stack, heavy, body.transactionId)).toBeLessThan(10);
    await flood;
  });
});
