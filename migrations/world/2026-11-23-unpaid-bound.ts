/**
 * A bound on the payments that an account has open and unpaid: the function that counts them (its indexes are in ../indexes.ts), and the one that decides whether one more may be opened.
 * It counts again under a lock that is held until the end of the transaction, so requests that come together cannot pass the bound together.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Counts no further than the bound, so that its cost does not depend on what slipped in before there was one.
  await sql`
    create function unpaid_payments(buyer text, bound integer) returns integer language sql as $$
      select count(*)::integer from (
        (select from purchases where account_id = buyer and status = 'PENDING' limit bound)
        union all
        (select from fundings where account_id = buyer and status = 'PENDING' limit bound)
      ) unpaid
    $$`.execute(db);
  // Volatile, so that each of its queries sees what is committed by then.
  await sql`
    create function may_open_unpaid(buyer text, bounds jsonb) returns boolean language plpgsql volatile as $$
    declare
      bound integer := (select (bounds ->> plan)::integer from accounts.accounts where id = buyer);
    begin
      bound := coalesce(bound, (bounds ->> 'STANDARD')::integer);
      -- Without a lock, so that a flood of refused requests does not queue.
      if unpaid_payments(buyer, bound) >= bound then
        return false;
      end if;
      perform pg_advisory_xact_lock(hashtextextended(current_schema() || ' unpaid payments of ' || buyer, 0));
      return unpaid_payments(buyer, bound) < bound;
    end $$`.execute(db);
}
