// A refund that the gateway does not send. The wallet gets nothing that has left the gateway or that a bank
// asks for.
import { beforeEach, expect, it } from 'vitest';
import { findOpenDisputes, releaseRisk } from '../../src/payments/store/disputes.ts';
import { beginRefund, findOpenRefunds, saveRefundState } from '../../src/payments/store/refunds.ts';
import { no, refundRow, transaction, yes } from '../support/vendors/answering-gateway.ts';
import { json, type Answering, type Call } from '../support/vendors/answering-server.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { CHARGE_MINOR, pastRefund, PRICE_MINOR, usePaymentBooks, type Payer } from './payments.support.ts';
import { useRefundGateway } from './refund-passes.support.ts';

const books = usePaymentBooks();
const gateway = useRefundGateway(books);

const PART = 500_000n;
const REST = CHARGE_MINOR - PART;
const part = { amount: { amountMinor: PART, currency: 'NGN' } };

let payer: Payer;
/** The gateway's list of refunds, and what it calls the charge. */
let listed: object[];
let status: string;
let chargeMinor: bigint;
/** Of a refund request. */
let refusal: object | undefined;
beforeEach(async () => {
  payer = await books.payer();
  await books.bookCheck(payer);
  await failPurchase(books.world, payer.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
  listed = [];
  status = 'success';
  chargeMinor = CHARGE_MINOR;
  refusal = undefined;
  gateway.server.answerWith(answers);
});

const answers: Answering = (response, call) => {
  const { pathname } = new URL(call.path, 'http://gateway.test');
  if (call.method === 'POST' && refusal) json(refusal, 400)(response, call);
  else json(yes(...answerTo(pathname, call)))(response, call);
};

function answerTo(pathname: string, { method, body }: Call): [unknown, object?] {
  if (pathname.startsWith('/transaction/verify/'))
    return [transaction({ reference: payer.reference, amount: Number(chargeMinor), status })];
  if (method === 'GET') return [listed, { total: listed.length, page: 1, pageCount: 1 }];
  const asked = JSON.parse(body) as { merchant_note: string; amount: number };
  return [row('pending', asked.merchant_note, BigInt(asked.amount))];
}

const row = (state: string, merchantNote: string, amountMinor = CHARGE_MINOR, id = 1) =>
  refundRow({ id, status: state, merchant_note: merchantNote, amount: Number(amountMinor) });

/** One pass over the refunds. */
const pass = () => gateway.pass(payer.transactionId);

const open = async () => (await findOpenRefunds(books.world, payer.transactionId))[0];

/** The refund was sent, and the gateway says that it failed. */
async function sentAndFailed(): Promise<void> {
  const refund = (await open())!;
  await beginRefund(books.world, refund);
  await saveRefundState(books.world, refund, { status: 'PENDING', refundId: '1', gatewayStatus: 'pending' });
  listed = [row('failed', refund.refund_key)];
}

it('a refund that fails while a bank disputes its money waits for the bank; lost, the bank’s part is not credited', async () => {
  await sentAndFailed();
  await books.dispute(payer, part);
  await pass();
  expect([await books.balance(payer), (await open())?.amount_minor]).toEqual([0n, CHARGE_MINOR]);
  await books.dispute(payer, { ...part, state: 'lost' });
  await pass();
  await pass();
  expect(await books.payment(payer)).toMatchObject({ reversed_minor: PART, credited_minor: REST });
  expect([await books.balance(payer), await open()]).toEqual([938n, undefined]);
});

it('a refund that fails after a bank got all of its money is not credited', async () => {
  await sentAndFailed();
  await books.dispute(payer);
  await books.dispute(payer, { state: 'lost' });
  await pass();
  expect(await books.payment(payer)).toMatchObject({ reversed_minor: CHARGE_MINOR, credited_minor: 0n });
  expect([await books.balance(payer), await open()]).toEqual([0n, undefined]);
});

it('a refund that waits for the buyer’s bank details ends when a bank has got its money', async () => {
  const refund = (await open())!;
  await beginRefund(books.world, refund);
  listed = [row('needs-attention', refund.refund_key)];
  await books.dispute(payer);
  expect(await pass()).toMatchObject({ attention: 'REFUND_NEEDS_ATTENTION' });
  await books.dispute(payer, { state: 'lost' });
  await pass();
  expect(await books.payment(payer)).toMatchObject({ reversed_minor: CHARGE_MINOR, refunding_minor: 0n });
  expect(await open()).toBeUndefined();
});

it('a refund that fails while a bank disputes its money is credited once the dispute is won', async () => {
  await sentAndFailed();
  await books.dispute(payer);
  await pass();
  expect(await books.balance(payer)).toBe(0n);
  await books.world.transaction().execute(async (trx) => {
    const [dispute] = await findOpenDisputes(trx, payer.transactionId);
    await releaseRisk(trx, dispute!);
  });
  await pass();
  expect([await books.balance(payer), await open()]).toEqual([PRICE_MINOR, undefined]);
});

it('a refund that fails, of a charge that is called reversed since another of our refunds was sent, waits for a person', async () => {
  await books.bookCheck(payer, { netMinor: CHARGE_MINOR + PART });
  chargeMinor = CHARGE_MINOR + PART;
  status = 'reversed';
  const before = await books.balance(payer);
  await sentAndFailed();
  listed.push(row('processed', `${payer.reference}-wallet-1`, PART, 2));
  expect(await pass()).toMatchObject({ attention: 'REFUND_STUCK' });
  expect(await books.payment(payer)).toMatchObject({ reversed_minor: 0n, refunding_minor: CHARGE_MINOR });
  expect(await books.balance(payer)).toBe(before);
});

it('what a bank took, and others sent back as the gateway’s list says, is the same money', async () => {
  await sentAndFailed();
  await books.dispute(payer, part);
  await books.dispute(payer, { ...part, state: 'lost' });
  listed.push(row('processed', '', PART, 2));
  await pass();
  await pass();
  expect(await books.payment(payer)).toMatchObject({ reversed_minor: PART, credited_minor: REST });
});

it('a refund that is refused since others sent back a part of it sends the rest, and credits nothing', async () => {
  refusal = no('Refund amount cannot be more than what is left', {
    code: 'invalid_params',
    type: 'validation_error',
  });
  listed = [row('processed', '', PART)];
  await pass();
  expect(await books.balance(payer)).toBe(0n);
  expect(await books.payment(payer)).toMatchObject({ reversed_minor: PART, refunding_minor: REST });
  await pastRefund(books.owner, (await open())!, 35_001);
  refusal = undefined;
  await pass();
  const sent = gateway.server.calls.filter(({ method }) => method === 'POST').at(-1);
  expect(JSON.parse(sent!.body)).toMatchObject({ amount: Number(REST) });
});

it('a refund whose own request is in the gateway’s list by now is not said to be taken back', async () => {
  const refund = (await open())!;
  // The search for it came a moment too early.
  let searches = 0;
  refusal = no('Transaction has been fully reversed', { code: 'transaction_reversed' });
  gateway.server.answerWith((response, call) => {
    const { pathname } = new URL(call.path, 'http://gateway.test');
    if (pathname === '/refund' && call.method === 'GET')
      listed = (searches += 1) > 1 ? [row('processed', refund.refund_key)] : [];
    if (call.method === 'POST') status = 'reversed';
    answers(response, call);
  });
  await pass();
  await pass();
  expect(await books.payment(payer)).toMatchObject({ reversed_minor: 0n, refunded_minor: CHARGE_MINOR });
});
