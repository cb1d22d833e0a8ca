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
} from '../support/money/payments.ts';
import { startStack, type Stack, type TestAccount } from '../support/world/stack.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const stack = await soundStack({ timings: { pollFirstMs: 400 } });
afterEach(() => clearGatewayFaults(stack));

const penniless = (currency: AccountCurrency): Promise<TestAccount> =>
  stack.account({ fundsMinor: 0n, currency });

/** What is to be credited, and what is to be paid at the gateway. */
const WAYS = (
  [
    // The fixed rates of the sandbox: NGN 1,600.00 and GHS 12.50 for a dollar.
    ['NGN', 'CARD', 500_050, 500_050, 'NGN'],
    ['NGN', 'BANK_TRANSFER', 500_050, 500_050, 'NGN'],
    ['USD', 'CARD', 2_500, 2_500, 'USD'],
    ['USD', 'BANK_TRANSFER', 2_500, 4_000_000, 'NGN'],
    ['USD', 'MOBILE_MONEY', 2_500, 31_250, 'GHS'],
    ['NGN', 'APPLE_PAY', 500_050, 500_050, 'NGN'],
  ] as const
).map(([currency, method, amountMinor, chargeMinor, chargeCurrency]) => ({
  ...{ currency, method, amountMinor, chargeMinor, chargeCurrency },
}));
type Way = (typeof WAYS)[number];

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
      body: {
        status: 'SUCCESS',
        amount: way.amountMinor / 100,
        received: { amount: way.chargeMinor / 100, currency: way.chargeCurrency },
        credited: { amount: way.amountMinor / 100, currency: way.currency },
      },
    });
    expect(confirmed.body.timeline.map(({ what }) => what)).toEqual(['opened', 'wallet-credited']);
    expect(confirmed.body).not.toHaveProperty('paymentUrl');
    expect(confirmed.body).not.toHaveProperty('bankAccounts');
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
    const { body } = await confirm(stack, account, funding.transactionId);
    expect(body).toMatchObject({
      amount: way.amountMinor / 100,
      received: { amount: (2 * way.chargeMinor) / 100, currency: way.chargeCurrency },
      credited: { amount: (2 * way.amountMinor) / 100, currency: way.currency },
    });
    expect(body.timeline.map(({ what }) => what)).toEqual([
      'opened',
      'wallet-credited',
      'payment-received-again',
    ]);
  });

  it.each([
    ['more', 'payment-received-over', 1.2],
    ['less', 'payment-received-short', 0.8],
  ])('says what came and what the wallet got when %s is paid', async (_how, what, share) => {
    const { account, funding } = await open();
    const [receivedMinor, creditedMinor] = [
      Math.round(way.chargeMinor * share),
      Math.round(way.amountMinor * share),
    ];
    await atGateway(stack, funding.reference, 'pay', { amountMinor: receivedMinor });
    await untilBalance(stack, account, creditedMinor);
    const { body } = await confirm(stack, account, funding.transactionId);
    expect(body).toMatchObject({
      status: 'SUCCESS',
      amount: way.amountMinor / 100,
      received: { amount: receivedMinor / 100, currency: way.chargeCurrency },
      credited: { amount: creditedMinor / 100, currency: way.currency },
    });
    expect(body.timeline.map((one) => one.what)).toEqual(['opened', what, 'wallet-credited']);
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

describe('an unpaid funding', () => {
  let short: Stack;
  beforeAll(async () => {
    short = await startStack({
      timings: { pollFirstMs: 300, checkoutMs: 1_500 },
    });
  });
  afterAll(async () => {
    await expectSoundBooks(short);
    await short.close();
  });

  // A scenario of the simulator: the transfer's account is valid for ten steps of 200 ms, and the money
  // arrives twenty later.
  it.each([
    ['CARD', {}, (reference: string) => atGateway(short, reference, 'pay')],
    ['BANK_TRANSFER', { email: 'a+sandbox-late@test.example' }, () => undefined],
  ] as const)(
    'by %s is FAILED once its time is over, and money that arrives later is credited',
    async (method, who, pay) => {
      const account = await short.account({ fundsMinor: 0n, ...who });
      const { transactionId, reference } = await fundThroughGateway(short, account, { amount: 25, method });
      expect(await untilFunding(short, transactionId, 'FAILED')).toMatchObject({ reason: 'PAYMENT_EXPIRED' });
      const answer = await confirm(short, account, transactionId);
      expect(answer.body).toMatchObject({ status: 'FAILED', reason: 'PAYMENT_EXPIRED' });
      expect(answer.body).not.toHaveProperty('paymentUrl');
      await untilBalance(short, account, 0);
      if (method === 'CARD') await short.temporal.workflow.getHandle(transactionId).result();
      await pay(reference);
      await untilBalance(short, account, 2_500);
      await untilFunding(short, transactionId, 'FAILED');
      const late = await confirm(short, account, transactionId);
      expect(late.body).toMatchObject({ status: 'FAILED', credited: { amount: 25, currency: 'USD' } });
      expect(late.body.timeline.map(({ what }) => what)).toEqual([
        'opened',
        'failed',
        'payment-received-late',
      ]);
    },
  );
});

describe('a repeated funding request', () => {
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

  it('with the key on another path gets 422', async () => {
    const account = await penniless('USD');
    const headers = { 'Idempotency-Key': 'funding-1' };
    await fundThroughGateway(stack, account, { amount: 25, method: 'CARD', headers });
    const body = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'CARD' };
    const buy = await stack.call('POST', '/api/esim/buy', { key: account.apiKey, body, headers });
    expect([buy.status, buy.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });
});
