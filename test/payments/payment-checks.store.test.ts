/** One check of a payment with several attempts: the result of one attempt does not apply to another. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/index.ts';
import { checkPayment } from '../../activities/payments/payments.ts';
import type { PaystackGateway } from '../../src/vendors/paystack/gateway.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { closePayment, nextPaymentAttempt } from '../../src/payments/store/payments.ts';
import { closeUnpaid } from '../../src/purchases/store/purchases.ts';
import { no, startAnsweringGateway, transaction, yes } from '../support/vendors/answering-gateway.ts';
import { json, type Answering } from '../support/vendors/answering-server.ts';
import { CHARGE_MINOR, NOW, PRICE_MINOR, usePaymentBooks, type Payer } from './payments.support.ts';

const books = usePaymentBooks();
const server = await startAnsweringGateway();
const gateway: PaystackGateway = server.gateway();
afterAll(() => server.close());

/**
 * The gateway's answer about a charge: with its amount when it is paid, `away` with an error, `none` when it
 * is unknown there.
 */
type Says = 'paid' | 'waiting' | 'away' | 'none';
let says: Record<string, Says> = {};
beforeEach(() => {
  says = {};
  server.answerWith((response, call) => {
    const reference = call.path.split('/').at(-1) ?? '';
    answerOf(says[reference] ?? 'none', reference)(response, call);
  });
});

function answerOf(said: Says, reference: string): Answering {
  if (said === 'away') return json('oh no', 500);
  if (said === 'none') return json(no('Transaction reference not found'), 404);
  const status = said === 'paid' ? 'success' : 'ongoing';
  return json(yes(transaction({ reference, status, amount: Number(CHARGE_MINOR) })));
}

const check = ({ transactionId }: Payer, asking: PaystackGateway = gateway) => {
  const events = createEvents(createLogger({ level: 'silent' }));
  const deps = { db: books.world, gateway: asking, events, clock: { now: () => NOW } };
  return checkPayment(deps as unknown as ActivityDeps, transactionId, 'purchase');
};

/**
 * With a second attempt, after the gateway had the first and its answer with the payment instructions was
 * lost.
 */
async function twoTries(): Promise<{ payer: Payer; second: string }> {
  const payer = await books.payer();
  const next = await nextPaymentAttempt(books.world, await books.payment(payer));
  return { payer, second: next.reference };
}

describe('a payment with two attempts', () => {
  it.each<[Says, Says, string]>([
    ['away', 'waiting', 'unknown'],
    ['waiting', 'away', 'unknown'],
    ['away', 'none', 'unknown'],
    ['away', 'away', 'unknown'],
    ['waiting', 'waiting', 'waiting'],
    ['waiting', 'none', 'waiting'],
  ])('is, when the first is %s and the second %s: %s', async (first, next, state) => {
    const { payer, second } = await twoTries();
    says = { [payer.reference]: first, [second]: next };
    expect(await check(payer)).toEqual({ state, isKnown: state !== 'unknown' });
    expect(await books.status(payer)).toBe('PENDING');
  });

  it('is unknown while the gateway does not answer about the paid first attempt, and paid when it does', async () => {
    const { payer, second } = await twoTries();
    says = { [payer.reference]: 'away', [second]: 'waiting' };
    expect(await check(payer)).toMatchObject({ state: 'unknown', isKnown: false });
    says[payer.reference] = 'paid';
    expect(await check(payer)).toMatchObject({ state: 'paid', isKnown: true });
    expect(await books.status(payer)).toBe('PROCESSING');
  });

  it('is unknown and marked as held back when our own rate limit stops the check, which a missing answer is not', async () => {
    const { payer, second } = await twoTries();
    const accounts: string[] = [];
    let isFree = false;
    const accountPacer = (accountId: string) => {
      accounts.push(accountId);
      return { takeSlot: () => Promise.resolve(isFree) };
    };
    const paced = server.gateway({ accountPacer });
    says = { [payer.reference]: 'waiting', [second]: 'waiting' };
    expect(await check(payer, paced)).toEqual({ state: 'unknown', isKnown: false, isHeldBack: true });
    expect(server.calls).toHaveLength(0);
    isFree = true;
    expect(await check(payer, paced)).toEqual({ state: 'waiting', isKnown: true });
    says[second] = 'away';
    expect(await check(payer, paced)).toEqual({ state: 'unknown', isKnown: false });
    expect(new Set(accounts)).toEqual(new Set([payer.accountId]));
  });

  it('is unknown while the gateway does not find an attempt that it accepted, until it finds it again', async () => {
    const { payer, second } = await twoTries();
    says = { [second]: 'waiting' };
    expect(await check(payer)).toEqual({ state: 'unknown', isKnown: false });
    // The payment instructions of the first are known, and the second was found at the earlier check.
    says = { [payer.reference]: 'waiting' };
    expect(await check(payer)).toEqual({ state: 'unknown', isKnown: false });
    says = { [payer.reference]: 'waiting', [second]: 'waiting' };
    expect(await check(payer)).toEqual({ state: 'waiting', isKnown: true });
  });
});

it('a closed payment is checked like any other: what came late is booked', async () => {
  const payer = await books.payer();
  await closeUnpaid(books.world, payer.transactionId, 'PAYMENT_EXPIRED');
  await closePayment(books.world, payer.reference);
  says = { [payer.reference]: 'paid' };
  expect(await check(payer)).toMatchObject({ state: 'ended', isKnown: true });
  expect(await books.balance(payer)).toBe(PRICE_MINOR);
});
