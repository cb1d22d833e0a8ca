// A purchase paid through the gateway, through the whole service: instructions, and payments found by event,
// by confirmation and by our polling only.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { timelineOf } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import {
  atGateway,
  buyThroughGateway,
  chargeAt,
  clearGatewayFaults,
  confirm,
  gatewayFaults,
  untilStatus,
} from '../support/money/payments.ts';
import { startStack, type Stack, type TestAccount } from '../support/world/stack.ts';

let stack: Stack;
let usd: TestAccount;
let ngn: TestAccount;
beforeAll(async () => {
  stack = await startStack({ env: { SIMWAY_TEST_TIMINGS: JSON.stringify({ pollFirstMs: 400 }) } });
  usd = await stack.account({ fundsMinor: 0n });
  ngn = await stack.account({ fundsMinor: 0n, currency: 'NGN' });
});
afterEach(() => clearGatewayFaults(stack));
afterAll(async () => {
  await expectSoundBooks(stack);
  await stack.close();
});

describe('a card', () => {
  it('is PENDING with a payment page, and SUCCESS once the gateway’s event reports the payment', async () => {
    const bought = await buyThroughGateway(stack, usd);
    expect(bought.answer.status).toBe(201);
    expect(bought.answer.body).toMatchObject({
      status: 'PENDING',
      gatewayReference: bought.transactionId,
      paymentUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:/) as unknown,
    });
    await atGateway(stack, bought.reference, 'pay');
    await untilStatus(stack, bought.transactionId, 'SUCCESS');
    expect(await timelineOf(stack, bought.transactionId)).toEqual([
      'opened',
      'payment-received',
      'delivered',
    ]);
    expect(await stack.supplierOrders(bought.transactionId)).toHaveLength(1);
  });

  it('is found paid by our polling when every event is dropped', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const bought = await buyThroughGateway(stack, ngn);
    await atGateway(stack, bought.reference, 'pay');
    await untilStatus(stack, bought.transactionId, 'SUCCESS');
    expect(await timelineOf(stack, bought.transactionId)).toEqual([
      'opened',
      'payment-received',
      'delivered',
    ]);
  });

  it('is answered by confirm-payment with PENDING while unpaid, then with SUCCESS and the eSIM', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const bought = await buyThroughGateway(stack, usd);
    expect((await confirm(stack, usd, bought.transactionId)).body).toMatchObject({ status: 'PENDING' });
    await atGateway(stack, bought.reference, 'pay');
    await confirm(stack, usd, bought.transactionId);
    await untilStatus(stack, bought.transactionId, 'SUCCESS');
    const read = await confirm(stack, usd, bought.transactionId);
    expect(read.body).toMatchObject({
      status: 'SUCCESS',
      esimDetails: { iccid: expect.any(String) as unknown },
    });
    expect((await confirm(stack, ngn, bought.transactionId)).status).toBe(404);
  });

  it('gives its buyer a payment page even if the answer to the charge was lost', async () => {
    await gatewayFaults(stack, { loseAnswer: { next: 1 } });
    const bought = await buyThroughGateway(stack, usd);
    expect(bought.answer.body).toMatchObject({
      status: 'PENDING',
      paymentUrl: expect.any(String) as unknown,
    });
    await atGateway(stack, bought.reference, 'pay');
    await untilStatus(stack, bought.transactionId, 'SUCCESS');
    expect(await stack.supplierOrders(bought.transactionId)).toHaveLength(1);
  });

  it('is refunded to the card when the eSIM cannot be delivered', async () => {
    const bought = await buyThroughGateway(stack, ngn, { packageCode: 'SIM-OUT-OF-STOCK' });
    await atGateway(stack, bought.reference, 'pay');
    await untilStatus(stack, bought.transactionId, 'FAILED');
    await expect
      .poll(async () => (await timelineOf(stack, bought.transactionId)).at(-1), { timeout: 10_000 })
      .toBe('refunded');
    expect((await chargeAt(stack, bought.reference)).status).toBe('reversed');
  });
});

describe('a bank transfer', () => {
  it('shows the account to pay into, and delivers once paid', async () => {
    const bought = await buyThroughGateway(stack, usd, { method: 'BANK_TRANSFER' });
    expect(bought.answer.body).toMatchObject({
      status: 'PENDING',
      trackingReference: bought.transactionId,
      bankAccounts: [
        { accountNumber: expect.any(String) as unknown, expiryDate: expect.any(String) as unknown },
      ],
    });
    await atGateway(stack, bought.reference, 'pay');
    await untilStatus(stack, bought.transactionId, 'SUCCESS');
  });

  it('that is 20 % short ends with the money in the wallet', async () => {
    const bought = await buyThroughGateway(stack, ngn, { method: 'BANK_TRANSFER' });
    const { requested } = await chargeAt(stack, bought.reference);
    const short = Math.trunc((requested.amountMinor * 80) / 100);
    await atGateway(stack, bought.reference, 'pay', { amountMinor: short });
    expect(await untilStatus(stack, bought.transactionId, 'FAILED')).toMatchObject({
      reason: 'PAYMENT_UNDERPAID',
    });
    const wallet = await stack.call('GET', '/api/wallet/balance', { key: ngn.apiKey });
    expect(wallet.body).toMatchObject({ data: { balance: short / 100 } });
  });
});
