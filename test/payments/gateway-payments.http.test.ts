// Paying through the gateway: payment instructions in every answer that may still wait for money, repeated
// requests, and funding a wallet.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startApi, type Ask, type TestApi, type Reply } from '../support/http/api.ts';
import { generalError } from '../support/http/error-bodies.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const FIRST = 'txn-00000000000000000000000000000001';
const SECOND = 'txn-00000000000000000000000000000002';
const FUNDING = FIRST;
const ESIM = 'esim-00000000000000000000000000000001';
const METHODS = ['CARD', 'BANK_TRANSFER', 'MOBILE_MONEY', 'APPLE_PAY'] as const;
type Method = (typeof METHODS)[number];

const BANK_ACCOUNT = {
  bankName: 'Example Bank',
  accountNumber: '0000000001',
  accountName: 'SIMWAY / EXAMPLE',
  expiryDate: '2099-01-31T10:00:00.250Z',
};

/** The fields of the payment instructions for one method. */
function howToPay(method: Method, reference: string): object {
  return method === 'BANK_TRANSFER'
    ? { bankAccounts: [BANK_ACCOUNT], trackingReference: reference }
    : { paymentUrl: `https://checkout.example.com/${reference}`, gatewayReference: reference };
}

function referenceOnly(method: Method, reference: string): object {
  return { [method === 'BANK_TRANSFER' ? 'trackingReference' : 'gatewayReference']: reference };
}

/** Nothing was said for oneself. */
const NO_OWN = { reference: '', metadata: {} };
const BASE_PACKAGE = {
  packageCode: 'NG-5GB-30D',
  packageName: 'Nigeria 5GB 30Days',
  price: 19178.13,
  currency: 'NGN',
};
const TOP_UP_PACKAGE = {
  packageCode: 'TOPUP_NG-1GB-7D',
  name: 'Nigeria 1GB 7Days',
  price: 3835.63,
  currencyCode: 'NGN',
  volume: 1_073_741_824,
  duration: 7,
};
/** The amount that mobile money takes instead of naira. */
const IN_CEDIS = {
  BASE: { charge: { amount: 191.78, currency: 'GHS' } },
  TOPUP: { charge: { amount: 38.36, currency: 'GHS' } },
};

const post = (target: string, ask: Ask): Promise<Reply> => api.ask(target, { key: 'ngn', ...ask });
const buyBase = (paymentMethod: string, ask: Ask = {}): Promise<Reply> =>
  post('/api/esim/buy', {
    body: { packageCode: 'NG-5GB-30D', packageType: 'BASE', paymentMethod },
    ...ask,
  });
const buyTopUp = async (paymentMethod: string, ask: Ask = {}): Promise<Reply> => {
  await buyBase('WALLET');
  return post('/api/esim/buy', {
    body: { packageCode: 'TOPUP_NG-1GB-7D', packageType: 'TOPUP', paymentMethod, esimId: ESIM },
    ...ask,
  });
};
const read = (transactionId: string, example?: string): Promise<Reply> =>
  api.ask(`/api/esim/transactions/${transactionId}`, { key: 'ngn', example });
const confirm = (body: unknown, ask: Ask = {}): Promise<Reply> =>
  post('/api/esim/confirm-payment', { body, ...ask });
/** Of an answer, where the same request has many. */
const answer = (name: string | undefined): Ask => ({ example: { answer: name } });

/** The gateway has the money, and the caller confirms. */
async function pay(transactionId: string): Promise<void> {
  api.shop.vendors.paid.add(api.idOf(transactionId));
  await confirm({ transactionId });
}

function timelineOf(...steps: string[]): object {
  return { timeline: steps.map((what) => ({ at: expect.any(String) as unknown, what })) };
}

describe.each(METHODS)('%s', (method) => {
  const byCard = (example: string): string | undefined => (method === 'CARD' ? example : undefined);
  const expected = {
    BASE: {
      transactionId: FIRST,
      status: 'PENDING',
      ...NO_OWN,
      package: BASE_PACKAGE,
      ...howToPay(method, FIRST),
      ...(method === 'MOBILE_MONEY' ? IN_CEDIS.BASE : {}),
    },
    TOPUP: {
      transactionId: SECOND,
      status: 'PENDING',
      ...NO_OWN,
      package: TOP_UP_PACKAGE,
      ...howToPay(method, SECOND),
      ...(method === 'MOBILE_MONEY' ? IN_CEDIS.TOPUP : {}),
    },
  };

  test.each(['BASE', 'TOPUP'] as const)(
    '%s: is PENDING with payment instructions in buy, reads and confirm alike',
    async (type) => {
      const balanceMinor = type === 'BASE' ? 5_000_000n : 5_000_000n - 1_917_813n;
      const bought =
        type === 'BASE'
          ? await buyBase(method, { example: `new eSIM, ${method}` })
          : await buyTopUp(method, { example: `top-up, ${method}` });
      expect([bought.status, bought.json]).toEqual([type === 'BASE' ? 201 : 200, expected[type]]);
      const { transactionId } = expected[type];
      const example = type === 'BASE' ? `${method}, not paid yet` : undefined;
      expect((await read(transactionId, example)).json).toEqual({
        ...expected[type],
        ...timelineOf('opened'),
      });
      const confirmed = await confirm({ transactionId }, answer(example));
      expect([confirmed.status, confirmed.json]).toEqual([
        200,
        { ...expected[type], ...timelineOf('opened') },
      ]);
      expect(await api.shop.balance()).toBe(balanceMinor);
    },
  );

  test('shows the reference only, while the gateway has not answered', async () => {
    api.shop.vendors.gatewayAnswers = false;
    expect((await buyBase(method)).json).toEqual({
      transactionId: FIRST,
      status: 'PENDING',
      ...NO_OWN,
      package: BASE_PACKAGE,
      ...referenceOnly(method, FIRST),
      ...(method === 'MOBILE_MONEY' ? IN_CEDIS.BASE : {}),
    });
  });

  test('shows no instructions once paid, and the eSIM on SUCCESS in reads and confirm', async () => {
    await buyBase(method);
    api.shop.vendors.supplier = 'is allocating';
    await pay(FIRST);
    const processing = { transactionId: FIRST, status: 'PROCESSING', ...NO_OWN, package: BASE_PACKAGE };
    expect((await read(FIRST, byCard('paid, not delivered yet'))).json).toEqual({
      ...processing,
      ...timelineOf('opened', 'payment-received', 'ordered-at-supplier'),
    });
    api.shop.vendors.supplier = 'delivers';
    await confirm({ transactionId: FIRST });
    const delivered = byCard('delivered, paid by card');
    for (const reply of [
      await read(FIRST, delivered),
      await confirm({ gatewayReference: FIRST }, answer(delivered)),
    ]) {
      expect(reply.json).toMatchObject({
        status: 'SUCCESS',
        ...NO_OWN,
        esimDetails: { esimId: ESIM, activationCode: 'LPA:1$rsp.example.com$MATCHING-0001' },
      });
      expect(reply.text).not.toMatch(/paymentUrl|bankAccounts|Reference|charge/);
    }
  });

  test('shows the totals of a paid top-up in reads and confirm', async () => {
    await buyTopUp(method);
    await pay(SECOND);
    const delivered = byCard('top-up, delivered');
    for (const reply of [
      await read(SECOND, delivered),
      await confirm({ trackingReference: SECOND }, answer(delivered)),
    ]) {
      expect(reply.json).toMatchObject({
        status: 'SUCCESS',
        ...NO_OWN,
        message: 'Top-up successful',
        esimDetails: {
          iccid: expect.stringMatching(/^8944300\d{12}$/) as unknown,
          totalVolume: 6_442_450_944,
        },
      });
    }
  });

  test('is FAILED with its reason and without instructions when not paid in time', async () => {
    await buyBase(method);
    await api.shop.engine.expire(api.idOf(FIRST), 'purchase');
    expect((await confirm({ transactionId: FIRST }, answer(byCard('never paid')))).json).toEqual({
      transactionId: FIRST,
      status: 'FAILED',
      ...NO_OWN,
      reason: 'PAYMENT_EXPIRED',
      package: BASE_PACKAGE,
      ...timelineOf('opened', 'failed'),
    });
  });

  test('funds a wallet: 201 with payment instructions, and no package', async () => {
    const body = { amount: 5000.5, paymentMethod: method };
    const funded = await post('/api/wallet/fund', { body, example: method });
    expect([funded.status, funded.json]).toEqual([
      201,
      {
        transactionId: FUNDING,
        status: 'PENDING',
        ...NO_OWN,
        amount: 5000.5,
        currency: 'NGN',
        ...howToPay(method, FUNDING),
        ...(method === 'MOBILE_MONEY' ? { charge: { amount: 50.01, currency: 'GHS' } } : {}),
      },
    ]);
  });
});

test('a bank transfer by an account in dollars shows the amount in naira', async () => {
  const body = { packageCode: 'NG-5GB-30D', packageType: 'BASE', paymentMethod: 'BANK_TRANSFER' };
  const reply = await api.ask('/api/esim/buy', { key: 'usduser', body });
  expect(reply.text).toContain('"charge":{"amount":19178.13,"currency":"NGN"}');
  expect(reply.json).toMatchObject({
    package: { price: 12.5, currency: 'USD' },
    bankAccounts: [BANK_ACCOUNT],
  });
});

describe('confirm-payment', () => {
  test.each(['transactionId', 'gatewayReference', 'trackingReference'])(
    'finds a payment by %s',
    async (name) => {
      await buyBase('CARD');
      await confirm({ [name]: FIRST }, { example: { request: `by ${name}` } });
      expect((await confirm({ [name]: FIRST, color: 'red' })).json).toMatchObject({
        transactionId: FIRST,
        status: 'PENDING',
        ...NO_OWN,
      });
    },
  );

  test('finds a reference of a later attempt, but no transactionId of that form', async () => {
    api.shop.calls.length = 0;
    await confirm({ gatewayReference: `${FIRST}-2` });
    expect(api.shop.calls).toEqual(['confirmPayment']);
    await confirm({ transactionId: `${FIRST}-2` });
    await confirm({ gatewayReference: `${FIRST}-0` });
    await confirm({ gatewayReference: `${FIRST}-2-2` });
    expect(api.shop.calls).toEqual(['confirmPayment']);
  });

  test('answers 404 for another account’s payment, as for an unknown one', async () => {
    await buyBase('CARD');
    await post('/api/wallet/fund', { body: { amount: 100, paymentMethod: 'CARD' } });
    for (const transactionId of [FIRST, FUNDING, SECOND]) {
      const reply = await confirm({ transactionId }, { key: 'usd' });
      expect([reply.status, reply.json]).toEqual([
        404,
        generalError(404, 'TRANSACTION_NOT_FOUND', 'Transaction not found'),
      ]);
    }
  });

  test('answers the status of a funding: waiting, done, failed with its reason', async () => {
    await post('/api/wallet/fund', { body: { amount: 100, paymentMethod: 'BANK_TRANSFER' } });
    const funding = { transactionId: FUNDING, amount: 100, currency: 'NGN', ...timelineOf('opened') };
    const waiting = 'funding of the wallet, not paid yet';
    expect((await confirm({ trackingReference: FUNDING }, answer(waiting))).json).toEqual({
      ...funding,
      status: 'PENDING',
      ...NO_OWN,
      ...howToPay('BANK_TRANSFER', FUNDING),
    });
    const found = await read(FUNDING, waiting);
    expect([found.status, found.json]).toEqual([
      200,
      {
        ...funding,
        ...timelineOf('opened'),
        status: 'PENDING',
        ...NO_OWN,
        ...howToPay('BANK_TRANSFER', FUNDING),
      },
    ]);
    await pay(FUNDING);
    const done = 'funding of the wallet, done';
    await read(FUNDING, done);
    expect((await confirm({ transactionId: FUNDING }, answer(done))).json).toEqual({
      ...funding,
      ...timelineOf('opened', 'wallet-credited'),
      status: 'SUCCESS',
      ...NO_OWN,
      received: { amount: 100, currency: 'NGN' },
      credited: { amount: 100, currency: 'NGN' },
    });
    await post('/api/wallet/fund', { body: { amount: 100, paymentMethod: 'CARD' } });
    await api.shop.engine.expire(api.idOf(SECOND), 'funding');
    expect((await confirm({ transactionId: SECOND })).json).toMatchObject({
      transactionId: SECOND,
      status: 'FAILED',
      ...NO_OWN,
      reason: 'PAYMENT_EXPIRED',
    });
  });
});

describe('the amount of a funding', () => {
  const fundings = async (): Promise<bigint[]> => {
    const mine = api.shop.db.selectFrom('fundings').where('account_id', '=', api.shop.accountId());
    return (await mine.select('amount_minor').execute()).map((row) => row.amount_minor);
  };
  const fund = (amount: string, ask: Ask = {}): Promise<Reply> =>
    post('/api/wallet/fund', { rawBody: `{"amount":${amount},"paymentMethod":"CARD"}`, ...ask });

  test.each([
    ['100.1', 10_010n, '100.10'],
    ['100.10', 10_010n, '100.10'],
    ['100', 10_000n, '100.00'],
    ['1024.35', 102_435n, '1024.35'],
    ['8388607.99', 838_860_799n, '8388607.99'],
    ['10000000', 1_000_000_000n, '10000000.00'],
    ['10000000.00', 1_000_000_000n, '10000000.00'],
  ])('may be written %s, is stored as %s minor units and answered as %s', async (written, minor, literal) => {
    const reply = await fund(written);
    expect(reply.text).toContain(`"amount":${literal},`);
    expect(await fundings()).toEqual([minor]);
  });

  test('may be written differently in a repeat with the same Idempotency-Key; another amount gets 422', async () => {
    const headers = { 'idempotency-key': 'fund-1' };
    const first = await fund('250.5', { headers });
    const again = await fund('250.50', { headers });
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      201,
      first.text,
      'true',
    ]);
    expect(await fundings()).toEqual([25_050n]);
    const other = await fund('250.51', { headers });
    expect([other.status, other.json]).toMatchObject([422, { error: { code: 'IDEMPOTENCY_KEY_REUSED' } }]);
  });
});
