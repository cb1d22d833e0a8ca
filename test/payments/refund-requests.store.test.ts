// What we send to the gateway for one refund, over HTTP, with answers written here: unknown outcomes, and
// attempts that an operator requested.
import { beforeEach, expect, it } from 'vitest';
import type { Pacer } from '../../src/platform/rate-limiter.ts';
import { failPurchase } from '../support/money/give-back.ts';
import {
  creditRefund,
  findOpenRefunds,
  saveRefundState,
  tryRefundAgain,
} from '../../src/payments/store/refunds.ts';
import { json, type Answering, type Call } from '../support/vendors/answering-server.ts';
import { no, refundRow, transaction, yes } from '../support/vendors/answering-gateway.ts';
import { CHARGE_MINOR, pastRefund, PRICE_MINOR, usePaymentBooks, type Payer } from './payments.support.ts';
import { useRefundGateway } from './refund-passes.support.ts';

const books = usePaymentBooks();
const gateway = useRefundGateway(books);

let payer: Payer;
/** The gateway's list; the answer to a refund request contains it, or is lost. */
let listed: object[];
let answersRefund: boolean;
/** Of a refund request. */
let refusal: object | undefined;
beforeEach(async () => {
  payer = await books.payer();
  await books.bookCheck(payer);
  await failPurchase(books.world, payer.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
  listed = [];
  answersRefund = true;
  refusal = undefined;
  gateway.server.answerWith(answers);
});

const answers: Answering = (response, call) => {
  const { pathname } = new URL(call.path, 'http://gateway.test');
  if (call.method === 'POST' && refusal) json(refusal, 400)(response, call);
  else if (call.method === 'POST' && !answersRefund) response.destroy();
  else json(yes(...answerTo(pathname, call)))(response, call);
};

function answerTo(pathname: string, { method, body }: Call): [unknown, object?] {
  if (pathname.startsWith('/transaction/verify/'))
    return [transaction({ reference: payer.reference, amount: Number(CHARGE_MINOR) })];
  if (method === 'GET') return [listed, { total: listed.length, page: 1, pageCount: 1 }];
  return [row('pending', (JSON.parse(body) as { merchant_note: string }).merchant_note)];
}

const row = (status: string, merchantNote: string, id = 3_018_284) =>
  refundRow({ id, status, merchant_note: merchantNote, amount: Number(CHARGE_MINOR) });

/** One pass over the refunds. */
const pass = (pacer?: Pacer) => gateway.pass(payer.transactionId, pacer);

/** The keys of the refund requests. */
const askedUnder = (): string[] =>
  gateway.server.calls
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => (JSON.parse(body) as { merchant_note: string }).merchant_note);

const open = async () => (await findOpenRefunds(books.world, payer.transactionId))[0]!;

it('a refund is not requested again while a request whose answer was lost may still arrive, and is after that', async () => {
  answersRefund = false;
  expect(await pass()).toMatchObject({ state: 'waiting' });
  const first = askedUnder().length;
  expect(first).toBeGreaterThan(0);
  answersRefund = true;
  // The gateway does not list it yet.
  await pastRefund(books.owner, await open(), 34_000);
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toHaveLength(first);
  await pastRefund(books.owner, await open(), 2_000);
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toHaveLength(first + 1);
});

it('a refund is not requested from another gateway than the one that has the money', async () => {
  await books.owner
    .updateTable('refunds')
    .set({ gateway: 'another' })
    .where('transaction_id', '=', payer.transactionId)
    .execute();
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toEqual([]);
});

it('a refund of a part, which the gateway would take twice, is requested again only once its list is sure to have the first', async () => {
  await books.bookCheck(payer, { netMinor: 2n * CHARGE_MINOR });
  answersRefund = false;
  await pass();
  const first = askedUnder().length;
  answersRefund = true;
  await pastRefund(books.owner, await open(), 3_500_000);
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toHaveLength(first);
  await pastRefund(books.owner, await open(), 200_000);
  await pass();
  expect(askedUnder()).toHaveLength(first + 1);
});

it('a refund that our own limit held back is requested with the next check', async () => {
  await books.bookCheck(payer, { netMinor: 2n * CHARGE_MINOR });
  let slots = 0;
  // The search has its turns, and the request has none.
  await pass({ takeSlot: () => Promise.resolve((slots += 1) <= 2) });
  expect(askedUnder()).toEqual([]);
  await pass();
  expect(askedUnder()).toHaveLength(1);
});

it('a refund is requested under a new key only if the gateway lists it as failed, and is found again', async () => {
  const { refund_key: key } = await open();
  await saveRefundState(books.world, await open(), {
    status: 'STUCK',
    refundId: '1',
    gatewayStatus: 'failed',
  });
  listed = [row('failed', key, 1)];
  await books.world.transaction().execute(async (trx) => tryRefundAgain(trx, await open()));
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toEqual([`${key}-2`]);
  listed = [row('failed', key, 1), row('processing', `${key}-2`, 2)];
  await pass();
  listed = [row('failed', key, 1), row('processed', `${key}-2`, 2)];
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
  await saveRefundState(books.world, await open(), {
    status: 'STUCK',
    refundId: null,
    gatewayStatus: 'reversed',
  });
  await books.world.transaction().execute(async (trx) => tryRefundAgain(trx, await open()));
  listed = [row('processing', key, 1)];
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(askedUnder()).toEqual([]);
});

it('what was known of an attempt is not written over the next one', async () => {
  const before = await open();
  await saveRefundState(books.world, before, { status: 'STUCK', refundId: '1', gatewayStatus: 'failed' });
  await books.world.transaction().execute(async (trx) => tryRefundAgain(trx, await open()));
  await saveRefundState(books.world, before, { status: 'STUCK', refundId: '1', gatewayStatus: 'failed' });
  expect(await open()).toMatchObject({ status: 'DUE', attempt: 2, gateway_refund_id: null });
});

it('a refusal after a request whose answer was lost proves nothing: nothing is credited, and no bank is said to have the money', async () => {
  answersRefund = false;
  await pass();
  await pastRefund(books.owner, await open(), 35_001);
  refusal = no('Transaction has been fully reversed', { code: 'transaction_reversed' });
  expect(await pass()).toMatchObject({ state: 'waiting' });
  expect(await open()).toMatchObject({ status: 'ASKED' });
  expect(await books.balance(payer)).toBe(0n);
  await pastRefund(books.owner, await open(), 3_600_001);
  expect(await pass()).toMatchObject({ attention: 'REFUND_STUCK' });
});

it('the first request that is refused is credited to the wallet', async () => {
  refusal = no('Refunds are not enabled', { code: 'invalid_params', type: 'validation_error' });
  await pass();
  expect([
    await books.balance(payer),
    (await findOpenRefunds(books.world, payer.transactionId)).length,
  ]).toEqual([PRICE_MINOR, 0]);
});

it('what became of an attempt ends only that attempt', async () => {
  const before = await open();
  await saveRefundState(books.world, before, { status: 'STUCK', refundId: '1', gatewayStatus: 'failed' });
  await books.world.transaction().execute(async (trx) => tryRefundAgain(trx, await open()));
  expect(await creditRefund(books.world, before, await books.payment(payer))).toBe(false);
  expect(await open()).toMatchObject({ status: 'DUE', attempt: 2 });
});
