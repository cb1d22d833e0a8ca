// A refund that the gateway does not send. The wallet gets nothing that has left the gateway or that a bank
// asks for.
import { expect, it } from 'vitest';
import { beginRefund, saveRefundState } from '../../src/payments/store/refunds.ts';
import { no } from '../support/vendors/answering-gateway.ts';
import { CHARGE_MINOR, pastRefund, PRICE_MINOR, usePaymentBooks } from './payments.support.ts';
import { listedRefund, useDueRefund } from './answering.support.ts';

const books = usePaymentBooks();
const due = useDueRefund(books);

const PART = 500_000n;
const REST = CHARGE_MINOR - PART;
const part = { amount: { amountMinor: PART, currency: 'NGN' } };

/** The refund was sent, and the gateway says that it failed. */
async function sentAndFailed(): Promise<void> {
  const refund = await due.open();
  await beginRefund(books.world, refund);
  await saveRefundState(books.world, refund, { status: 'PENDING', refundId: '1', gatewayStatus: 'pending' });
  due.listed = [listedRefund('failed', refund.refund_key)];
}

it('a refund that fails while a bank disputes its money waits for the bank; lost, the bank’s part is not credited', async () => {
  await sentAndFailed();
  await books.dispute(due.payer, part);
  await due.pass();
  expect([await books.balance(due.payer), (await due.open()).amount_minor]).toEqual([0n, CHARGE_MINOR]);
  await books.dispute(due.payer, { ...part, state: 'lost' });
  await due.pass();
  await due.pass();
  expect(await books.payment(due.payer)).toMatchObject({ reversed_minor: PART, credited_minor: REST });
  expect([await books.balance(due.payer), await due.open()]).toEqual([938n, undefined]);
});

it('a refund that fails after a bank got all of its money is not credited', async () => {
  await sentAndFailed();
  await books.dispute(due.payer);
  await books.dispute(due.payer, { state: 'lost' });
  await due.pass();
  expect(await books.payment(due.payer)).toMatchObject({ reversed_minor: CHARGE_MINOR, credited_minor: 0n });
  expect([await books.balance(due.payer), await due.open()]).toEqual([0n, undefined]);
});

it('a refund that waits for the buyer’s bank details ends when a bank has got its money', async () => {
  const refund = await due.open();
  await beginRefund(books.world, refund);
  due.listed = [listedRefund('needs-attention', refund.refund_key)];
  await books.dispute(due.payer);
  expect(await due.pass()).toMatchObject({ attention: 'REFUND_NEEDS_ATTENTION' });
  await books.dispute(due.payer, { state: 'lost' });
  await due.pass();
  expect(await books.payment(due.payer)).toMatchObject({ reversed_minor: CHARGE_MINOR, refunding_minor: 0n });
  expect(await due.open()).toBeUndefined();
});

it('a refund that fails while a bank disputes its money is credited once the dispute is won', async () => {
  await sentAndFailed();
  await books.dispute(due.payer);
  await due.pass();
  expect(await books.balance(due.payer)).toBe(0n);
  await books.release(due.payer);
  await due.pass();
  expect([await books.balance(due.payer), await due.open()]).toEqual([PRICE_MINOR, undefined]);
});

it('a refund that fails, of a charge that is called reversed since another of our refunds was sent, waits for a person', async () => {
  await books.bookCheck(due.payer, { netMinor: CHARGE_MINOR + PART });
  due.chargeMinor = CHARGE_MINOR + PART;
  due.status = 'reversed';
  const before = await books.balance(due.payer);
  await sentAndFailed();
  due.listed.push(listedRefund('processed', `${due.payer.reference}-wallet-1`, 2, PART));
  expect(await due.pass()).toMatchObject({ attention: 'REFUND_STUCK' });
  expect(await books.payment(due.payer)).toMatchObject({ reversed_minor: 0n, refunding_minor: CHARGE_MINOR });
  expect(await books.balance(due.payer)).toBe(before);
});

it('what a bank took, and others sent back as the gateway’s list says, is the same money', async () => {
  await sentAndFailed();
  await books.dispute(due.payer, part);
  await books.dispute(due.payer, { ...part, state: 'lost' });
  due.listed.push(listedRefund('processed', '', 2, PART));
  await due.pass();
  await due.pass();
  expect(await books.payment(due.payer)).toMatchObject({ reversed_minor: PART, credited_minor: REST });
});

it('a refund that is refused since others sent back a part of it sends the rest, and credits nothing', async () => {
  due.refusal = no('Refund amount cannot be more than what is left', {
    code: 'invalid_params',
    type: 'validation_error',
  });
  due.listed = [listedRefund('processed', '', 1, PART)];
  await due.pass();
  expect(await books.balance(due.payer)).toBe(0n);
  expect(await books.payment(due.payer)).toMatchObject({ reversed_minor: PART, refunding_minor: REST });
  await pastRefund(books.owner, await due.open(), 35_001);
  due.refusal = undefined;
  await due.pass();
  expect(due.asked().at(-1)).toMatchObject({ amount: Number(REST) });
});

it('a refund whose own request is in the gateway’s list by now is not said to be taken back', async () => {
  const refund = await due.open();
  // The search for it came a moment too early.
  let searches = 0;
  due.refusal = no('Transaction has been fully reversed', { code: 'transaction_reversed' });
  due.server.answerWith((response, call) => {
    if (call.path.startsWith('/refund') && call.method === 'GET')
      due.listed = (searches += 1) > 1 ? [listedRefund('processed', refund.refund_key)] : [];
    if (call.method === 'POST') due.status = 'reversed';
    due.answers(response, call);
  });
  await due.pass();
  await due.pass();
  expect(await books.payment(due.payer)).toMatchObject({ reversed_minor: 0n, refunded_minor: CHARGE_MINOR });
});
