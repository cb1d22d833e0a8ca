// A wallet funded through the gateway, through the whole service: what arrives is credited and booked once,
// whatever amount was requested.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCurrency } from '../../src/domain/money.ts';
import { fundThroughGateway, movedBy, untilBalance, untilFunding } from '../support/money/fundings.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import {
  atGateway,
  chargeAt,
  clearGatewayFaults,
  confirm,
  gatewayFaults,
  type GatewayMethod,
} from '../support/money/payments.ts';
import { startStack, type Stack, type TestAccount } from '../support/world/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ env: { SIMWAY_TEST_TIMINGS: JSON.stringify({ pollFirstMs: 400 }) } });
});
afterEach(() => clearGatewayFaults(stack));
afterAll(async () => {
  await expectSoundBooks(stack);
  await stack.close();
});

const penniless = (currency: AccountCurrency): Promise<TestAccount> =>
  stack.account({ fundsMinor: 0n, currency });

interface Way {
  readonly currency: AccountCurrency;
  readonly method: GatewayMethod;
  readonly amountMinor: number;
  /** The amount to be paid at the gateway, with its currency. */
  readonly chargeMinor: number;
  readonly chargeCurrency: string;
}

// The fixed rates of the sandbox: NGN 1,600.00 and GHS 12.50 for a dollar.
const WAYS: readonly Way[] = [
  {
    currency: 'NGN',
    method: 'CARD',
    amountMinor: 500_050,
    chargeMinor: 500_050,
    chargeCurrency: 'NGN',
  },
  {
    currency: 'NGN',
    method: 'BANK_TRANSFER',
    amountMinor: 500_050,
    chargeMinor: 500_050,
    chargeCurrency: 'NGN',
  },
  { currency: 'USD', method: 'CARD', amountMinor: 2_500, chargeMinor: 2_500, chargeCurrency: 'USD' },
  {
    currency: 'USD',
    method: 'BANK_TRANSFER',
    amountMinor: 2_500,
    chargeMinor: 4_000_000,
    chargeCurrency: 'NGN',
  },
  { currency: 'USD', method: 'MOBILE_MONEY', amountMinor: 2_500, chargeMinor: 31_250, chargeCurrency: 'GHS' },
  { currency: 'NGN', method: 'APPLE_PAY', amountMinor: 500_050, chargeMinor: 500_050, chargeCurrency: 'NGN' },
];

/** The expected balances of the ledger's accounts after so much came in and so much was credited. */
function expectedMoves(way: Way, account: TestAccount, receivedMinor: number, creditedMinor: number) {
  return {
    [`gateway-clearing:paystack:${way.chargeCurrency}`]: -receivedMinor,
    ...(way.chargeCurrency === way.currency
      ? {}
      : {
          [`exchange:${way.chargeCurrency}`]: receivedMinor,
          [`exchange:${way.currency}`]: -creditedMinor,
        }),
    [`wallet:${account.accountId}`]: creditedMinor,
  };
}

describe.each(WAYS)('a wallet in $currency funded by $method', (way) => {
  const open = async () => {
    const account = await penniless(way.currency);
    const funding = await fundThroughGateway(stack, account, {
      amount: way.amountMinor / 100,
      method: way.method,
    });
    expect(funding.answer.status).toBe(201);
    return { account, funding };
  };

  it('gets payment instructions, and exactly that amount is credited', async () => {
    const { account, funding } = await open();
    const { body } = funding.answer;
    expect(body).toMatchObject({
      status: 'PENDING',
      amount: way.amountMinor / 100,
      currency: way.currency,
      transactionId: funding.reference,
    });
    expect(body).not.toHaveProperty('package');
    expect(body.charge).toEqual(
      way.chargeCurrency === way.currency
        ? undefined
        : { amount: way.chargeMinor / 100, currency: way.chargeCurrency },
    );
    const isTransfer = way.method === 'BANK_TRANSFER';
    expect(Object.keys(body)).toEqual(
      expect.arrayContaining(
        isTransfer ? ['bankAccounts', 'trackingReference'] : ['paymentUrl', 'gatewayReference'],
      ),
    );
    expect((await chargeAt(stack, funding.reference)).requested).toEqual({
      amountMinor: way.chargeMinor,
      currency: way.chargeCurrency,
    });

    await atGateway(stack, funding.reference, 'pay');
    await untilFunding(stack, funding.transactionId, 'SUCCESS');
    await untilBalance(stack, account, way.amountMinor);
    expect(await movedBy(stack, funding.transactionId)).toEqual(
      expectedMoves(way, account, way.chargeMinor, way.amountMinor),
    );
    const confirmed = await confirm(stack, account, funding.transactionId);
    expect(confirmed).toMatchObject({
      status: 200,
      body: { status: 'SUCCESS', amount: way.amountMinor / 100 },
    });
    expect(confirmed.body.timeline.map(({ what }) => what)).toEqual(['opened', 'wallet-credited']);
    expect(confirmed.body).not.toHaveProperty('paymentUrl');
    expect(confirmed.body).not.toHaveProperty('bankAccounts');
  });

  it.each([
    { name: 'a fifth less', percent: 80 },
    { name: 'a fifth more', percent: 120 },
  ])('is credited with what arrives: $name', async ({ percent }) => {
    const { account, funding } = await open();
    const receivedMinor = (way.chargeMinor * percent) / 100;
    await atGateway(stack, funding.reference, 'pay', { amountMinor: receivedMinor });
    const creditedMinor = (way.amountMinor * percent) / 100;
    await untilBalance(stack, account, creditedMinor);
    await untilFunding(stack, funding.transactionId, 'SUCCESS');
    expect(await movedBy(stack, funding.transactionId)).toEqual(
      expectedMoves(way, account, receivedMinor, creditedMinor),
    );
  });

  it('is credited with both payments when it is paid twice, even after it is closed', async () => {
    const { account, funding } = await open();
    await atGateway(stack, funding.reference, 'pay');
    await untilFunding(stack, funding.transactionId, 'SUCCESS');
    await stack.temporal.workflow.getHandle(funding.transactionId).result();
    await atGateway(stack, funding.reference, 'pay');
    await untilBalance(stack, account, 2 * way.amountMinor);
    expect(await movedBy(stack, funding.transactionId)).toEqual(
      expectedMoves(way, account, 2 * way.chargeMinor, 2 * way.amountMinor),
    );
  });
});

it('a wallet is credited through our polling when every event is dropped', async () => {
  await gatewayFaults(stack, { webhooks: 'drop' });
  const account = await penniless('USD');
  const funding = await fundThroughGateway(stack, account, { amount: 25, method: 'BANK_TRANSFER' });
  await atGateway(stack, funding.reference, 'pay', { times: 2 });
  await untilBalance(stack, account, 5_000);
  expect(await untilFunding(stack, funding.transactionId, 'SUCCESS')).toMatchObject({ reason: null });
});

it('a wallet is not credited when paid in another currency: the money is refunded', async () => {
  const account = await penniless('NGN');
  const funding = await fundThroughGateway(stack, account, { amount: 5_000, method: 'CARD' });
  await atGateway(stack, funding.reference, 'pay', { currency: 'USD' });
  const row = await untilFunding(stack, funding.transactionId, 'FAILED');
  expect(row?.reason).toBe('PAYMENT_WRONG_CURRENCY');
  await stack.temporal.workflow.getHandle(funding.transactionId).result();
  expect((await chargeAt(stack, funding.reference)).status).toBe('reversed');
  expect(await movedBy(stack, funding.transactionId)).toEqual({});
  await untilBalance(stack, account, 0);
});

describe('an unpaid funding', () => {
  let withShortPayments: Stack;
  beforeAll(async () => {
    withShortPayments = await startStack({
      env: { SIMWAY_TEST_TIMINGS: JSON.stringify({ pollFirstMs: 300, checkoutMs: 1_500 }) },
    });
  });
  afterAll(async () => {
    await expectSoundBooks(withShortPayments);
    await withShortPayments.close();
  });

  it('by card is FAILED once its time is over, and money that arrives later is credited', async () => {
    const account = await withShortPayments.account({ fundsMinor: 0n });
    const funding = await fundThroughGateway(withShortPayments, account, { amount: 25, method: 'CARD' });
    expect(await untilFunding(withShortPayments, funding.transactionId, 'FAILED')).toMatchObject({
      reason: 'PAYMENT_EXPIRED',
    });
    const answer = await confirm(withShortPayments, account, funding.transactionId);
    expect(answer.body).toMatchObject({ status: 'FAILED', reason: 'PAYMENT_EXPIRED' });
    expect(answer.body).not.toHaveProperty('paymentUrl');
    await untilBalance(withShortPayments, account, 0);
    await withShortPayments.temporal.workflow.getHandle(funding.transactionId).result();

    await atGateway(withShortPayments, funding.reference, 'pay');
    await untilBalance(withShortPayments, account, 2_500);
    await untilFunding(withShortPayments, funding.transactionId, 'FAILED');
  });

  it('by transfer is FAILED once the account has expired, and money that arrives later is credited', async () => {
    // A scenario of the simulator: the account is valid for ten steps of 200 ms, and the money arrives twenty
    // later.
    const account = await withShortPayments.account({ fundsMinor: 0n, email: 'a+sandbox-late@test.example' });
    const funding = await fundThroughGateway(withShortPayments, account, {
      amount: 25,
      method: 'BANK_TRANSFER',
    });
    expect(await untilFunding(withShortPayments, funding.transactionId, 'FAILED')).toMatchObject({
      reason: 'PAYMENT_EXPIRED',
    });
    await untilBalance(withShortPayments, account, 0);
    await untilBalance(withShortPayments, account, 2_500);
    await untilFunding(withShortPayments, funding.transactionId, 'FAILED');
  });
});

describe('a repeated funding request', () => {
  it('with the same Idempotency-Key gets the first answer byte for byte, even once it is paid', async () => {
    const account = await penniless('USD');
    const headers = { 'Idempotency-Key': 'funding-1' };
    const ask = () => fundThroughGateway(stack, account, { amount: 25, method: 'BANK_TRANSFER', headers });
    const first = await ask();
    expect(first.answer.status).toBe(201);
    for (const replay of [(await ask()).answer, (await ask()).answer]) {
      expect(replay.status).toBe(201);
      expect(replay.text).toBe(first.answer.text);
      expect(replay.headers.get('Idempotent-Replayed')).toBe('true');
    }
    await atGateway(stack, first.reference, 'pay');
    await untilBalance(stack, account, 2_500);
    expect((await ask()).answer.text).toBe(first.answer.text);
    const fundings = await stack.owner
      .selectFrom('fundings')
      .select('transaction_id')
      .where('account_id', '=', account.accountId)
      .execute();
    expect(fundings).toHaveLength(1);
  });

  it('is one funding when many come at once with one key', async () => {
    const account = await penniless('NGN');
    const headers = { 'Idempotency-Key': 'at-once' };
    const asked = await Promise.all(
      Array.from({ length: 10 }, () =>
        fundThroughGateway(stack, account, { amount: 5_000, method: 'CARD', headers }),
      ),
    );
    const answered = asked.filter(({ answer }) => answer.status !== 409);
    expect(answered.filter(({ answer }) => answer.status !== 201)).toEqual([]);
    expect(new Set(answered.map(({ answer }) => answer.text)).size).toBe(1);
  });

  it('with the key and another body, or on another path, gets 422', async () => {
    const account = await penniless('USD');
    const headers = { 'Idempotency-Key': 'funding-1' };
    await fundThroughGateway(stack, account, { amount: 25, method: 'CARD', headers });
    for (const wanted of [
      { amount: 26, method: 'CARD' },
      { amount: 25, method: 'APPLE_PAY' },
    ] as const) {
      const { answer } = await fundThroughGateway(stack, account, { ...wanted, headers });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ success: false, error: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    }
    const buy = await stack.call('POST', '/api/esim/buy', {
      key: account.apiKey,
      body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'CARD' },
      headers,
    });
    expect(buy.status).toBe(422);
  });
});

describe('confirm-payment', () => {
  const ask = (account: TestAccount, body: object) =>
    stack.call('POST', '/api/esim/confirm-payment', { key: account.apiKey, body });

  it('finds a funding by each of its ids, and only for its own account', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const account = await penniless('USD');
    const stranger = await penniless('USD');
    const byCard = await fundThroughGateway(stack, account, { amount: 25, method: 'CARD' });
    const byTransfer = await fundThroughGateway(stack, account, { amount: 25, method: 'BANK_TRANSFER' });
    for (const name of [
      { transactionId: byCard.transactionId },
      { gatewayReference: byCard.answer.body.gatewayReference },
      { trackingReference: byTransfer.answer.body.trackingReference },
    ]) {
      expect(await ask(account, name)).toMatchObject({ status: 200, body: { status: 'PENDING' } });
      expect(await ask(stranger, name)).toMatchObject({
        status: 404,
        body: { error: { code: 'TRANSACTION_NOT_FOUND' } },
      });
    }
    await atGateway(stack, byTransfer.reference, 'pay');
    const { trackingReference } = byTransfer.answer.body;
    expect(await ask(account, { trackingReference })).toMatchObject({ body: { status: 'SUCCESS' } });
    await untilBalance(stack, account, 2_500);
  });
});

describe('an unsupported combination is refused, and opens nothing', () => {
  it.each<[AccountCurrency, GatewayMethod, number, string]>([
    ['USD', 'CARD', 1.99, 'USD 2.00 to 10000000.00, this would be USD 1.99'],
    ['NGN', 'CARD', 49.99, 'NGN 50.00 to 10000000.00, this would be NGN 49.99'],
    ['NGN', 'BANK_TRANSFER', 99.99, 'NGN 100.00 to 10000000.00, this would be NGN 99.99'],
    ['USD', 'BANK_TRANSFER', 0.06, 'NGN 100.00 to 10000000.00, this would be NGN 96.00'],
    ['USD', 'APPLE_PAY', 0.01, 'USD 2.00 to 10000000.00, this would be USD 0.01'],
    ['NGN', 'MOBILE_MONEY', 1, 'GHS 0.10 to 10000000.00, this would be GHS 0.01'],
    ['USD', 'BANK_TRANSFER', 10_000_000, 'NGN 100.00 to 10000000.00, this would be NGN 16000000000.00'],
  ])('%s by %s, %d: the method takes %s', async (currency, method, amount, taken) => {
    const account = await penniless(currency);
    const { answer } = await fundThroughGateway(stack, account, { amount, method });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      success: false,
      error: { code: 'PAYMENT_METHOD_UNAVAILABLE', message: `${method} takes ${taken}` },
      statusCode: 400,
    });
    const opened = await stack.owner
      .selectFrom('fundings')
      .select('transaction_id')
      .where('account_id', '=', account.accountId)
      .execute();
    expect(opened).toEqual([]);
  });
});
