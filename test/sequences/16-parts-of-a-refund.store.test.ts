// Refunds in parts: together they are the whole, in every currency; none is worth nothing, and none is a part
// of what has no parts.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { closeRefundDone, findOpenRefunds } from '../../src/payments/store/refunds.ts';
import { databaseActions } from '../support/world/database-engine.ts';
import { NOW, paid, PRICE_MINOR, usePaymentBooks, type Payer } from '../payments/payments.support.ts';

const books = usePaymentBooks();

let asked = 0;

/** Asks for a part, which the gateway sends at once. */
async function refund({ transactionId }: Payer, amountMinor: bigint, currency: string) {
  const ended = await databaseActions(books.world, NOW).perform({
    transactionId,
    action: 'refund-to-source',
    by: 'ada',
    reason: 'a test of parts',
    goodwill: true,
    amount: { amountMinor, currency },
    actionKey: `part-${(asked += 1)}`,
  });
  for (const open of await findOpenRefunds(books.world, transactionId))
    await closeRefundDone(books.world, open, { refundId: '1', gatewayStatus: 'processed' });
  return ended;
}

/** What was given up of the account's money by each action, in the price's currency. */
async function givenUp({ transactionId }: Payer, account: string): Promise<bigint[]> {
  const { rows } = await sql<{ minor: string }>`
    select (-e.amount_minor)::text as minor from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
     where t.transaction_id = ${transactionId} and t.kind = 'refund-to-source' and e.ledger_account_id like ${account} order by t.id`.execute(
    books.owner,
  );
  return rows.map(({ minor }) => BigInt(minor));
}

async function delivered(amountMinor: bigint, currency: string): Promise<Payer> {
  const payer = await books.payer({
    method: 'MOBILE_MONEY',
    charge: { gateway: 'paystack', amountMinor: String(amountMinor), currency, rateIds: [] },
  });
  await books.bookCheck(payer, paid(amountMinor, currency));
  await books.settle(payer);
  return payer;
}

const sum = (parts: readonly bigint[]): bigint => parts.reduce((total, part) => total + part, 0n);

it.each([
  ['XOF', 760_000n, [253_300n, 253_300n, 253_400n]],
  ['NGN', 2_000_000n, [666_667n, 666_667n, 666_666n]],
  ['GHS', 15_001n, [1n, 7_500n, 7_500n].map((part, nth) => (nth === 0 ? part + 5_000n : part - 2_500n))],
] as const)('parts in %s add up to the whole price', async (currency, charge, parts) => {
  const payer = await delivered(charge, currency);
  expect(sum(parts)).toBe(charge);
  for (const part of parts) expect(await refund(payer, part, currency)).toMatchObject({ outcome: 'done' });
  expect(sum(await givenUp(payer, 'revenue:%'))).toBe(PRICE_MINOR);
  expect(await refund(payer, 100n, currency)).toMatchObject({ code: 'NOTHING_TO_RETURN' });
});

it('a part of a franc is refused: the gateway cuts it off', async () => {
  const payer = await delivered(760_000n, 'XOF');
  expect(await refund(payer, 253_333n, 'XOF')).toMatchObject({
    outcome: 'refused',
    code: 'AMOUNT_NOT_ALLOWED',
  });
});

it('a part that is worth nothing is refused, of what was earned and of the wallet', async () => {
  const earned = await delivered(760_000n, 'XOF');
  expect(await refund(earned, 100n, 'XOF')).toMatchObject({ outcome: 'refused', code: 'AMOUNT_NOT_ALLOWED' });
  const funded = await books.fundedPayer();
  expect(await refund(funded, 500n, 'NGN')).toMatchObject({ outcome: 'refused', code: 'AMOUNT_NOT_ALLOWED' });
  expect(await givenUp(funded, 'wallet:%')).toEqual([]);
  for (const part of [666_667n, 666_667n, 666_666n])
    expect(await refund(funded, part, 'NGN')).toMatchObject({ outcome: 'done' });
  expect(sum(await givenUp(funded, 'wallet:%'))).toBe(PRICE_MINOR);
  expect(await books.balance(funded)).toBe(0n);
});
