// The step that collects the money: the row decides, the gateway is asked before anything is concluded, and
// silence closes nothing.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Pacer } from '../../src/platform/rate-limiter.ts';
import { no, yes } from '../support/vendors/answering-gateway.ts';
import { json, type Answering } from '../support/vendors/answering-server.ts';
import { chargeAnswer, silentEvents, useAnsweringGateway, type Says } from './answering.support.ts';
import { paid, usePaymentBooks, type Payer } from './payments.support.ts';

const books = usePaymentBooks();
const gateway = useAnsweringGateway(books);

let says: Says;
/** How the gateway answers a new charge. */
let opening: Answering;
let flagged: string[];
beforeEach(() => {
  says = 'waiting';
  flagged = [];
  opening = json(yes({ authorization_url: 'https://checkout.example.com/1', reference: '' }));
  gateway.server.answerWith((response, call) => {
    (call.method === 'POST' ? opening : chargeAnswer(says, call))(response, call);
  });
});

const timings = { slowCheckMs: 77_000, pollFirstMs: 1_000, pollMaxMs: 300_000 };
const purchaseNeedsAttention = ({ reason }: { reason: string }) => void flagged.push(reason);
const collect = (payer: Pick<Payer, 'transactionId' | 'purpose'>, more = {}, pacer?: Pacer) =>
  gateway.collect(
    payer,
    { ...timings, ...more },
    { pacer },
    { events: { ...silentEvents, purchaseNeedsAttention } },
  );
const calls = () => gateway.server.calls;

const expire = ({ transactionId }: Pick<Payer, 'transactionId'>) =>
  sql`update payments set expires_at = clock_timestamp() - interval '1 second' where transaction_id = ${transactionId}`.execute(
    books.owner,
  );

const atAnotherGateway = ({ transactionId }: Pick<Payer, 'transactionId'>) =>
  sql`update payments set gateway = 'another' where transaction_id = ${transactionId}`.execute(books.owner);

/** Written, and not opened at the gateway. */
const unopened = async (): Promise<Payer> =>
  books.payer({ accountId: await books.account({}), isOpen: false });

/** Nothing that was sent is under way any more. */
const settled = ({ reference }: Payer) =>
  sql`update payments set send_before = send_before - interval '36 seconds' where reference = ${reference}`.execute(
    books.owner,
  );

describe.each(['purchase', 'funding'] as const)('a %s that can be paid', (purpose) => {
  it('waits for its money until its time is over', async () => {
    const payer = await books.payer({ purpose });
    const step = await collect(payer);
    expect(step).toMatchObject({ state: 'waiting', reference: payer.reference });
    const waitMs = step.state === 'waiting' ? step.waitMs : 0;
    expect(waitMs).toBeGreaterThan(86_000_000);
    expect(waitMs).toBeLessThanOrEqual(86_400_000);
  });

  it('is closed once a check that began after the end of its time is booked', async () => {
    const payer = await books.payer({ purpose });
    await expire(payer);
    expect(await collect(payer)).toMatchObject({ state: 'failed', reason: 'PAYMENT_EXPIRED' });
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_EXPIRED');
    expect(await collect(payer)).toMatchObject({ state: 'failed', reason: 'PAYMENT_EXPIRED' });
  });

  it('is not closed by a check that began before the end of its time, though it ended after it', async () => {
    const payer = await books.payer({ purpose });
    gateway.server.answerWith((response, call) => {
      void expire(payer).then(() => {
        chargeAnswer(says, call)(response, call);
      });
    });
    expect(await collect(payer)).toMatchObject({ state: 'waiting', waitMs: 1 });
    expect(await books.status(payer)).toBe('PENDING');
  });

  it('is paid although its time is over, when the gateway has the money', async () => {
    const payer = await books.payer({ purpose });
    await expire(payer);
    says = 'paid';
    expect(await collect(payer)).toMatchObject({ state: 'done' });
  });

  it('is not closed while the gateway is silent, and a person is asked once', async () => {
    const payer = await books.payer({ purpose });
    await expire(payer);
    says = 'away';
    const attention = { state: 'waiting', waitMs: 77_000, attention: 'GATEWAY_OUTCOME_UNKNOWN' };
    expect(await collect(payer)).toMatchObject(attention);
    expect(await collect(payer)).toMatchObject(attention);
    expect(await books.status(payer)).toBe('PENDING');
    expect(flagged).toEqual(['GATEWAY_OUTCOME_UNKNOWN']);
  });

  it('is neither asked for at another gateway, nor closed because that one does not have it', async () => {
    const payer = await books.payer({ purpose });
    await atAnotherGateway(payer);
    await expire(payer);
    says = 'none';
    expect(await collect(payer)).toMatchObject({ state: 'waiting' });
    expect(calls()).toEqual([]);
    expect(await books.status(payer)).toBe('PENDING');
  });

  it('is asked about again soon after a check without an answer, not when its time is over', async () => {
    const payer = await books.payer({ purpose });
    says = 'away';
    expect(await collect(payer)).toMatchObject({ state: 'waiting', waitMs: 1_000 });
    expect(flagged).toEqual([]);
  });

  it('is done by its row, without a question to the gateway, when the answer of an earlier step was lost', async () => {
    const payer = await books.paidPayer({}, { purpose });
    expect(await collect(payer)).toEqual({ state: 'done', reference: payer.reference });
    expect(calls()).toEqual([]);
  });

  it.each([
    ['a bank disputes it already', (payer: Payer) => books.dispute(payer)],
    ['a refund is under way', (payer: Payer) => books.bookCheck(payer, paid(5_000n, 'GHS'))],
  ])('says when %s', async (_what, happens) => {
    const payer = await books.paidPayer({}, { purpose });
    await happens(payer);
    expect(await collect(payer)).toMatchObject({ state: 'done', isMoneyOpen: true });
  });
});

describe('a payment that is not opened', () => {
  const page = (reference: string): Answering =>
    json(yes({ authorization_url: 'https://checkout.example.com/1', reference }));

  it('is opened, and can be paid', async () => {
    const payer = await unopened();
    opening = page(payer.reference);
    expect(await collect(payer)).toMatchObject({ state: 'waiting', reference: payer.reference });
    expect(await books.payment(payer)).toMatchObject({
      status: 'OPEN',
      send_before: expect.any(Date) as Date,
    });
  });

  it('is not opened at another gateway than its own', async () => {
    const payer = await unopened();
    await atAnotherGateway(payer);
    expect(await collect(payer)).toMatchObject({ state: 'waiting' });
    expect(calls()).toEqual([]);
  });

  it('that the gateway refuses ends with the reason', async () => {
    const payer = await unopened();
    opening = json(no('Currency not supported by merchant', { code: 'unsupported_currency' }), 400);
    expect(await collect(payer)).toMatchObject({ state: 'failed', reason: 'PAYMENT_NOT_SERVED' });
    expect(await books.status(payer)).toBe('FAILED, PAYMENT_NOT_SERVED');
  });

  it('is tried again while the gateway does not answer; given up, it is closed once no charge can arrive any more', async () => {
    const payer = await unopened();
    opening = json('oh no', 500);
    says = 'none';
    expect(await collect(payer)).toMatchObject({ state: 'waiting', waitMs: 1_000 });
    const over = { openChargeForMs: 0 };
    const before = calls().length;
    const step = await collect(payer, over);
    expect(step).toMatchObject({ state: 'waiting', why: 'until no charge can arrive any more' });
    expect(step.state === 'waiting' && step.waitMs > 30_000 && step.waitMs <= 35_000).toBe(true);
    expect(
      calls()
        .slice(before)
        .map(({ method }) => method),
    ).toEqual(['GET']);
    expect(await books.status(payer)).toBe('PENDING');
    await settled(payer);
    expect(await collect(payer, over)).toMatchObject({ state: 'failed', reason: 'PAYMENT_NOT_OPENED' });
  });

  it('is not closed while the gateway is silent about it', async () => {
    const payer = await unopened();
    opening = json('oh no', 500);
    says = 'away';
    await collect(payer);
    await settled(payer);
    expect(await collect(payer, { openChargeForMs: 0 })).toMatchObject({ state: 'waiting', waitMs: 1_000 });
    expect(await books.status(payer)).toBe('PENDING');
  });

  it('is not closed by silence: money that came meanwhile pays it', async () => {
    const payer = await unopened();
    opening = json('oh no', 500);
    says = 'paid';
    await collect(payer);
    expect(await collect(payer, { openChargeForMs: 0 })).toMatchObject({ state: 'done' });
    expect(await books.status(payer)).toBe('PROCESSING');
  });

  it('is not sent once the time of its row is over', async () => {
    const payer = await unopened();
    const real = performance.now.bind(performance);
    const paused: Pacer = {
      takeSlot: () => {
        vi.spyOn(performance, 'now').mockImplementation(() => real() + 11_000);
        return Promise.resolve(true);
      },
    };
    expect(await collect(payer, {}, paused)).toMatchObject({ state: 'waiting' });
    vi.restoreAllMocks();
    expect(calls()).toEqual([]);
  });
});

it('a payment that was never written down is refused', async () => {
  expect(await collect({ transactionId: 'txn-nothing', purpose: 'purchase' })).toMatchObject({
    state: 'failed',
    reason: 'PAYMENT_NOT_OPENED',
  });
});
