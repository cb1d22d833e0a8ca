/** What is found by the merchant's own name for it. */
import { sql, type RawBuilder } from 'kysely';

/**
 * A merchant's own reference is searched for in this many of the account's newest batches, each by one index
 * lookup.
 */
const BATCHES_SEARCHED = 1_000;

/**
 * The rows with this reference, with `batch_id`, `transaction_id` and the `created_at` of the batch. Letters
 * with accents are found in either form of Unicode: references are kept as they were sent.
 */
export const rowsWithReference = (accountId: string, text: string): RawBuilder<unknown> => sql`
  select batch.id as batch_id, batch_row.transaction_id, batch.created_at
    from (select id, created_at from jobs where kind = 'order' and account_id = ${accountId}
           order by created_at desc, id limit ${BATCHES_SEARCHED}) batch
   -- With the limit, the planner uses the index of each batch's references: a scan would read the rows of all accounts.
   cross join lateral (select transaction_id from job_rows
     where job_id = batch.id and reference in (${text}, ${text.normalize('NFD')}) limit 1) batch_row`;

/**
 * Of a purchase or a funding: it carries this reference, in either form of Unicode. Together with its account
 * one index lookup.
 */
export const hasReference = (text: string): RawBuilder<boolean> =>
  sql<boolean>`reference in (${text}, ${text.normalize('NFD')})`;
