// The audit of money through the gateway works: each kind of contradiction, planted with all guards of the
// database off, is found and named.
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { usePaymentBooks, paid, type Payer } from '../../payments/payments.support.ts';
import { paymentViolations } from './payment-books.ts';

const books = usePaymentBooks();

let delivered: Payer;
let other: Payer;
let funded: Payer;
beforeAll(async () => {
  delivered = await books.payer();
  await books.bookCheck(delivered, paid(2_160_000n));
  await books.settle(delivered);
  await books.dispute(delivered);
  other = await books.payer();
  await books.bookCheck(other, paid(5_000n, 'GHS'));
  funded = await books.payer({ purpose: 'funding' });
  await books.bookCheck(funded);
});

const repairs: string[] = [];
afterEach(async () => {
  for (const repair of repairs.splice(0)) await unguarded(repair);
});
afterAll(async () => {
  expect(await paymentViolations(books.owner)).toEqual([]);
});

async function unguarded(statement: string): Promise<void> {
  await books.owner.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql.raw(statement).execute(trx);
  });
}

const ofDelivered = (): string => `where transaction_id = '${delivered.transactionId}'`;
const ofOther = (): string => `where transaction_id = '${other.transactionId}'`;
const ofFunded = (): string => `where transaction_id = '${funded.transactionId}'`;

it.each([
  {
    what: 'money that is booked in the row and not in the ledger',
    damage: () => `update payments set received_minor = received_minor + 500000 ${ofDelivered()}`,
    repair: () => `update payments set received_minor = received_minor - 500000 ${ofDelivered()}`,
    says: /should have -2660000 as gateway-clearing:NGN, found are -2160000$/,
  },
  {
    what: 'a hold without a payment',
    damage: () => `update payments set paid_hold = false ${ofDelivered()}`,
    repair: () => `update payments set paid_hold = true ${ofDelivered()}`,
    says: /has the hold POSTED, paid by 0 payments$/,
  },
  {
    what: 'money in suspense without a refund',
    damage: () => `update refunds set transaction_id = 'gone', reference = 'gone' ${ofOther()}`,
    repair: () =>
      `update refunds set transaction_id = '${other.transactionId}', reference = '${other.reference}' where transaction_id = 'gone'`,
    says: /should have 0 as suspense:GHS, found are 5000$/,
  },
  {
    what: 'more refunded than received',
    damage: () => `update refunds set amount_minor = 5001 ${ofOther()}`,
    repair: () => `update refunds set amount_minor = 5000 ${ofOther()}`,
    says: /should have 5001 as suspense:GHS, found are 5000$/,
  },
  {
    what: 'a done refund that is not booked',
    damage: () => `update refunds set status = 'DONE', closed_at = now() ${ofOther()}`,
    repair: () => `update refunds set status = 'DUE', closed_at = null ${ofOther()}`,
    says: /should have 0 as suspense:GHS, found are 5000$/,
  },
  {
    what: 'a credit that the wallet never got',
    damage: () => `update payments set account_id = 'acc-other' ${ofFunded()}`,
    repair: () => `update payments set account_id = '${funded.accountId}' ${ofFunded()}`,
    says: /should have 1250 as wallet:acc-other, found are 0$/,
  },
  {
    what: 'a funding that still waits after its money arrived',
    damage: () => `update fundings set status = 'PENDING', closed_at = null ${ofFunded()}`,
    repair: () => `update fundings set status = 'SUCCESS', closed_at = now() ${ofFunded()}`,
    says: /is PENDING, but money came$/,
  },
  {
    what: 'a payment without a purchase',
    damage: () => `update fundings set transaction_id = 'gone' ${ofFunded()}`,
    repair: () =>
      `update fundings set transaction_id = '${funded.transactionId}' where transaction_id = 'gone'`,
    says: /is for nothing that is there$/,
  },
  {
    what: 'a dispute about another purchase',
    damage: () => `update disputes set transaction_id = 'gone' ${ofDelivered()}`,
    repair: () =>
      `update disputes set transaction_id = '${delivered.transactionId}' where transaction_id = 'gone'`,
    says: /^dispute .+ is about a payment that brought nothing$/,
  },
  {
    what: 'money that nobody has',
    damage: () => `update payments set disputed_minor = 0 ${ofDelivered()}`,
    repair: () => `update payments set disputed_minor = 2160000 ${ofDelivered()}`,
    says: /has 2160000 that nobody has$/,
  },
])('the audit of payments finds $what', async ({ damage, repair, says }) => {
  await unguarded(damage());
  repairs.push(repair());
  expect(await paymentViolations(books.owner)).toContainEqual(expect.stringMatching(says));
});
