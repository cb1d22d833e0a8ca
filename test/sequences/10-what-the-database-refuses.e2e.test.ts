/**
 * A package that costs nothing is not on sale. A request that our database refuses for good ends with a
 * reason and an alert.
 */
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { REASON } from '../../workflows/search-attributes.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { fundThroughGateway } from '../support/money/fundings.ts';
import { changePackage, untilImported } from '../support/vendors/packages.ts';
import type { Answer } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const stack = await soundStack();
beforeAll(async () => {
  await untilImported(stack);
});

/** Two packages of one listed region. */
async function listed(buyer: Buyer): Promise<{ region: string; codes: string[] }> {
  const rows = await stack.owner
    .selectFrom('packages')
    .select(['region_code', 'package_code'])
    .where('region_code', '<>', 'ZZ')
    .where('package_type', '=', 'BASE')
    .where('withdrawn_at', 'is', null)
    .orderBy('package_code')
    .execute();
  const region = rows.find((row) => rows.filter((other) => other.region_code === row.region_code).length > 2);
  const found = { region: region!.region_code, codes: await codesOf(buyer, region!.region_code) };
  expect(found.codes.length).toBeGreaterThan(2);
  return found;
}

async function codesOf(buyer: Buyer, region: string): Promise<string[]> {
  const answer = await buyer.read(`/api/esim/packages?regionCode=${region}`);
  return [...answer.text.matchAll(/"packageCode":"([^"]+)"/g)].map(([, code]) => code!);
}

describe.each(['USD', 'NGN'] as const)('for an account in %s', (currency) => {
  // 0.004 dollars with 15 % are 0.46 cents.
  it.each([0n, 40n])('a package that costs %s ten-thousandths of a dollar is not on sale', async (cost) => {
    const buyer = await newBuyer(stack, { currency, fundsMinor: 100_000_000n });
    const { region, codes } = await listed(buyer);
    const code = codes[0]!;
    const before = await stack.owner
      .selectFrom('packages')
      .select('cost_usd_e4')
      .where('package_code', '=', code)
      .executeTakeFirstOrThrow();
    await changePackage(stack, code, { cost_usd_e4: cost });
    try {
      await until(
        () => codesOf(buyer, region),
        (found) => !found.includes(code),
        { what: `${code} not listed` },
      );
      expect(await codesOf(buyer, region)).toEqual(codes.slice(1));
      const details = await buyer.read(`/api/esim/packages/${code}`);
      expect(details.status).toBe(404);
      const bought = await buyer.buy(code, { idempotencyKey: 'free' });
      expect([bought.status, bought.body.error.code]).toEqual([400, 'PACKAGE_UNAVAILABLE']);
      const quoted = await post(buyer, '/api/esim/quotes', { packageCode: code, packageType: 'BASE' });
      expect([quoted.status, quoted.text]).toEqual([400, expect.stringContaining('PACKAGE_UNAVAILABLE')]);
      const rows = { rows: [{ packageCode: code }] };
      expect((await post(buyer, '/api/esim/orders/batch', rows)).status).toBe(400);
      expect(await buyer.purchases()).toEqual([]);
    } finally {
      await changePackage(stack, code, before);
      await until(
        () => codesOf(buyer, region),
        (found) => found.includes(code),
        { what: `${code} listed again` },
      );
    }
  });
});

const post = (buyer: Buyer, path: string, body: object): Promise<Answer> =>
  stack.call('POST', path, { key: buyer.account.apiKey, body });

describe('a row that the database refuses for good', () => {
  it('ends a purchase with a reason and an alert, and moves no money', async () => {
    await sql`alter table purchases add constraint refuses_sim_slow check (package_code <> 'SIM-SLOW') not valid`.execute(
      stack.owner,
    );
    const buyer = await newBuyer(stack, { fundsMinor: 10_000n });
    const answer = await buyer.buy('SIM-SLOW', { idempotencyKey: 'refused' });
    expect([answer.status, answer.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    await expectEnded('purchase', buyer.account.accountId);
    expect(await buyer.purchases()).toEqual([]);
    expect(await buyer.balanceMinor()).toBe(10_000n);
    expect(await alerts()).toBeGreaterThan(0);
    await sql`alter table purchases drop constraint refuses_sim_slow`.execute(stack.owner);
    expect((await buyer.buy('SIM-SLOW', { idempotencyKey: 'refused' })).status).toBe(201);
  });

  it('ends a funding with a reason and an alert', async () => {
    await sql`alter table fundings add constraint refuses_777 check (amount_minor <> 77700) not valid`.execute(
      stack.owner,
    );
    const { account } = await newBuyer(stack);
    const before = await alerts();
    const { answer } = await fundThroughGateway(stack, account, { amount: 777, method: 'CARD' });
    expect([answer.status, answer.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    await expectEnded('fundWallet', account.accountId);
    expect(await alerts()).toBeGreaterThan(before);
  });
});

/** Its workflow says why, and is not running any more. */
async function expectEnded(type: string, accountId: string): Promise<void> {
  const query = `WorkflowType = '${type}' AND AccountId = '${accountId}'`;
  const found = await until(
    async () => {
      const listing: { status: string; reason: unknown }[] = [];
      for await (const { status, typedSearchAttributes } of stack.temporal.workflow.list({ query }))
        listing.push({ status: status.name, reason: typedSearchAttributes.get(REASON) });
      return listing;
    },
    (listing) => listing.some(({ status }) => status !== 'RUNNING'),
    { what: 'the workflow has ended' },
  );
  expect(found).toEqual([{ status: 'COMPLETED', reason: 'NOT_RECORDED' }]);
}

/** Rows refused for good, as the worker counts them. */
async function alerts(): Promise<number> {
  const text = await (await fetch(`${stack.workerAdminUrl()}/metrics`)).text();
  const counted = text.matchAll(/^simway_rows_refused_total\{environment="test"[^}]*\} (\d+)$/gm);
  return [...counted].reduce((sum, [, count]) => sum + Number(count), 0);
}
