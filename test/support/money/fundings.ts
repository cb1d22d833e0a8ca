// Wallets funded through the gateway on a stack: requested through the API, and their state in our rows and
// in the ledger. Must not write anything except through the API.
import { sql } from 'kysely';
import { paidOf, type GatewayMethod, type Paid } from './payments.ts';
import type { Stack, TestAccount } from '../world/stack.ts';
import { until, type UntilOptions } from '../time/until.ts';

/** Requests a funding of the account's wallet: opened, not paid. */
export async function fundThroughGateway(
  stack: Stack,
  account: TestAccount,
  wanted: { amount: number; method: GatewayMethod; headers?: Record<string, string> },
): Promise<Paid> {
  const { amount, method, headers } = wanted;
  const answer = await stack.call('POST', '/api/wallet/fund', {
    key: account.apiKey,
    body: { amount, paymentMethod: method },
    ...(headers ? { headers } : {}),
  });
  return paidOf(answer);
}

/** The funding's row once it has this status. */
export function untilFunding(
  stack: Stack,
  transactionId: string,
  status: 'PENDING' | 'SUCCESS' | 'FAILED',
  options: UntilOptions = {},
) {
  return until(
    () =>
      stack.owner
        .selectFrom('fundings')
        .selectAll()
        .where('transaction_id', '=', transactionId)
        .where('status', '=', status)
        .executeTakeFirst(),
    (row) => row !== undefined,
    { what: `${transactionId} is ${status}`, ...options },
  );
}

/**
 * What a purchase or a funding moved on each ledger account, in minor units; accounts with a sum of zero are
 * left out.
 */
export async function movedBy(stack: Stack, transactionId: string): Promise<Record<string, number>> {
  const { rows } = await sql<{ account: string; moved: bigint }>`
    select entry.ledger_account_id as account, sum(entry.amount_minor)::int8 as moved
      from ledger_entries entry join ledger_transactions booked on booked.id = entry.ledger_transaction_id
     where booked.transaction_id = ${transactionId}
     group by 1 having sum(entry.amount_minor) <> 0`.execute(stack.owner);
  return Object.fromEntries(rows.map(({ account, moved }) => [account, Number(moved)]));
}

/** The wallet's balance in the API, once it is this many minor units. */
export async function untilBalance(stack: Stack, account: TestAccount, minor: number): Promise<void> {
  await until(
    async () => {
      const { body } = await stack.call('GET', '/api/wallet/balance', { key: account.apiKey });
      return Math.round(body.data.balance * 100);
    },
    (balance) => balance === minor,
    { what: `a balance of ${minor}` },
  );
}
