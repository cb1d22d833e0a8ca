/** The gateway's events as rows: stored once per body, applied once; disputes and rejected transfers take effect once. */
import { createHash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { bookDispute, recordReturnedTransfer } from '../../src/payments/store/disputes.ts';
import {
  createEventWriter,
  findUnappliedEvents,
  markEventApplied,
  type InboxEvent,
} from '../../src/payments/store/gateway-events.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { failPurchase } from '../support/give-back.ts';
import { closeRefundDone, findOpenRefunds } from '../../src/payments/store/refunds.ts';
import { entriesOf } from '../support/payment-books.ts';
import { paid, usePaymentBooks, type Payer } from './payments.support.ts';

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

describe('a dispute', () => {
  it('moves earned money to money at risk and raises an alert, once', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer);
    await settlePurchase(books.world, payer.transactionId);
    const notes = await Promise.all(
      Array.from({ length: 6 }, () => bookDispute(books.world, payer.reference)),
    );
    expect(notes.toSorted()).toEqual([
      'booked as money at risk',
      ...Array.from({ length: 5 }, () => 'booked before'),
    ]);
    expect(await disputed(payer)).toEqual(['disputed: revenue:USD -1250, suspense:USD 1250']);
    expect(await books.status(payer)).toBe('SUCCESS');
    expect((await books.timeline(payer)).at(-1)).toBe('payment-disputed');
    expect(await attention(payer)).toBe('PAYMENT_DISPUTED');
  });

  it.each([
    ['held', 'disputed: gateway-clearing:paystack:NGN -2000000, suspense:NGN 2000000', () => Promise.resolve()],
    [
      'waiting to go back',
      undefined,
      (payer: Payer) =>
        failPurchase(books.world, payer.transactionId, { reason: 'OUT_OF_STOCK', detail: '' }),
    ],
  ])(
    'of money that is %s: takes from the gateway’s balance what it may keep',
    async (_where, line, before) => {
      const payer = await books.payer();
      await books.bookCheck(payer);
      await before(payer);
      await bookDispute(books.world, payer.reference);
      expect((await disputed(payer)).at(0)).toBe(line);
    },
  );

  it.each([
    ['short', 1_600_000n],
    ['over', 2_160_000n],
  ])('of a payment that came %s: puts no more at risk than it brought', async (_how, netMinor) => {
    const payer = await books.payer();
    await books.bookCheck(payer, paid(netMinor));
    await bookDispute(books.world, payer.reference);
    expect(await disputed(payer)).toEqual([
      `disputed: gateway-clearing:paystack:NGN -${netMinor}, suspense:NGN ${netMinor}`,
    ]);
  });

  it('can be about a funded wallet', async () => {
    const payer = await books.payer({ purpose: 'funding' });
    await books.bookCheck(payer);
    await bookDispute(books.world, payer.reference);
    expect(await disputed(payer)).toEqual(['disputed: gateway-clearing:paystack:NGN -2000000, suspense:NGN 2000000']);
  });

  it('that is lost, after which the gateway takes the money, ends the risk', async () => {
    const payer = await books.payer({ charge: { amountMinor: '1250', currency: 'USD', rateIds: [] } });
    await books.bookCheck(payer, paid(1_250n, 'USD'));
    await settlePurchase(books.world, payer.transactionId);
    await bookDispute(books.world, payer.reference);
    await books.bookCheck(payer, { state: 'reversed', currency: 'USD' });
    expect((await entriesOf(books.owner, payer)).slice(-2)).toEqual([
      'disputed: revenue:USD -1250, suspense:USD 1250',
      'payment-reversed: gateway-clearing:paystack:USD 1250, suspense:USD -1250',
    ]);
  });

  it('about a payment without money, or fully refunded, changes nothing', async () => {
    const unpaid = await books.payer();
    expect(await bookDispute(books.world, unpaid.reference)).toBe('nothing of it is here');
    const refunded = await books.payer();
    await books.bookCheck(refunded);
    await failPurchase(books.world, refunded.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
    const [refund] = await findOpenRefunds(books.world, refunded.transactionId);
    await closeRefundDone(books.world, refund!, { refundId: '1', gatewayStatus: 'processed' });
    expect(await bookDispute(books.world, refunded.reference)).toBe('nothing of it is here');
    for (const payer of [unpaid, refunded]) {
      expect(await disputed(payer)).toEqual([]);
      expect(await attention(payer)).toBe(null);
    }
  });
});

describe('a transfer that the bank sent back', () => {
  it('notifies every purchase of that address that waits for a transfer, once per event', async () => {
    const email = `${randomUUID()}@test.example`;
    const accountId = await books.account(email);
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
  return (await entriesOf(books.owner, payer)).filter((line) => line.startsWith('disputed'));
}

async function attention({ transactionId }: Payer): Promise<string | null> {
  const row = await books.world
    .selectFrom('purchases')
    .select('attention_reason')
    .where('transaction_id', '=', transactionId)
    .executeTakeFirstOrThrow();
  return row.attention_reason;
}
