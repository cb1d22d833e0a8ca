// What the bank asks for changes while a dispute is open, or money goes back beside it: each part of the
// payment has one owner all the time, and no check is refused by our own rows.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readSpending } from '../../src/purchases/store/statistics.ts';
import { CHARGE_MINOR, usePaymentBooks, type Payer } from './payments.support.ts';

const books = usePaymentBooks();

const PART = 500_000n;
const REST = CHARGE_MINOR - PART;
const ngn = (amountMinor: bigint) => ({ amountMinor, currency: 'NGN' });
/** Of a charge that is called reversed: others had so much sent back, over the gateway's own pages. */
const sentByOthers = (othersMinor: bigint) =>
  ({ state: 'reversed', gatewayStatus: 'reversed', refunds: { oursMinor: 0n, othersMinor } }) as const;

const { dispute, release, deliveredPayer: delivered, fundedPayer: funded } = books;

/** What of the price is earned, and what lies in suspense, in the price's currency. */
async function bookedOn({ transactionId }: Payer, account: string): Promise<bigint> {
  const { rows } = await sql<{ minor: bigint }>`
    select coalesce(sum(e.amount_minor), 0)::int8 as minor
      from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
     where t.transaction_id = ${transactionId} and e.ledger_account_id = ${account}`.execute(books.world);
  return rows[0]!.minor;
}

/** What the payer's figures call spent. */
async function spentBy({ accountId }: Payer): Promise<bigint> {
  const days = { from: '2000-01-01', to: '2099-12-31' };
  const rows = await readSpending(books.world, { accountId, currency: 'USD' }, days);
  return rows.reduce((sum, { spentMinor }) => sum + spentMinor, 0n);
}

const refundsOf = async (payer: Payer): Promise<bigint[]> =>
  (await books.refunds(payer)).map((refund) => refund.amount_minor);

describe('a dispute that ends for another amount than it was opened for', () => {
  it('takes what the bank took, and the rest is earned again', async () => {
    const payer = await delivered();
    await dispute(payer);
    expect(await books.payment(payer)).toMatchObject({ disputed_minor: CHARGE_MINOR, used_minor: 0n });
    await dispute(payer, { state: 'lost', amount: ngn(PART) });
    expect(await books.payment(payer)).toMatchObject({
      reversed_minor: PART,
      used_minor: REST,
      disputed_minor: 0n,
    });
    expect(await bookedOn(payer, 'revenue:USD')).toBe(938n);
    expect(await bookedOn(payer, 'gateway-clearing:paystack:NGN')).toBe(-REST);
  });

  it('of a funding gives back to the wallet what the bank left', async () => {
    const payer = await funded();
    await dispute(payer, { amount: ngn(CHARGE_MINOR) });
    expect(await books.balance(payer)).toBe(0n);
    await dispute(payer, { state: 'lost', amount: ngn(PART) });
    expect(await books.payment(payer)).toMatchObject({ reversed_minor: PART, credited_minor: REST });
    expect(await books.balance(payer)).toBe(938n);
  });

  it('of a purchase that was given up sends back what the bank left, once', async () => {
    const payer = await books.paidPayer();
    await dispute(payer);
    await books.giveUp(payer);
    expect(await refundsOf(payer)).toEqual([]);
    await dispute(payer, { amount: ngn(PART) });
    await dispute(payer, { amount: ngn(PART) });
    expect(await refundsOf(payer)).toEqual([REST]);
    await release(payer);
    expect(await refundsOf(payer)).toEqual([REST, PART]);
  });

  it('of a purchase in delivery leaves the rest on hold', async () => {
    const payer = await books.paidPayer();
    await dispute(payer);
    await dispute(payer, { amount: ngn(PART) });
    expect(await books.payment(payer)).toMatchObject({ free_minor: REST, disputed_minor: PART });
    expect(await refundsOf(payer)).toEqual([]);
    await release(payer);
    await books.bookCheck(payer);
    expect(await books.payment(payer)).toMatchObject({ free_minor: CHARGE_MINOR, disputed_minor: 0n });
  });

  it('grows: what it asks for beyond that is at risk, too', async () => {
    const payer = await delivered();
    await dispute(payer, { amount: ngn(PART) });
    expect([await bookedOn(payer, 'revenue:USD'), await spentBy(payer)]).toEqual([938n, 938n]);
    await dispute(payer, { amount: ngn(CHARGE_MINOR) });
    expect(await books.payment(payer)).toMatchObject({ disputed_minor: CHARGE_MINOR, used_minor: 0n });
    expect([await bookedOn(payer, 'revenue:USD'), await spentBy(payer)]).toEqual([0n, 0n]);
    await release(payer);
    expect([await bookedOn(payer, 'revenue:USD'), await spentBy(payer)]).toEqual([1_250n, 1_250n]);
  });

  it('whose amount the gateway does not say any more stays as it was', async () => {
    const payer = await delivered();
    await dispute(payer, { amount: ngn(PART) });
    await dispute(payer, { amount: null });
    await dispute(payer, { amount: ngn(0n) });
    expect(await books.payment(payer)).toMatchObject({ disputed_minor: PART, used_minor: REST });
  });
});

it('a dispute in another currency that is lost leaves what is on its way back whole', async () => {
  const payer = await books.paidPayer();
  await books.giveUp(payer);
  const dollars = { amountMinor: PART, currency: 'USD' };
  await dispute(payer, { amount: dollars });
  await dispute(payer, { state: 'lost', amount: dollars });
  expect(await refundsOf(payer)).toEqual([CHARGE_MINOR]);
  expect(await books.payment(payer)).toMatchObject({ reversed_minor: 0n, refunding_minor: CHARGE_MINOR });
});

describe('money that others sent back at the gateway', () => {
  it('of a delivered purchase that is disputed is not at risk any more: it is gone', async () => {
    const payer = await delivered();
    await dispute(payer);
    await books.bookCheck(payer, sentByOthers(PART));
    expect(await books.payment(payer)).toMatchObject({ reversed_minor: PART, disputed_minor: REST });
    await release(payer);
    expect(await books.payment(payer)).toMatchObject({ used_minor: REST, disputed_minor: 0n });
    expect(await bookedOn(payer, 'revenue:USD')).toBe(1_250n);
    expect(await bookedOn(payer, 'suspense:NGN')).toBe(-PART);
  });

  it('of a funding that is disputed is paid by the wallet, once', async () => {
    const payer = await funded();
    await dispute(payer);
    await books.bookCheck(payer, sentByOthers(PART));
    expect(await books.balance(payer)).toBe(0n);
    await release(payer);
    expect(await books.balance(payer)).toBe(937n);
    expect(await books.payment(payer)).toMatchObject({ reversed_minor: PART, credited_minor: REST });
  });

  it('of a purchase whose money is on its way back waits for what becomes of that', async () => {
    const payer = await books.paidPayer();
    await books.giveUp(payer);
    await books.bookCheck(payer, sentByOthers(PART));
    expect(await books.payment(payer)).toMatchObject({ reversed_minor: 0n, refunding_minor: CHARGE_MINOR });
  });
});
