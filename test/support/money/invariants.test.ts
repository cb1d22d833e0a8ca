// The audit of the books works: each kind of contradiction, planted with all guards of the database off, is
// found and named.
import { sql } from 'kysely';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { newBuyer, type Buyer } from '../people/buyer.ts';
import { inspectBooks } from './invariants.ts';
import { startStack } from '../world/stack.ts';
import { forFile } from '../world/for-file.ts';

const stack = await forFile(startStack());
let buyer: Buyer;
let id: string;
beforeAll(async () => {
  buyer = await newBuyer(stack);
  const { status, body } = await buyer.buy('SIM-OK');
  expect([status, body.status]).toEqual([201, 'SUCCESS']);
  id = body.transactionId;
});

const repairs: string[] = [];
afterEach(async () => {
  for (const repair of repairs.splice(0)) await unguarded(repair);
  expect(await violations()).toEqual([]);
});

const violations = async (): Promise<string[]> => (await inspectBooks(stack)).violations;

async function unguarded(statement: string): Promise<void> {
  await stack.owner.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql.raw(statement).execute(trx);
  });
}

async function plant(damage: string, repair: string): Promise<void> {
  await unguarded(damage);
  repairs.push(repair);
}

it.each([
  {
    what: 'a wallet that is not the sum of its entries',
    damage: () => `update wallets set balance_minor = balance_minor + 1`,
    repair: () => `update wallets set balance_minor = balance_minor - 1`,
    says: /^wallet of acc-/,
  },
  {
    what: 'entries that do not net to zero',
    damage: () =>
      `update ledger_entries set amount_minor = amount_minor + 1 where ledger_account_id = 'revenue:USD'`,
    repair: () =>
      `update ledger_entries set amount_minor = amount_minor - 1 where ledger_account_id = 'revenue:USD'`,
    says: /^entries in USD sum to 1$/,
  },
  {
    what: 'a hold left open by a delivered purchase',
    damage: () => `update holds set status = 'HELD', closed_at = null`,
    repair: () => `update holds set status = 'POSTED', closed_at = now()`,
    says: /is SUCCESS, its hold HELD$/,
  },
  {
    what: 'a failed purchase whose order the supplier has',
    damage: () => `update purchases set status = 'FAILED', reason = 'OUT_OF_STOCK'`,
    repair: () => `update purchases set status = 'SUCCESS', reason = null`,
    says: /is FAILED, but the supplier holds it$/,
  },
  {
    what: 'an order at the supplier without a purchase of ours',
    damage: () => `update purchases set transaction_id = 'txn-other' where transaction_id = '${id}'`,
    repair: () => `update purchases set transaction_id = '${id}' where transaction_id = 'txn-other'`,
    says: /^the supplier holds txn-[0-9a-f]+, we do not$/,
  },
  {
    what: 'a delivered eSIM that differs from the supplier’s',
    damage: () => `update esims set iccid = '1' || iccid`,
    repair: () => `update esims set iccid = substr(iccid, 2)`,
    says: /delivered another eSIM than the supplier holds$/,
  },
])('the audit of the books finds $what', async ({ damage, repair, says }) => {
  await plant(damage(), repair());
  expect(await violations()).toContainEqual(expect.stringMatching(says));
});
