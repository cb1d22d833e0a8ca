// Every payment method, for a new eSIM and for a top-up, once each through the whole service: instructions,
// money, package, and the books.
import { afterEach, describe, expect, it } from 'vitest';
import { PAYMENT_METHODS, type PaymentMethod } from '../../src/domain/states.ts';
import { findPurchaseRow, newBuyer, timelineOf } from '../support/people/buyer.ts';
import { movedBy } from '../support/money/fundings.ts';
import {
  atGateway,
  buyThroughGateway,
  clearGatewayFaults,
  confirm,
  gatewayFaults,
  untilStatus,
} from '../support/money/payments.ts';
import type { Answer } from '../support/world/stack.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const stack = await soundStack({ timings: { pollFirstMs: 400 } });
const buyer = await newBuyer(stack, { currency: 'USD' });
const target = await buyer.activeEsim();
afterEach(() => clearGatewayFaults(stack));

const GB = 1024 ** 3;
const PRICE_MINOR = 230;
/** 2.30 dollars at the sandbox's fixed rates, and the other fields of the instructions. */
const ASKED: Readonly<Record<Exclude<PaymentMethod, 'WALLET'>, { currency: string; chargeMinor: number }>> = {
  CARD: { currency: 'USD', chargeMinor: PRICE_MINOR },
  APPLE_PAY: { currency: 'USD', chargeMinor: PRICE_MINOR },
  MOBILE_MONEY: { currency: 'GHS', chargeMinor: 2_875 },
  BANK_TRANSFER: { currency: 'NGN', chargeMinor: 368_000 },
};

const buy = (method: PaymentMethod, type: 'BASE' | 'TOPUP'): Promise<Answer> =>
  stack.call('POST', '/api/esim/buy', {
    key: buyer.account.apiKey,
    body:
      type === 'BASE'
        ? { packageCode: 'SIM-OK', packageType: type, paymentMethod: method }
        : {
            packageCode: 'TOPUP_SIM-OK',
            packageType: type,
            paymentMethod: method,
            esimId: target.esimId,
          },
  });

const totalVolume = async (): Promise<number> =>
  (await buyer.read(`/api/esim/${target.esimId}`)).body.totalVolume;

describe.each(PAYMENT_METHODS)('%s', (method) => {
  it.each(['BASE', 'TOPUP'] as const)('pays for %s', async (type) => {
    const volumeBefore = await totalVolume();
    const answer = await buy(method, type);
    expect(answer.status).toBe(type === 'BASE' ? 201 : 200);
    const { transactionId } = answer.body;
    if (method !== 'WALLET') await payThroughGateway(method, answer);
    expect((await findPurchaseRow(stack, transactionId))?.status).toBe('SUCCESS');

    const read = await buyer.read(`/api/esim/transactions/${transactionId}`);
    const { body } = await confirm(stack, buyer.account, transactionId);
    expect(body).toEqual(read.body);
    expect(body.status).toBe('SUCCESS');
    for (const field of ['paymentUrl', 'bankAccounts', 'gatewayReference', 'trackingReference', 'charge'])
      expect(body).not.toHaveProperty(field);
    if (type === 'BASE') expect(body.esimDetails.activationCode).toMatch(/^LPA:1\$/);
    else
      expect(body.esimDetails).toMatchObject({
        iccid: target.iccid,
        totalVolume: volumeBefore + GB,
        dataRemaining: expect.any(Number) as unknown,
      });
    expect(await totalVolume()).toBe(type === 'BASE' ? volumeBefore : volumeBefore + GB);
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
    expect(await movedBy(stack, transactionId)).toMatchObject(earnedBy(method));
  });
});

async function payThroughGateway(method: Exclude<PaymentMethod, 'WALLET'>, { body }: Answer): Promise<void> {
  const { transactionId } = body;
  const { currency, chargeMinor } = ASKED[method];
  expect(body).toMatchObject({
    status: 'PENDING',
    ...(method === 'BANK_TRANSFER'
      ? { trackingReference: transactionId, bankAccounts: [{ accountNumber: expect.any(String) as unknown }] }
      : { gatewayReference: transactionId, paymentUrl: expect.stringMatching(/^http/) as unknown }),
  });
  expect(body.charge).toEqual(currency === 'USD' ? undefined : { amount: chargeMinor / 100, currency });
  expect(body.package).toMatchObject({ price: PRICE_MINOR / 100 });
  // Meanwhile reads show that the payment is awaited, and nothing was ordered.
  const waiting = await buyer.read(`/api/esim/transactions/${transactionId}`);
  expect(waiting.body).toMatchObject({ status: 'PENDING', timeline: [{ what: 'opened' }] });
  expect(await stack.supplierOrders(transactionId)).toEqual([]);

  await atGateway(stack, transactionId, 'pay');
  await untilStatus(stack, transactionId, 'SUCCESS');
  expect(await timelineOf(stack, transactionId)).toEqual(['opened', 'payment-received', 'delivered']);
}

/** The change of our ledger accounts: the price, from the source of the payment. */
function earnedBy(method: PaymentMethod): Record<string, number> {
  const earned = { 'revenue:USD': PRICE_MINOR, 'supplier-cost:USD4': 20_000 };
  if (method === 'WALLET') return { ...earned, [`wallet:${buyer.account.accountId}`]: -PRICE_MINOR };
  const { currency, chargeMinor } = ASKED[method];
  return {
    ...earned,
    [`gateway-clearing:paystack:${currency}`]: -chargeMinor,
    ...(currency === 'USD' ? {} : { [`exchange:${currency}`]: chargeMinor, 'exchange:USD': -PRICE_MINOR }),
  };
}

it('a buyer gets a payment page even if the answer to the charge was lost, and is charged once', async () => {
  await gatewayFaults(stack, { loseAnswer: { next: 1 } });
  const bought = await buyThroughGateway(stack, buyer.account);
  expect(bought.answer.body).toMatchObject({ status: 'PENDING', paymentUrl: expect.any(String) as unknown });
  await atGateway(stack, bought.reference, 'pay');
  await untilStatus(stack, bought.transactionId, 'SUCCESS');
  expect(await stack.supplierOrders(bought.transactionId)).toHaveLength(1);
});
