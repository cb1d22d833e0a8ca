/**
 * Concurrent checks of one payment, and with whatever else changes its purchase: exactly one wins, and none
 * waits forever.
 */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { findPayments, nextPaymentAttempt, closeFundingUnpaid } from '../../src/payments/store/payments.ts';
import { closeUnpaid } from '../../src/purchases/store/purchases.ts';
import { HoldConflict } from '../../src/ledger/store/holds.ts';
import { ensureWallet } from '../../src/ledger/store/ledger.ts';
import { lockPayment } from '../../src/payments/store/lock-order.ts';
import { untilStatementWaits } from '../support/world/books.ts';
import { createRandom, withSeed } from '../support/time/size.ts';
import { CHARGE_MINOR, paid, PRICE_MINOR, usePaymentBooks, type Payer } from './payments.support.ts';

const books = usePaymentBooks();
const CONCURRENCY = 8;
const ROUNDS = 40;

const together = <T>(act: (loop: number) => Promise<T>, loops = CONCURRENCY): Promise<T[]> =>
  Promise.all(Array.from({ length: loops }, (_, loop) => act(loop)));

const close = ({ transactionId }: Payer) => closeUnpaid(books.world, transactionId, 'PAYMENT_EXPIRED');

describe('eight checks at once', () => {
  it.each([
    ['as asked', CHARGE_MINOR, 'PROCESSING', 0n],
    ['short', 1_600_000n, 'FAILED, PAYMENT_UNDERPAID', 1_000n],
    ['over', CHARGE_MINOR + 160_000n, 'PROCESSING', 100n],
  ])('of a payment paid %s book it once', async (_how, netMinor, status, walletMinor) => {
    for (let round = 0; round < 5; round += 1) {
      const payer = await books.payer();
      const judged = await together(() => books.bookCheck(payer, paid(netMinor)));
      expect(judged.filter((one) => one.what !== undefined)).toHaveLength(1);
      expect(await books.status(payer)).toBe(status);
      expect(await books.balance(payer)).toBe(walletMinor);
    }
  });

  it('that saw different moments book all that came, once', async () => {
    await withSeed(async (seed) => {
      const random = createRandom(seed);
      for (let round = 0; round < 5; round += 1) {
        const payer = await books.payer();
        await together(() => books.bookCheck(payer, paid(BigInt(1 + random.below(3)) * CHARGE_MINOR)));
        await books.bookCheck(payer, paid(3n * CHARGE_MINOR));
        expect(await books.balance(payer)).toBe(2n * PRICE_MINOR);
        expect((await books.payment(payer)).received_minor).toBe(3n * CHARGE_MINOR);
      }
    });
  });

  it('whose answers come in the wrong order: the older one books nothing', async () => {
    const payer = await books.payer();
    await close(payer);
    const [older, newer] = [await books.checkNumber(), await books.checkNumber()];
    // Asked while the money was there, answered after a later check had booked that it came and went.
    await books.bookCheck(payer, { ...paid(), state: 'reversed' }, newer);
    expect(await books.bookCheck(payer, paid(), older)).toMatchObject({ isOutdated: true });
    expect(await books.balance(payer)).toBe(0n);
    expect((await books.payment(payer)).check_number).toBe(newer);
  });

  it('of two paid attempts book one as payment, the other to the wallet', async () => {
    for (let round = 0; round < 5; round += 1) {
      const payer = await books.payer();
      const next = await nextPaymentAttempt(books.world, await books.payment(payer));
      const second = { ...payer, reference: next.reference };
      await together((loop) => books.bookCheck(loop % 2 === 0 ? payer : second));
      const tries = await findPayments(books.world, payer.transactionId);
      expect(tries.filter((one) => one.paid_hold)).toHaveLength(1);
      expect(await books.balance(payer)).toBe(PRICE_MINOR);
    }
  });

  it('of a reversed payment book one reversal', async () => {
    const payer = await books.paidPayer();
    const judged = await together(() => books.bookCheck(payer, { state: 'reversed' }));
    expect(judged.filter((one) => one.reversedMinor > 0n)).toHaveLength(1);
  });
});

describe('closing as unpaid and paying at the same moment', () => {
  /** The expected state in either order: both agree on the winner. */
  async function expectOneWinner(payer: Payer, closed: 'closed' | 'paid'): Promise<void> {
    const isPaid = closed === 'paid';
    expect(await books.status(payer)).toBe(isPaid ? 'PROCESSING' : 'FAILED, PAYMENT_EXPIRED');
    expect(await books.balance(payer)).toBe(isPaid ? 0n : PRICE_MINOR);
    expect((await books.payment(payer)).paid_hold).toBe(isPaid);
    expect((await books.timeline(payer)).slice(1)).toEqual(
      isPaid ? ['payment-received'] : ['failed', 'payment-received-late'],
    );
  }

  it.each(['paid', 'closed'] as const)('ends %s when the other waits for its lock', async (first) => {
    const payer = await books.payer();
    const locked = await lock(payer);
    const starts = [() => books.bookCheck(payer), () => close(payer)];
    const running: Promise<unknown>[] = [];
    for (const [nth, start] of (first === 'paid' ? starts : starts.toReversed()).entries()) {
      running.push(start());
      await untilStatementWaits(books.owner, nth + 1);
    }
    await locked.letGo();
    const ended = await Promise.all(running);
    expect(ended).toContain(first);
    await expectOneWinner(payer, first);
  });

  it(`has exactly one winner in ${ROUNDS} rounds with four more checks`, async () => {
    const won = { closed: 0, paid: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const payer = await books.payer();
      const [first, ...others] = [
        () => close(payer),
        ...Array.from({ length: 4 }, () => () => books.bookCheck(payer)),
      ];
      const started = round % 2 === 0 ? [first, ...others] : [...others, first];
      const ended = await Promise.all(started.map((start) => start()));
      const closed = ended.find((end) => end === 'closed' || end === 'paid') as 'closed' | 'paid';
      won[closed] += 1;
      await expectOneWinner(payer, closed);
    }
    expect(won.closed + won.paid).toBe(ROUNDS);
  });

  it('has one winner for a funded wallet too', async () => {
    for (let round = 0; round < 10; round += 1) {
      const payer = await books.payer({ purpose: 'funding' });
      const [closed] = await Promise.all([
        closeFundingUnpaid(books.world, payer.transactionId, 'PAYMENT_EXPIRED'),
        books.bookCheck(payer),
      ]);
      expect(await books.status(payer)).toBe(closed === 'paid' ? 'SUCCESS' : 'FAILED, PAYMENT_EXPIRED');
      expect(await books.balance(payer)).toBe(PRICE_MINOR);
    }
  });
});

it('settling while the money is being booked waits for it, and uses it', async () => {
  const payer = await books.payer();
  await ensureWallet(books.world, payer.accountId, 'USD');
  // The booking has changed payment and purchase, and needs the wallet for its hold.
  const wallet = await books.owner.startTransaction().execute();
  await sql`select from wallets where account_id = ${payer.accountId} for update`.execute(wallet);
  const booking = books.bookCheck(payer);
  await untilStatementWaits(books.owner);
  const settling = books.settle(payer);
  await untilStatementWaits(books.owner, 2);
  await wallet.rollback().execute();
  await booking;
  expect(await settling).toEqual({ isFirst: true, isMoneyOpen: false });
  expect(await books.payment(payer)).toMatchObject({ used_minor: CHARGE_MINOR, free_minor: 0n });
});

it('settling takes nothing from a payment that does not have its charge any more, whatever the purchase says', async () => {
  const payer = await books.paidPayer();
  const setReversed = (minor: bigint) =>
    books.owner
      .updateTable('payments')
      .set({ reversed_minor: minor })
      .where('reference', '=', payer.reference)
      .execute();
  await setReversed(1n);
  await expect(books.settle(payer)).rejects.toThrow(HoldConflict);
  expect(await books.status(payer)).toBe('PROCESSING');
  await setReversed(0n);
});

describe('settling while a dispute is booked', () => {
  it('waits for it, and settles nothing', async () => {
    const payer = await books.paidPayer();
    let disputing: Promise<unknown> = Promise.resolve();
    let settling: Promise<unknown> = Promise.resolve();
    await books.world.transaction().execute(async (trx) => {
      await lockPayment(trx, payer.reference);
      disputing = books.dispute(payer);
      await untilStatementWaits(books.owner);
      settling = books.settle(payer);
      settling.catch(() => undefined);
      await untilStatementWaits(books.owner, 2);
    });
    await disputing;
    await expect(settling).rejects.toThrow(HoldConflict);
    expect(await books.status(payer)).toBe('PROCESSING');
    expect(await books.payment(payer)).toMatchObject({ used_minor: 0n, disputed_minor: CHARGE_MINOR });
  });
});

describe('checking while the purchase is closed', () => {
  it.each(['SUCCESS', 'FAILED'] as const)('succeeds, as does closing, when it ends as %s', async (end) => {
    for (let round = 0; round < 10; round += 1) {
      const payer = await books.paidPayer();
      const closing = end === 'SUCCESS' ? books.settle(payer) : books.giveUp(payer);
      await Promise.all([closing, together(() => books.bookCheck(payer, paid(2n * CHARGE_MINOR)), 6)]);
      expect((await books.status(payer)).split(',')[0]).toBe(end);
      expect(await books.balance(payer)).toBe(PRICE_MINOR);
    }
  });

  it('causes no deadlock when a refund waits for the purchase while a check has the payment', async () => {
    const payer = await books.paidPayer();
    const locked = await lock(payer);
    const failing = books.giveUp(payer);
    await untilStatementWaits(books.owner);
    const checking = books.bookCheck(payer, paid(2n * CHARGE_MINOR));
    await untilStatementWaits(books.owner, 2);
    await locked.letGo();
    await Promise.all([failing, checking]);
    expect(await books.status(payer)).toBe('FAILED, OUT_OF_STOCK');
  });

  it('leads to a refund or a late payment when the purchase is given up while it is being paid', async () => {
    for (let round = 0; round < 10; round += 1) {
      const payer = await books.payer();
      const locked = await lock(payer);
      const paying = books.bookCheck(payer);
      await untilStatementWaits(books.owner);
      const failing = books.giveUp(payer);
      await untilStatementWaits(books.owner, 2);
      await locked.letGo();
      await Promise.all([paying, failing]);
      expect(await books.refunds(payer)).toHaveLength(1);
      expect(await books.balance(payer)).toBe(0n);
    }
  });

  it('returns the money once when it is reversed and refunded at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const payer = await books.paidPayer();
      await Promise.all([books.giveUp(payer), books.bookCheck(payer, { state: 'reversed' })]);
      const due = await books.world
        .selectFrom('refunds')
        .selectAll()
        .where('transaction_id', '=', payer.transactionId)
        .execute();
      const { reversed_minor } = await books.payment(payer);
      expect(due.length === 1).toBe(reversed_minor === 0n);
    }
  });
});

/** The purchase's row, locked by another transaction until it is released. */
async function lock({ transactionId }: Payer) {
  const trx = await books.owner.startTransaction().execute();
  await sql`select from purchases where transaction_id = ${transactionId} for update`.execute(trx);
  return { letGo: () => trx.rollback().execute() };
}
