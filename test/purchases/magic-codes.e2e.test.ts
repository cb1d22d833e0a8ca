// Every magic code of docs/SANDBOX.md, as the API caller sees it, as a new eSIM and as a top-up, each on its
// own account. The slow ones run in parallel, so that their real twelve seconds pass only once.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findPurchaseRow, holdOf, newBuyer, untilClosed } from '../support/people/buyer.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

/** The documented end of a code. */
type Ends =
  /** SUCCESS at once. */
  | 'delivered'
  /** SUCCESS, perhaps after PROCESSING. */
  | 'delivered-after-retries'
  /** PROCESSING, then SUCCESS. */
  | 'delivered-late'
  /** 400 PACKAGE_UNAVAILABLE, the money returned. */
  | 'unavailable'
  /** PROCESSING, then it needs attention, the money held. */
  | 'stuck'
  /** 400 INSUFFICIENT_BALANCE, nothing begun. */
  | 'too-dear';

const CODES: Readonly<Record<string, Ends>> = {
  'SIM-OK': 'delivered',
  'SIM-OUT-OF-STOCK': 'unavailable',
  'SIM-SOLD-OUT': 'unavailable',
  'SIM-PRICE-CHANGED': 'unavailable',
  'SIM-LOW-BALANCE': 'unavailable',
  'SIM-UNKNOWN-PACKAGE': 'unavailable',
  'SIM-WRONG-SIGNATURE': 'unavailable',
  'SIM-BUSY': 'delivered-after-retries',
  'SIM-SERVER-ERROR': 'delivered-after-retries',
  'SIM-LOSE-ANSWER': 'delivered-after-retries',
  'SIM-SLOW': 'delivered-late',
  'SIM-NEVER-ALLOCATE': 'stuck',
  'SIM-MANUAL-LIFE': 'delivered',
  'SIM-NO-TOPUP': 'delivered',
  'SIM-RETURN-LOSE-ANSWER': 'delivered',
  'SIM-RETURN-SILENT': 'delivered',
  'SIM-TOO-DEAR': 'too-dear',
};
/** A top-up in doubt is looked for, and repeated only once the attempt before can no longer arrive. */
const TOP_UPS: Readonly<Record<string, Ends>> = {
  'SIM-BUSY': 'delivered-late',
  'SIM-SERVER-ERROR': 'delivered-late',
  'SIM-SLOW': 'delivered',
};
const SLOW_MS = 12_000;
const GB = 1024 ** 3;

const stack = await soundStack({
  timings: {
    answerWithinMs: 8_000,
    checkMaxMs: 1_000,
    attentionAfterMs: SLOW_MS + 4_000,
    slowCheckMs: 1_000,
    inFlightGraceMs: 1_000,
  },
});

interface Case {
  readonly type: 'BASE' | 'TOPUP';
  readonly code: string;
  readonly ends: Ends;
}

const CASES: Case[] = Object.entries(CODES).flatMap(([code, ends]) => [
  { type: 'BASE' as const, code, ends },
  // SIM-NO-TOPUP has no twin.
  ...(code === 'SIM-NO-TOPUP' ? [] : [{ type: 'TOPUP' as const, code, ends: TOP_UPS[code] ?? ends }]),
]);

type Bought = Awaited<ReturnType<typeof buyCase>>;

/** BASE from a dollar wallet, TOPUP from a naira one. */
async function buyCase({ type, code }: Case) {
  const buyer = await newBuyer(stack, { currency: type === 'BASE' ? 'USD' : 'NGN' });
  const esimId = type === 'BASE' ? undefined : (await buyer.activeEsim()).esimId;
  const balanceMinor = await buyer.balanceMinor();
  const answer = await (esimId === undefined ? buyer.buy(code) : buyer.buy(`TOPUP_${code}`, { esimId }));
  return { buyer, balanceMinor, answer };
}

describe('the magic codes', () => {
  const slow = CASES.filter(({ ends }) => ends === 'delivered-late' || ends === 'stuck');
  const quick = CASES.filter((each) => !slow.includes(each));
  const started = new Map<Case, Promise<Bought>>();
  beforeAll(() => {
    for (const each of slow) {
      const bought = buyCase(each);
      bought.catch(() => undefined);
      started.set(each, bought);
    }
  });

  it.each([...quick, ...slow])('end as documented: $code as $type, $ends', async (each) => {
    await EXPECTED[each.ends](each, await (started.get(each) ?? buyCase(each)));
  });

  const EXPECTED: Record<Ends, (each: Case, bought: Bought) => Promise<void>> = {
    delivered: async (each, bought) => {
      expect(bought.answer.body.status).toBe('SUCCESS');
      await expectDelivered(each, bought);
    },
    'delivered-after-retries': expectDelivered,
    'delivered-late': async (each, bought) => {
      expect(bought.answer.body.status).toBe('PROCESSING');
      await expectDelivered(each, bought);
    },
    unavailable: expectUnavailable,
    stuck: expectStuck,
    'too-dear': expectTooDear,
  };

  it('are all codes of the simulator and of the documentation', async () => {
    const text = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'SANDBOX.md'), 'utf8');
    const documented = [...text.matchAll(/^\| `(SIM-(?!PAY-)[A-Z-]+)` +\|/gm)].map((match) => match[1]);
    expect(documented.toSorted()).toEqual(Object.keys(CODES).toSorted());
    const packages = await stack.owner
      .selectFrom('packages')
      .select('package_code')
      .where('package_code', 'like', 'SIM-%')
      // Those have their own test: magic-payments.e2e.test.ts.
      .where('package_code', 'not like', 'SIM-PAY-%')
      .execute();
    expect(packages.map((row) => row.package_code).toSorted()).toEqual(Object.keys(CODES).toSorted());
  });

  it('are in no list and no count', async () => {
    const buyer = await newBuyer(stack);
    expect((await buyer.read('/api/esim/regions')).text).not.toContain('"ZZ"');
    const region = await buyer.read('/api/esim/packages?regionCode=ZZ');
    expect(region.status).toBe(404);
    expect(region.body).toMatchObject({ error: { code: 'REGION_NOT_FOUND' } });
  });

  it('include SIM-TOO-DEAR, which answers the same with its price as maxPrice, in naira', async () => {
    const buyer = await newBuyer(stack, { currency: 'NGN' });
    const { price } = (await buyer.read('/api/esim/packages/SIM-TOO-DEAR?currency=NGN')).body;
    const answer = await stack.call('POST', '/api/esim/buy', {
      key: buyer.account.apiKey,
      body: {
        ...{ packageCode: 'SIM-TOO-DEAR', packageType: 'BASE', paymentMethod: 'WALLET' },
        ...{ maxPrice: price, maxPriceCurrency: 'NGN' },
      },
    });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { code: 'INSUFFICIENT_BALANCE' } });
  });

  it('include SIM-NO-TOPUP: its list of top-ups is empty, and buying one is refused', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await buyer.activeEsim('SIM-NO-TOPUP');
    const list = await buyer.read('/api/esim/packages?type=TOPUP&regionCode=ZZ&packageCode=SIM-NO-TOPUP');
    expect(list.text).toBe('[]');
    const before = await buyer.balanceMinor();
    const answer = await buyer.buy('TOPUP_SIM-OK', { esimId });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ success: false, statusCode: 400, code: 'INVALID_TOPUP' });
    expect(await buyer.balanceMinor()).toBe(before);
  });
});

const idOf = async ({ buyer }: Bought): Promise<string> => (await buyer.purchases()).at(-1)!.transaction_id;

async function expectDelivered({ type, code }: Case, bought: Bought): Promise<void> {
  const { answer, buyer } = bought;
  expect(answer.status).toBe(type === 'BASE' ? 201 : 200);
  expect(['SUCCESS', 'PROCESSING']).toContain(answer.body.status);
  const { transactionId } = answer.body;
  const row = await untilClosed(stack, transactionId, { withinMs: 150_000 });
  expect(row).toMatchObject({ status: 'SUCCESS', package_code: type === 'BASE' ? code : `TOPUP_${code}` });
  expect(await holdOf(stack, transactionId)).toBe('POSTED');
  expect(await buyer.balanceMinor()).toBe(bought.balanceMinor - BigInt(String(row.price_minor)));
  expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  const read = await buyer.read(`/api/esim/transactions/${transactionId}`);
  expect(read.body.status).toBe('SUCCESS');
  if (type === 'BASE') expect(read.body.esimDetails.activationCode).toMatch(/^LPA:1\$/);
  else expect(read.body.esimDetails).toMatchObject({ totalVolume: 2 * GB, dataRemaining: 2 * GB });
}

async function expectUnavailable({ type }: Case, bought: Bought): Promise<void> {
  const { answer, buyer } = bought;
  const transactionId = await idOf(bought);
  expect((await untilClosed(stack, transactionId)).status).toBe('FAILED');
  // On a busy machine the answer comes before the refusal.
  if (answer.body.status !== 'PROCESSING') {
    const refusal = { code: 'PACKAGE_UNAVAILABLE', transactionId };
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      success: false,
      ...(type === 'BASE'
        ? { error: refusal }
        : {
            statusCode: 400,
            ...refusal,
            details: expect.stringContaining(': nothing was charged') as string,
          }),
    });
  }
  expect(await holdOf(stack, transactionId)).toBe('VOIDED');
  expect(await buyer.balanceMinor()).toBe(bought.balanceMinor);
  expect(await stack.supplierOrders(transactionId)).toEqual([]);
}

async function expectTooDear({ type, code }: Case, { answer, buyer, balanceMinor }: Bought): Promise<void> {
  expect(answer.status).toBe(400);
  const refusal = { code: 'INSUFFICIENT_BALANCE' };
  expect(answer.body).toMatchObject({
    success: false,
    ...(type === 'BASE' ? { error: refusal } : { statusCode: 400, ...refusal }),
  });
  expect(await buyer.balanceMinor()).toBe(balanceMinor);
  const codes = (await buyer.purchases()).map((row) => row.package_code);
  expect(codes).not.toContain(type === 'BASE' ? code : `TOPUP_${code}`);
}

async function expectStuck({ type }: Case, bought: Bought): Promise<void> {
  const { answer, buyer } = bought;
  expect(answer.status).toBe(type === 'BASE' ? 201 : 200);
  expect(answer.body.status).toBe('PROCESSING');
  const { transactionId } = answer.body;
  const row = await until(
    () => findPurchaseRow(stack, transactionId),
    (found) => found !== undefined && found.needs_attention_since !== null,
    { what: 'it needs attention' },
  );
  expect(row?.status).toBe('PROCESSING');
  expect(await holdOf(stack, transactionId)).toBe('HELD');
  expect(await buyer.balanceMinor()).toBe(bought.balanceMinor - BigInt(String(row!.price_minor)));
  if (type === 'TOPUP') return;
  const [order] = await stack.supplierOrders(transactionId);
  await fetch(`${stack.supplierControlUrl}/orders/${order!.orderNo}/allocate`, { method: 'POST' });
  expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
}
