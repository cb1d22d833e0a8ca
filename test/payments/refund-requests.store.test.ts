// What we send to the gateway for one refund, over HTTP, with answers written here: unknown outcomes, and
// attempts that an operator requested.
import { expect, it } from 'vitest';
import { creditRefund, saveRefundState, tryRefundAgain } from '../../src/payments/store/refunds.ts';
import { no } from '../support/vendors/answering-gateway.ts';
import { CHARGE_MINOR, pastRefund, PRICE_MINOR, usePaymentBooks } from './payments.support.ts';
import { listedRefund, useDueRefund } from './answering.support.ts';

const books = usePaymentBooks();
const due = useDueRefund(books);
const { open, pass } = due;

const FAILED = { status: 'STUCK', refundId: '1', gatewayStatus: 'failed' } as const;

/** An operator has asked for it again. */
async function retriedAfter(state: Parameters<typeof saveRefundState>[2]): Promise<void> {
  await saveRefundState(books.world, await open(), state);
  await books.world.transaction().execute(async (trx) => tryRefundAgain(trx, await open()));
}

/** The keys of the refund requests. */
const askedUnder = () => due.asked().map(({ merchant_note: key }) => key);

it('a refund is not requested again while a request whose answer was lost may still arrive, and is after that', async () => {
  due.answersRefund = false;
  expect(await pass()).toMatchObject({ state: 'waiting' });
  const first = askedUnder().length;
  expect(first).toBeGreaterThan(0);
  due.answersRefund = true;
  // The gateway does not list it yet.
  await pastRefund(books.owner, await open(), 25_000);
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toHaveLength(first);
  await pastRefund(books.owner, await open(), 11_000);
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toHaveLength(first + 1);
});

it('a refund is not requested from another gateway than the one that has the money', async () => {
  await books.owner
    .updateTable('refunds')
    .set({ gateway: 'another' })
    .where('transaction_id', '=', due.payer.transactionId)
    .execute();
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toEqual([]);
});

it('a refund of a part, which the gateway would take twice, is requested again only once its list is sure to have the first', async () => {
  await books.bookCheck(due.payer, { netMinor: 2n * CHARGE_MINOR });
  due.answersRefund = false;
  await pass();
  const first = askedUnder().length;
  due.answersRefund = true;
  await pastRefund(books.owner, await open(), 3_500_000);
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toHaveLength(first);
  await pastRefund(books.owner, await open(), 200_000);
  await pass();
  expect(askedUnder()).toHaveLength(first + 1);
});

it('a refund that our own limit held back is requested with the next check', async () => {
  await books.bookCheck(due.payer, { netMinor: 2n * CHARGE_MINOR });
  let slots = 0;
  // The search has its turns, and the request has none.
  await pass({ pacer: { takeSlot: () => Promise.resolve((slots += 1) <= 2) } });
  expect(askedUnder()).toEqual([]);
  await pass();
  expect(askedUnder()).toHaveLength(1);
});

it('a refund is requested under a new key only if the gateway lists it as failed, and is found again', async () => {
  const { refund_key: key } = await open();
  due.listed = [listedRefund('failed', key, 1)];
  await retriedAfter(FAILED);
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toEqual([`${key}-2`]);
  due.listed = [listedRefund('failed', key, 1), listedRefund('processing', `${key}-2`, 2)];
  await pass();
  due.listed = [listedRefund('failed', key, 1), listedRefund('processed', `${key}-2`, 2)];
  expect(await pass()).toMatchObject({ state: 'done' });
  expect(askedUnder()).toEqual([`${key}-2`]);
  const closed = await books.owner
    .selectFrom('refunds')
    .selectAll()
    .where('refund_key', '=', key)
    .executeTakeFirst();
  expect(closed).toMatchObject({ status: 'DONE', attempt: 2, gateway_refund_id: '2' });
});

it('an earlier attempt that turns out to be in progress counts, and no other is requested', async () => {
  const { refund_key: key } = await open();
  await retriedAfter({ ...FAILED, refundId: null, gatewayStatus: 'reversed' });
  due.listed = [listedRefund('processing', key, 1)];
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toEqual([]);
});

it('what was known of an attempt, and became of it, is not written over the next one', async () => {
  const before = await open();
  await retriedAfter(FAILED);
  await saveRefundState(books.world, before, FAILED);
  expect(await creditRefund(books.world, before, await books.payment(due.payer))).toBe(false);
  expect(await open()).toMatchObject({ status: 'DUE', attempt: 2, gateway_refund_id: null });
});

it('a refusal after a request whose answer was lost proves nothing: nothing is credited, and no bank is said to have the money', async () => {
  due.answersRefund = false;
  await pass();
  await pastRefund(books.owner, await open(), 35_001);
  due.refusal = no('Transaction has been fully reversed', { code: 'transaction_reversed' });
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(await open()).toMatchObject({ status: 'ASKED' });
  expect(await books.balance(due.payer)).toBe(0n);
  await pastRefund(books.owner, await open(), 3_600_001);
  expect(await pass()).toMatchObject({ attention: 'REFUND_STUCK' });
});

it('the first request that is refused is credited to the wallet', async () => {
  due.refusal = no('Refunds are not enabled', { code: 'invalid_params', type: 'validation_error' });
  await pass();
  expect([await books.balance(due.payer), await open()]).toEqual([PRICE_MINOR, undefined]);
});
