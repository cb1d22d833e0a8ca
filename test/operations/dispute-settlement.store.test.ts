// A person settles disputes and reversals, step by step: what is offered, what is booked, whether the payment
// still needs attention, and what waits.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { readWaiting } from '../../src/reconciliation/books.ts';
import type { ActionInput } from '../../src/operations/actions.ts';
import { stuckLimits } from '../../src/operations/stuck-rules.ts';
import { saveInstructions, nextPaymentAttempt } from '../../src/payments/store/payments.ts';
import { findPurchase } from '../../src/purchases/store/reads.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { transfer } from '../../src/ledger/store/ledger.ts';
import { listActions } from '../../src/operations/store/actions.ts';
import { settleDispute } from '../../src/operations/store/dispute-settlement.ts';
import { findStuckRows } from '../../src/operations/store/stuck.ts';
import { findActionSubject } from '../../src/operations/store/subject.ts';
import type { ActionRow } from '../../src/operations/store/tables.ts';
import { databaseActions } from '../support/world/database-engine.ts';
import { failPurchase } from '../support/money/give-back.ts';
import {
  CHARGE_MINOR,
  NOW,
  paid,
  PRICE_MINOR,
  usePaymentBooks,
  type Payer,
} from '../payments/payments.support.ts';

const books = usePaymentBooks();

/** Without a check at the gateway: the test sets what that has seen. */
const settle = ({ transactionId }: Payer, outcome: 'won' | 'lost', more: Partial<ActionInput> = {}) =>
  databaseActions(books.world, NOW).perform({
    transactionId,
    action: 'settle-dispute',
    by: 'ada',
    reason: 'a test of disputes',
    evidence: 'https://tickets.test.example/4711',
    outcome,
    ...more,
  });

/** Paid and delivered. */
async function delivered(): Promise<Payer> {
  const payer = await books.payer();
  await books.bookCheck(payer);
  await settlePurchase(books.world, payer.transactionId);
  return payer;
}

/** Another payment of the same purchase, paid as well. */
async function paidTwice(payer: Payer): Promise<Payer> {
  const { reference } = await nextPaymentAttempt(books.world, await books.payment(payer));
  const page = { kind: 'redirect', paymentUrl: 'https://checkout.example.com/2' } as const;
  await saveInstructions(books.world, reference, page);
  const second = { ...payer, reference };
  await books.bookCheck(second);
  return second;
}

const disputed = (payer: Payer, state: 'open' | 'won' | 'lost', disputeId = '17') =>
  books.dispute(payer, { disputeId, state, gatewayStatus: state });

const reversed = (payer: Payer) => books.bookCheck(payer, { state: 'reversed', netMinor: 0n });

const attentionOf = async ({ transactionId }: Payer) =>
  (await findPurchase(books.world, transactionId))?.purchase.attention_reason;

/** Its amount in suspense, by currency. */
async function suspenseOf({ transactionId }: Payer): Promise<Partial<Record<string, bigint>>> {
  const rows = await books.world
    .selectFrom('ledger_transactions as t')
    .innerJoin('ledger_entries as e', 'e.ledger_transaction_id', 't.id')
    .select(['e.currency', sql<bigint>`sum(e.amount_minor)::int8`.as('total')])
    .where('t.transaction_id', '=', transactionId)
    .where('e.ledger_account_id', 'like', 'suspense:%')
    .groupBy('e.currency')
    .execute();
  const lying = rows.filter(({ total }) => total !== 0n);
  return Object.fromEntries(lying.map(({ currency, total }) => [currency, total]));
}

/** The waiting disputes and reversals, except those from before. */
async function disputesThatWait(): Promise<string[]> {
  const { lines } = await readWaiting({ db: books.world });
  return lines
    .filter(({ waitsFor }) => waitsFor === 'dispute' || waitsFor === 'reversal')
    .map(({ waitsFor, currency, amountMinor }) => `${waitsFor} ${currency} ${amountMinor}`);
}

it('a dispute lost at the gateway is our loss once a person has settled it, and the same request again says so', async () => {
  const before = await disputesThatWait();
  const payer = await delivered();
  await disputed(payer, 'lost');
  expect(await settle(payer, 'lost')).toMatchObject({ did: 'Dispute lost: our loss is NGN 20000.00' });
  expect(await settle(payer, 'lost')).toMatchObject({ outcome: 'done', again: true });
  await reversed(payer);
  expect(await attentionOf(payer)).toBeNull();
  expect(await suspenseOf(payer)).toEqual({});
  expect(await disputesThatWait()).toEqual(before);
});

it('money taken back waits since it was taken, not since money of the same purchase lay in suspense', async () => {
  const payer = await delivered();
  const { transactionId } = payer;
  for (const amountMinor of [100n, -100n])
    await books.world.transaction().execute((trx) =>
      transfer(trx, {
        ...{ operationKey: `${transactionId} ${amountMinor}`, kind: 'reversal-settled', transactionId },
        reason: 'lay in suspense before',
        entries: [
          { account: 'suspense:NGN', currency: 'NGN', amountMinor },
          { account: 'revenue:NGN', currency: 'NGN', amountMinor: -amountMinor },
        ],
      }),
    );
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(books.owner);
  await reversed(payer);
  const { lines } = await readWaiting({ db: books.world });
  const waiting = lines.filter(({ waitsFor }) => waitsFor === 'reversal');
  expect(waiting).toMatchObject([{ currency: 'NGN', items: 1 }]);
  expect(waiting[0]?.oldestAt.getTime()).toBeGreaterThanOrEqual(rows[0]?.now.getTime() ?? Infinity);
  await settle(payer, 'lost');
});

it('a dispute that the gateway leaves open is booked as lost on a person’s word, and what the gateway says later is no second loss', async () => {
  const payer = await delivered();
  await disputed(payer, 'open');
  const stated = { overrides: true, disputeId: '17' };
  expect(await settle(payer, 'lost')).toMatchObject({ code: 'DISPUTE_OPEN' });
  const asked = await settle(payer, 'lost', stated);
  expect(asked).toMatchObject({ outcome: 'waits-for-approval' });
});

it('a dispute lost before the delivery is no loss of revenue: ending the purchase settles it', async () => {
  const payer = await books.payer();
  await books.bookCheck(payer);
  await disputed(payer, 'lost');
  const action = { id: 'move-1', reason: 'a test', asked: JSON.stringify({ outcome: 'lost' }) } as ActionRow;
  const ended = await books.world.transaction().execute(async (trx) => {
    const subject = await findActionSubject(trx, payer.transactionId, true);
    return settleDispute(trx, action, subject!, NOW);
  });
  expect(ended).toEqual({ did: 'Dispute lost: our loss is nothing' });
  expect(await suspenseOf(payer)).toEqual({ NGN: -CHARGE_MINOR });
  expect(await attentionOf(payer)).toBe('PAYMENT_REVERSED');
  await failPurchase(books.world, payer.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
  expect(await suspenseOf(payer)).toEqual({});
});

it('money taken back without a dispute is our loss once a person has settled it', async () => {
  const payer = await delivered();
  await reversed(payer);
  expect(await attentionOf(payer)).toBe('PAYMENT_REVERSED');
  expect(await suspenseOf(payer)).toEqual({ NGN: -CHARGE_MINOR });
  expect(await settle(payer, 'lost')).toMatchObject({ did: 'Reversal lost: our loss is NGN 20000.00' });
  expect(await attentionOf(payer)).toBeNull();
  expect(await suspenseOf(payer)).toEqual({});
});

it('a dispute won for one payment leaves what the bank took of another, which the wallet had got, to the wallet', async () => {
  const payer = await delivered();
  const second = await paidTwice(payer);
  await disputed(payer, 'won');
  await reversed(second);
  expect(await books.balance(payer)).toBe(0n);
  expect(await settle(payer, 'won')).toMatchObject({ did: 'Dispute won: the money is ours again' });
  expect(await attentionOf(payer)).toBeNull();
  expect(await suspenseOf(payer)).toEqual({});
});

it('of two disputes each is settled once, and a repeat says so', async () => {
  const payer = await delivered();
  const second = await paidTwice(payer);
  await disputed(payer, 'won', '17');
  await disputed(second, 'won', '18');
  for (const disputeId of ['17', '18']) {
    expect(await settle(payer, 'won', { disputeId })).not.toHaveProperty('again');
    expect(await settle(payer, 'won', { disputeId })).toMatchObject({ outcome: 'done', again: true });
  }
  expect(await attentionOf(payer)).toBeNull();
  expect(await suspenseOf(payer)).toEqual({});
});

const stuckOf = async ({ transactionId }: Payer, now = NOW) => {
  const limits = stuckLimits({ attentionAfterMs: 1, openChargeForMs: 1 });
  const rows = await findStuckRows(books.world, { now, limits, limit: 1_000 });
  return rows.filter((row) => row.transaction_id === transactionId);
};

it('what a person marked as paid is listed after hours, or at once with what the gateway does not report', async () => {
  const markPaid = async () => {
    const payer = await books.payer({ purpose: 'funding' });
    const { transactionId } = payer;
    const who = { by: 'ada', reason: 'a test', evidence: 'https://tickets.test.example/4711' };
    await databaseActions(books.world, NOW).perform({ transactionId, action: 'mark-paid', ...who });
    return payer;
  };
  const unconfirmed = async (payer: Payer, now?: Date) =>
    (await stuckOf(payer, now)).filter(({ source }) => source === 'unconfirmed');
  const silent = await markPaid();
  expect(await unconfirmed(silent, new Date())).toEqual([]);
  const later = new Date(Date.now() + 4 * 3_600_000);
  expect(await unconfirmed(silent, later)).toMatchObject([{ amount_minor: CHARGE_MINOR }]);
  const short = await markPaid();
  await books.bookCheck(short, paid(CHARGE_MINOR - 500n));
  expect(await unconfirmed(short)).toMatchObject([{ amount_minor: 500n, reason: 'LESS_REPORTED' }]);
  const whole = await markPaid();
  await books.bookCheck(whole);
  expect(await unconfirmed(whole, later)).toEqual([]);
});

it('a dispute of a part is listed, previewed and counted with that part', async () => {
  const payer = await delivered();
  const part = { amountMinor: CHARGE_MINOR / 4n, currency: 'NGN' };
  await books.dispute(payer, { disputeId: '17', amount: part });
  expect((await stuckOf(payer))[0]).toMatchObject({ amount_minor: part.amountMinor, currency: 'NGN' });
  await settle(payer, 'lost', { overrides: true });
  const [action] = await listActions(books.world, payer.transactionId);
  expect(action).toMatchObject({ amount_minor: part.amountMinor, currency: 'NGN' });
  expect(action?.worth_minor).toBe(PRICE_MINOR / 4n + (PRICE_MINOR % 4n >= 2n ? 1n : 0n));
});
