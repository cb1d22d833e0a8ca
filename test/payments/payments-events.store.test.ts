/**
 * The gateway's events as rows: stored once per body, applied once; disputes and rejected transfers take
 * effect once.
 */
import { createHash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { recordReturnedTransfer } from '../../src/payments/store/disputes.ts';
import {
  createEventWriter,
  findUnappliedEvents,
  markEventApplied,
  type InboxEvent,
} from '../../src/payments/store/gateway-events.ts';
import { beginRefund, closeRefundDone } from '../../src/payments/store/refunds.ts';
import { transfer } from '../../src/ledger/store/ledger.ts';
import { refusalOf } from '../support/world/books.ts';
import { CHARGE_MINOR, paid, usePaymentBooks, type Payer } from './payments.support.ts';

const books = usePaymentBooks();

const event = (body: string, given: Partial<InboxEvent> = {}): InboxEvent => ({
  gateway: 'paystack',
  event_key: createHash('sha256').update(body).digest('hex'),
  type: 'charge.success',
  about: 'charge',
  reference: 'txn-1',
  email: null,
  ...given,
});

describe('the inbox', () => {
  let keepEvent: ReturnType<typeof createEventWriter>;
  beforeAll(() => {
    keepEvent = createEventWriter(books.world);
  });

  it('stores the same bytes once, however many callers bring them at once, to one process or to several', async () => {
    const body = randomUUID();
    const others = createEventWriter(books.world);
    const bringing = Array.from({ length: 8 }, (_, nth) => (nth % 2 === 0 ? keepEvent : others)(event(body)));
    const kept = await Promise.all(bringing);
    expect(kept.filter((id) => id !== undefined)).toHaveLength(1);
    expect(await keepEvent(event(body))).toBe(undefined);
    expect(await keepEvent(event(body, { gateway: 'another' }))).toBeDefined();
    expect(await keepEvent(event(`${body} `))).toBeDefined();
  });

  it('groups concurrent events into shared commits, and gives each its own row', async () => {
    const bodies = Array.from({ length: 300 }, () => randomUUID());
    const ids = await Promise.all(bodies.map((body) => keepEvent(event(body, { reference: body }))));
    const { rows } = await sql<{ id: string; reference: string; transaction: string }>`
      select id::text, reference, xmin::text as transaction from gateway_events where reference = any(${bodies})`.execute(
      books.owner,
    );
    expect(new Map(rows.map((row) => [row.reference, row.id]))).toEqual(
      new Map(bodies.map((body, nth) => [body, String(ids[nth])])),
    );
    // The first goes alone, the others while it is being stored.
    expect(new Set(rows.map((row) => row.transaction)).size).toBe(2);
  });

  it('refuses every event of a failed shared commit, and stores those after it', async () => {
    const [first, second] = [event(randomUUID()), event(randomUUID())];
    const cannotBeStored = event(randomUUID(), { reference: 'a\0b' });
    const ended = await Promise.allSettled([first, cannotBeStored, second].map((each) => keepEvent(each)));
    expect(ended.map((end) => end.status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await keepEvent(second)).toBeDefined();
    expect(await keepEvent(first)).toBe(undefined);
  });

  it('lists unapplied events, oldest first, and each is applied once', async () => {
    const ids: bigint[] = [];
    for (let count = 0; count < 4; count += 1) ids.push((await keepEvent(event(randomUUID())))!);
    const left = async () =>
      (await findUnappliedEvents(books.world, { afterId: 0n, limit: 1_000 }))
        .map((row) => row.id)
        .filter((id) => ids.includes(id));
    expect(await left()).toEqual(ids);
    await markEventApplied(books.world, ids[1]!, 'checked');
    expect(await left()).toEqual([ids[0], ids[2], ids[3]]);
    const [first] = await read(ids[1]!);
    await markEventApplied(books.world, ids[1]!, 'again');
    expect(await read(ids[1]!)).toEqual([first]);
    expect(await findUnappliedEvents(books.world, { afterId: ids[2]!, limit: 1 })).toMatchObject([
      { id: ids[3] },
    ]);
  });
});

/** For so much of the charge. */
const ask = (amountMinor: bigint) => ({ amount: { amountMinor, currency: 'NGN' } });

describe('a dispute', () => {
  it('moves earned money to money at risk and raises an alert, once', async () => {
    const payer = await books.deliveredPayer();
    await Promise.all(Array.from({ length: 6 }, () => books.dispute(payer)));
    expect(await disputed(payer)).toEqual(['disputed: revenue:USD -1250, suspense:USD 1250']);
    expect(await books.payment(payer)).toMatchObject({ used_minor: 0n, disputed_minor: CHARGE_MINOR });
    expect(await books.status(payer)).toBe('SUCCESS');
    expect((await books.timeline(payer)).filter((what) => what === 'payment-disputed')).toHaveLength(1);
    expect(await books.attention(payer)).toBe('PAYMENT_DISPUTED');
  });

  it('of money that is held takes what is free, so that nothing is settled or sent back', async () => {
    const payer = await books.paidPayer();
    await books.dispute(payer);
    expect(await disputed(payer)).toEqual([]);
    expect(await books.payment(payer)).toMatchObject({ free_minor: 0n, disputed_minor: CHARGE_MINOR });
    await expect(books.settle(payer)).rejects.toThrow('should be POSTED');
    await books.giveUp(payer);
    expect(await books.refunds(payer)).toEqual([]);
  });

  it('of money that was held, won after the purchase was given up, is sent back then', async () => {
    const payer = await books.paidPayer();
    await books.dispute(payer, ask(500_000n));
    await books.giveUp(payer);
    const amounts = async () => (await books.refunds(payer)).map((refund) => refund.amount_minor);
    expect(await amounts()).toEqual([1_500_000n]);
    await books.release(payer);
    expect(await amounts()).toEqual([1_500_000n, 500_000n]);
  });

  it('of money that waits to go back keeps the refund from being sent, until it is won', async () => {
    const { payer, refund } = await books.refundedPayer();
    await books.dispute(payer);
    expect(await beginRefund(books.world, refund)).toBeUndefined();
    await books.release(payer);
    expect(await beginRefund(books.world, refund)).toBeDefined();
  });

  it('of a part of it lets the refund go for which the gateway has enough', async () => {
    const { payer, refund } = await books.refundedPayer(paid(2n * CHARGE_MINOR));
    await books.dispute(payer, ask(CHARGE_MINOR));
    expect(await beginRefund(books.world, refund)).toBeDefined();
  });

  it('that is lost ends a refund that was not sent: the buyer has the money', async () => {
    const { payer } = await books.refundedPayer();
    await books.dispute(payer);
    await books.dispute(payer, { state: 'lost' });
    expect(await books.refunds(payer)).toEqual([]);
    expect(await books.payment(payer)).toMatchObject({ refunding_minor: 0n, reversed_minor: CHARGE_MINOR });
  });

  it('of a part that is lost shortens a refund that was not sent', async () => {
    const { payer } = await books.refundedPayer();
    const part = ask(500_000n);
    await books.dispute(payer, part);
    await books.dispute(payer, { ...part, state: 'lost' });
    expect(await books.refunds(payer)).toMatchObject([{ amount_minor: 1_500_000n }]);
    expect(await books.payment(payer)).toMatchObject({
      refunding_minor: 1_500_000n,
      reversed_minor: 500_000n,
    });
  });

  it.each([
    ['short', 1_600_000n, 'disputed: wallet -1000, suspense:USD 1000'],
    ['over', 2_160_000n, 'disputed: wallet -100, suspense:USD 100'],
  ])('of a payment that came %s: puts at risk what the wallet got, too', async (_how, netMinor, line) => {
    const payer = await books.paidPayer(paid(netMinor));
    await books.dispute(payer);
    expect(await disputed(payer)).toEqual([line]);
    expect(await books.payment(payer)).toMatchObject({ disputed_minor: netMinor, free_minor: 0n });
    expect(await books.balance(payer)).toBe(0n);
  });

  it('of a part of a delivered purchase puts that part at risk', async () => {
    const payer = await books.deliveredPayer();
    await books.dispute(payer, ask(800_000n));
    expect(await disputed(payer)).toEqual(['disputed: revenue:USD -500, suspense:USD 500']);
  });

  it('of a funding freezes the wallet, and once it is lost what was spent is owed', async () => {
    const payer = await books.fundedPayer();
    await spend(payer, 1_000n);
    await books.dispute(payer);
    expect(await disputed(payer)).toEqual(['disputed: wallet -250, suspense:USD 250']);
    await books.dispute(payer, { state: 'lost' });
    expect(await owed(payer)).toEqual({ balance_minor: 0n, owed_minor: 1_000n });
    await books.paidPayer({}, { purpose: 'funding', accountId: payer.accountId });
    expect(await owed(payer)).toEqual({ balance_minor: 250n, owed_minor: 0n });
  });

  it('that is lost, after which the gateway says that the money is reversed, is booked once', async () => {
    const charge = { gateway: 'paystack', amountMinor: '1250', currency: 'USD', rateIds: [] };
    const payer = await books.deliveredPayer(paid(1_250n, 'USD'), { charge });
    await books.dispute(payer);
    await books.dispute(payer, { state: 'lost' });
    await books.bookCheck(payer, { state: 'reversed', currency: 'USD', netMinor: 1_250n });
    expect((await books.entries(payer)).slice(-2)).toEqual([
      'disputed: revenue:USD -1250, suspense:USD 1250',
      'payment-reversed: gateway-clearing:paystack:USD 1250, suspense:USD -1250',
    ]);
  });

  it('of which there are two, beside money that came again: the wallet pays once, and the rest is owed', async () => {
    const payer = await books.fundedPayer();
    await spend(payer, 1_000n);
    const part = ask(800_000n);
    for (const disputeId of ['1', '2']) await books.dispute(payer, { ...part, disputeId });
    await books.paidPayer(paid(320_000n), { purpose: 'funding', accountId: payer.accountId });
    await books.bookCheck(payer, { state: 'reversed' });
    expect(await owed(payer)).toEqual({ balance_minor: 0n, owed_minor: 800n });
  });

  it('an older answer about it changes nothing', async () => {
    const payer = await books.paidPayer();
    const older = await books.checkNumber();
    await books.dispute(payer, { state: 'won' });
    await books.dispute(payer, { state: 'lost' }, older);
    expect(await books.payment(payer)).toMatchObject({ reversed_minor: 0n });
  });

  it('about a payment without money, or fully refunded, changes nothing', async () => {
    const unpaid = await books.payer();
    await books.dispute(unpaid);
    const { payer: refunded, refund } = await books.refundedPayer();
    await closeRefundDone(books.world, refund, { refundId: '1', gatewayStatus: 'processed' });
    await books.dispute(refunded);
    for (const payer of [unpaid, refunded]) {
      expect(await disputed(payer)).toEqual([]);
      expect(await books.attention(payer)).toBe(null);
    }
  });
});

describe('the database refuses', () => {
  it.each([
    ['money that has another owner already', 'used_minor = used_minor + 1', 'payment_gives_what_it_has'],
    [
      'more to be sent back than came',
      'refunded_minor = 1, vouched_minor = 1, received_minor = 0, used_minor = 0',
      'payment_returns_what_came',
    ],
  ])('%s', async (_what, set, constraint) => {
    const payer = await books.deliveredPayer();
    const statement = sql.raw(`update payments set ${set} where reference = '${payer.reference}'`);
    expect(await refusalOf(statement.execute(books.world))).toBe(constraint);
  });

  it('less owed than nothing', async () => {
    const payer = await books.fundedPayer();
    const statement = sql`update wallets set owed_minor = -1 where account_id = ${payer.accountId}`;
    expect(await refusalOf(statement.execute(books.owner))).toBe('wallet_never_owes_less_than_nothing');
  });
});

describe('a transfer that the bank sent back', () => {
  it('notifies every purchase of that address that waits for a transfer, once per event', async () => {
    const email = `${randomUUID()}@test.example`;
    const accountId = await books.account({ email });
    const [waiting, second] = [
      await books.payer({ accountId, method: 'BANK_TRANSFER' }),
      await books.payer({ accountId, method: 'BANK_TRANSFER' }),
    ];
    const others = [
      await books.payer({ accountId, method: 'CARD' }),
      await books.payer({ method: 'BANK_TRANSFER' }),
      await books.payer({ accountId, method: 'BANK_TRANSFER' }),
    ];
    await books.bookCheck(others[2]!);
    const before = await Promise.all(others.map((payer) => books.timeline(payer)));
    const counts = await Promise.all(
      Array.from({ length: 5 }, () => recordReturnedTransfer(books.world, email, 'event-1')),
    );
    expect(new Set(counts)).toEqual(new Set([2]));
    for (const payer of [waiting, second])
      expect(await books.timeline(payer)).toEqual(['opened', 'transfer-returned-by-the-bank']);
    expect(await Promise.all(others.map((payer) => books.timeline(payer)))).toEqual(before);
    await recordReturnedTransfer(books.world, email, 'event-2');
    expect(await books.timeline(waiting)).toHaveLength(3);
  });

  it('notifies no purchase without a known address', async () => {
    expect(await recordReturnedTransfer(books.world, null, 'event-1')).toBe(0);
    expect(await recordReturnedTransfer(books.world, 'unknown@test.example', 'event-1')).toBe(0);
  });
});

const read = (id: bigint) =>
  books.world.selectFrom('gateway_events').selectAll().where('id', '=', id).execute();

async function disputed(payer: Payer): Promise<string[]> {
  return (await books.entries(payer)).filter((line) => line.startsWith('disputed'));
}

/** Takes money out of the wallet, as a purchase does. */
async function spend({ accountId }: Payer, amountMinor: bigint): Promise<void> {
  await transfer(books.world, {
    operationKey: `spent-${accountId}`,
    kind: 'test',
    entries: [
      { account: `wallet:${accountId}`, currency: 'USD', amountMinor: -amountMinor },
      { account: 'funding:USD', currency: 'USD', amountMinor },
    ],
  });
}

const owed = ({ accountId }: Payer) =>
  books.world
    .selectFrom('wallets')
    .select(['balance_minor', 'owed_minor'])
    .where('account_id', '=', accountId)
    .executeTakeFirst();
