/**
 * The functions of an environment's schema: named arguments, and names of their own schema whatever the
 * caller has set.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { ensureWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { callFunction, composite } from '../../src/platform/database/functions.ts';
import { openBooks } from '../support/world/books.ts';
import { placeHold } from '../support/money/holds.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());

async function held(): Promise<string> {
  const accountId = `acc-${randomUUID()}`;
  const amount = { amountMinor: 60n, currency: 'USD' } as const;
  await ensureWallet(books.world, accountId, 'USD');
  await fundWallet(books.world, { operationKey: `fund:${accountId}`, accountId, amount, reason: 'a test' });
  await placeHold(books.world, { id: accountId, accountId, amount });
  return accountId;
}
const statusOf = (id: string) =>
  books.owner.selectFrom('holds').select('status').where('id', '=', id).executeTakeFirstOrThrow();

it('a function that reads rows uses its own schema, also where the caller’s search path leads elsewhere', async () => {
  const id = await held();
  await books.world.transaction().execute(async (trx) => {
    await sql`set local search_path = accounts`.execute(trx);
    expect((await sql`select * from test.post_hold(${id}, 'esim-access', 5)`.execute(trx)).rows).toEqual([
      { outcome: 'done' },
    ]);
  });
  expect(await statusOf(id)).toEqual({ status: 'POSTED' });
});

it.each(['live', 'test'])(
  'every function in %s that changes rows has a fixed search path',
  async (schema) => {
    const { rows } = await sql<{ name: string }>`
    select proname as name from pg_proc
     where pronamespace = ${schema}::regnamespace and prorettype <> 'trigger'::regtype and provolatile = 'v'
       and prosrc ~ '(insert into|update|delete from) (holds|ledger|purchase|payments|esims|supplier_orders|events|webhook|idempotency)'
       and proconfig is distinct from array['search_path=' || ${schema} || ', pg_temp'] order by 1`.execute(
      books.owner,
    );
    expect(rows).toEqual([]);
  },
);

it('refuses an argument that the function does not have, and a value of another type', async () => {
  const call = (args: Record<string, unknown>) => callFunction(books.world, 'post_hold', args);
  const args = { hold_id: await held(), supplier: 'esim-access', cost_usd_e4: 5n };
  await expect(call({ ...args, cost_usd: 5n })).rejects.toThrow('does not exist');
  await expect(call({ ...args, cost_usd_e4: 'much' })).rejects.toThrow('invalid input syntax');
  expect(await statusOf(args.hold_id)).toEqual({ status: 'HELD' });
});

it('reads a composite by the names of its fields; one that is left out is null', async () => {
  const terms = composite('charge_terms', { window_ms: 9_007_199_254_740_993n, gateway: 'paystack' });
  const { rows } = await sql`select * from ${terms}`.execute(books.world);
  expect(rows).toEqual([
    {
      reference: null,
      gateway: 'paystack',
      amount_minor: null,
      currency: null,
      window_ms: 9_007_199_254_740_993n,
    },
  ]);
});
