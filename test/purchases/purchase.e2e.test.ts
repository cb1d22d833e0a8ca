// The main use of the whole service, as a newcomer does it: buy, read back, top up, read again; in dollars
// and in naira.
import { beforeAll, describe, expect, it } from 'vitest';
import { soundStack } from '../support/world/sound-stack.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';

const GB = 1024 ** 3;

const stack = await soundStack();

describe.each([
  // Cost 2.00; merchants pay 15 % more, users 25 %.
  { currency: 'USD', type: 'MERCHANT', price: 2.3 },
  { currency: 'USD', type: 'USER', price: 2.5 },
  // At 1,600 naira with 3 % on top.
  { currency: 'NGN', type: 'MERCHANT', price: 3_790.4 },
  { currency: 'NGN', type: 'USER', price: 4_120 },
] as const)('a $type with a $currency wallet', ({ currency, type, price }) => {
  const FUNDS_MINOR = 3_000_000n;
  const spent = async (buyer: Buyer): Promise<number> =>
    Number(FUNDS_MINOR - (await buyer.balanceMinor())) / 100;
  let buyer: Buyer;
  let esimId: string;
  let iccid: string;
  beforeAll(async () => {
    buyer = await newBuyer(stack, { currency, type, fundsMinor: FUNDS_MINOR });
  });

  it('is delivered at once, and its price taken once', async () => {
    const answer = await buyer.buy('SIM-OK');
    expect(answer.status).toBe(201);
    const { transactionId, esimDetails } = answer.body;
    ({ esimId, iccid } = esimDetails);
    expect(answer.body).toEqual({
      transactionId,
      status: 'SUCCESS',
      package: { packageCode: 'SIM-OK', packageName: 'Sandbox SIM-OK 1GB 7Days', price, currency },
      esimDetails,
      reference: '',
      metadata: {},
    });
    const { smdpAddress, matchingId } = esimDetails;
    expect(esimDetails.activationCode).toBe(`LPA:1$${smdpAddress}$${matchingId}`);
    expect(iccid).toMatch(/^\d{19,20}$/);
    expect(await spent(buyer)).toBe(price);
    const orders = await stack.supplierOrders(transactionId);
    expect(orders).toMatchObject([{ kind: 'order', packageCode: 'SIM-OK', count: 1, esims: [{ iccid }] }]);
  });

  it('is read back alike as eSIM, in the list, as transaction and in the wallet', async () => {
    const [purchase] = await buyer.purchases();
    const transactionId = purchase!.transaction_id;
    const esim = await buyer.read(`/api/esim/${esimId}`);
    expect(esim.status).toBe(200);
    expect(esim.body).toMatchObject({ _id: esimId, iccid, transactionId, price, currency, totalVolume: GB });
    const list = await buyer.read('/api/esim/my-esims');
    expect(list.body).toMatchObject({
      total: 1,
      page: 1,
      limit: 10,
      totalPages: 1,
      esims: [{ _id: esimId, iccid }],
    });
    const transaction = await buyer.read(`/api/esim/transactions/${transactionId}`);
    expect(transaction.body).toMatchObject({
      transactionId,
      status: 'SUCCESS',
      esimDetails: { esimId, iccid },
    });
    expect(transaction.body.timeline.map(({ what }) => what)).toEqual(['wallet-held', 'delivered']);
    const wallet = await buyer.read('/api/wallet/balance');
    expect(wallet.body.data).toMatchObject({ balance: Number(FUNDS_MINOR) / 100 - price, currency });
  });

  it('is topped up once it is in use: the new totals at once and in every read', async () => {
    const target = await buyer.activeEsim();
    const before = await spent(buyer);
    const listed = await buyer.read('/api/esim/packages?type=TOPUP&regionCode=ZZ&packageCode=SIM-OK');
    expect(listed.text).toContain('"TOPUP_SIM-OK"');
    const answer = await buyer.buy('TOPUP_SIM-OK', { esimId: target.esimId });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      status: 'SUCCESS',
      message: 'Top-up successful',
      package: { packageCode: 'TOPUP_SIM-OK', price, currencyCode: currency, volume: GB, duration: 7 },
      esimDetails: { iccid: target.iccid, totalVolume: 2 * GB, dataRemaining: 2 * GB },
    });
    expect((await spent(buyer)) - before).toBeCloseTo(price, 10);
    const esim = await buyer.read(`/api/esim/${target.esimId}`);
    expect(esim.body).toMatchObject({ esimStatus: 'ACTIVE', totalVolume: 2 * GB, totalDuration: 14 });
    expect(await stack.supplierOrders(answer.body.transactionId)).toMatchObject([{ kind: 'topup' }]);
  });

  it('is refused when the wallet has too little money, and nothing is written', async () => {
    const poor = await newBuyer(stack, { currency, type, fundsMinor: 1n });
    const answer = await poor.buy('SIM-OK');
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      success: false,
      message: 'Insufficient wallet balance',
      error: { code: 'INSUFFICIENT_BALANCE' },
    });
    const { details } = answer.body.error as unknown as { details: string };
    expect(details).toContain(
      `the price is ${currency} ${price.toFixed(2)}, the wallet has ${currency} 0.01`,
    );
    expect(answer.text).not.toContain('transactionId');
    expect(await poor.purchases()).toEqual([]);
    expect(await poor.balanceMinor()).toBe(1n);
  });
});

describe('the price list', () => {
  it('has the prices that buying charges', async () => {
    const buyer = await newBuyer(stack, { currency: 'NGN', fundsMinor: 100_000_000n });
    const list = await buyer.read('/api/esim/packages?regionCode=NG');
    const [item] = JSON.parse(list.text) as { packageCode: string; price: number; currency: string }[];
    const answer = await buyer.buy(item!.packageCode);
    expect(answer.status).toBe(201);
    expect(answer.body.package).toMatchObject({ price: item!.price, currency: 'NGN' });
    expect(await buyer.balanceMinor()).toBe(100_000_000n - BigInt(Math.round(item!.price * 100)));
  });
});

describe('an impossible top-up', () => {
  const fitting = () => Promise.resolve('TOPUP_SIM-OK');
  const nowhere = () => Promise.resolve('TOPUP_NOWHERE');
  const foreign = async (buyer: Buyer): Promise<string> => {
    const list = await buyer.read('/api/esim/packages?regionCode=NG');
    const items = JSON.parse(list.text) as { packageCode: string; topUpAvailable: boolean }[];
    return `TOPUP_${items.find((item) => item.topUpAvailable)!.packageCode}`;
  };

  it.each([
    {
      why: 'an eSIM that is not in use',
      code: fitting,
      expected: 'INVALID_TOPUP',
      status: 400,
      message: 'Only an ACTIVE eSIM can be topped up, this one is SUSPENDED',
    },
    {
      why: 'an eSIM that was deleted from the phone',
      state: { esimStatus: 'IN_USE', smdpStatus: 'DELETED' },
      code: fitting,
      expected: 'INVALID_TOPUP',
      status: 400,
      message: 'The eSIM was deleted from the phone and cannot be installed again',
    },
    {
      why: 'a package that does not fit',
      code: foreign,
      expected: 'INVALID_TOPUP',
      status: 400,
      message: 'This top-up package does not fit the package of the eSIM',
    },
    {
      why: 'a package that is not there',
      code: nowhere,
      expected: 'PACKAGE_NOT_FOUND',
      status: 404,
      message: 'Package not found',
    },
  ])('is refused before any money moves: $why', async ({ code, expected, status, message, state }) => {
    const buyer = await newBuyer(stack);
    // Suspended at the supplier, whatever the clock says.
    const { body } = await buyer.buy('SIM-OK');
    const { esimId, iccid } = body.esimDetails;
    await fetch(`${stack.supplierControlUrl}/esims/${iccid}`, {
      method: 'PUT',
      body: JSON.stringify(state ?? { esimStatus: 'SUSPENDED' }),
    });
    const before = await buyer.balanceMinor();
    const answer = await buyer.buy(await code(buyer), { esimId });
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ success: false, message, statusCode: status, code: expected });
    expect(await buyer.balanceMinor()).toBe(before);
    expect(await buyer.purchases()).toHaveLength(1);
  });
});
