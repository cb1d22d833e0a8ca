/** One check of a payment with several attempts: the result of one attempt does not apply to another. */
import { beforeEach, describe, expect, it } from 'vitest';
import { closePayment, nextPaymentAttempt } from '../../src/payments/store/payments.ts';
import { closeUnpaid } from '../../src/purchases/store/purchases.ts';
import { chargeAnswer, useAnsweringGateway, type Says } from './answering.support.ts';
import { PRICE_MINOR, usePaymentBooks, type Payer } from './payments.support.ts';

const books = usePaymentBooks();
const gateway = useAnsweringGateway(books);
const { check } = gateway;

/** What the gateway says, by reference. */
let says: Record<string, Says> = {};
beforeEach(() => {
  says = {};
  gateway.server.answerWith((response, call) => {
    const said = says[call.path.split('/').at(-1) ?? ''] ?? 'none';
    chargeAnswer(said, call)(response, call);
  });
});

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
    const paced = { accountPacer };
    says = { [payer.reference]: 'waiting', [second]: 'waiting' };
    expect(await check(payer, paced)).toEqual({ state: 'unknown', isKnown: false, isHeldBack: true });
    expect(gateway.server.calls).toHaveLength(0);
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

it.each([
  ['90 s', 90_000],
  ['an hour', 3_600_000],
])(
  'a payment is booked by the next check, though the one before was made by a clock %s ahead',
  async (_how, aheadMs) => {
    const payer = await books.payer();
    says = { [payer.reference]: 'waiting' };
    const clock = { now: () => new Date(Date.now() + aheadMs) };
    expect(await check(payer, {}, { clock })).toMatchObject({ state: 'waiting', isKnown: true });
    says = { [payer.reference]: 'paid' };
    expect(await check(payer, {}, { clock: { now: () => new Date() } })).toMatchObject({
      state: 'paid',
      isKnown: true,
    });
    expect(await books.status(payer)).toBe('PROCESSING');
  },
);
