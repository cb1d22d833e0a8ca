/** What an id leads to within an account. Every branch is one index lookup. */
import { sql, type RawBuilder } from 'kysely';
import type { Principal } from '../../domain/account.ts';
import { hasReference, rowsWithReference } from '../../jobs/store/references.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

export const FOUND_KINDS = ['purchase', 'funding', 'esim', 'batch', 'message', 'endpoint', 'quote'] as const;

/**
 * What the id is: mostly the name of the field that a caller has it from. The first that fits is returned.
 */
export const FOUND_BY = [
  'id',
  'iccid',
  'request',
  'event',
  'gatewayReference',
  'batchReference',
  'reference',
  'orderNo',
  'esimTranNo',
  'quote',
] as const;

export interface FoundItem {
  readonly kind: (typeof FOUND_KINDS)[number];
  readonly id: string;
  readonly foundBy: (typeof FOUND_BY)[number];
  /** Of the package, the event, the URL of an endpoint, or how many rows a batch has. */
  readonly title: string;
  /** Of a batch and of a quote: empty, since they have none. */
  readonly status: string;
}

/** More than one request or event leads to. */
export const MAX_FOUND = 20;

/** What of the account has this id. Nothing of another account. */
export const searchOwn = (
  { db }: { readonly db: WorldDb },
  { account }: Principal,
  text: string,
): Promise<FoundItem[]> => findOwn(db, account.id, text, MAX_FOUND);

/** The newest first, at most `limit`. Complete ids alone. */
export async function findOwn(
  db: WorldDb,
  accountId: string,
  text: string,
  limit: number,
): Promise<FoundItem[]> {
  const { rows } = await sql<FoundItem>`
    with rows_with_reference as materialized (
      select batch_id, transaction_id from (${rowsWithReference(accountId, text)}) batch_row
       order by created_at desc limit ${limit}
    ), found as (${transactionIds(accountId, text, limit)}
    ), transactions as (
      select transaction_id, (${[...FOUND_BY]}::text[])[min(array_position(${[...FOUND_BY]}::text[], found_by))] as found_by
        from found group by transaction_id
    )
    select kind, id, found_by as "foundBy", title, status from (
      select 'purchase' as kind, transaction_id as id, found_by, package_name as title, status, created_at, account_id
        from transactions join purchases using (transaction_id)
      union all
      select 'funding', transaction_id, found_by, 'Wallet funding', status, created_at, account_id
        from transactions join fundings using (transaction_id)
      union all
      select 'esim', id, 'id', package_name, status, created_at, account_id from esims where id = ${text}
      union all
      select 'esim', id, 'iccid', package_name, status, created_at, account_id from esims where iccid = ${text} and iccid <> ''
      union all
      select 'esim', id, 'orderNo', package_name, status, created_at, account_id from esims where order_no = ${text} and order_no <> ''
      union all
      select 'esim', id, 'esimTranNo', package_name, status, created_at, account_id
        from esims where esim_tran_no = ${text} and esim_tran_no <> ''
      union all
      select 'batch', id, 'id', 'Batch of ' || row_count, '', created_at, account_id from jobs where kind = 'order' and id = ${text}
      union all
      select 'batch', jobs.id, 'batchReference', 'Batch of ' || row_count, '', created_at, account_id
        from rows_with_reference row join jobs on jobs.id = row.batch_id
       where not exists (select from purchases where purchases.transaction_id = row.transaction_id)
      union all
      select 'message', id, 'id', event, status, created_at, account_id from webhook_messages where id = ${text}
      union all
      select 'message', id, 'event', event, status, created_at, account_id from webhook_messages where event_id = ${text}
      union all
      select 'endpoint', id, 'id', url, case when enabled then 'ENABLED' else 'DISABLED' end, created_at, account_id
        from webhook_endpoints where id = ${text} and deleted_at is null
      union all
      select 'quote', id, 'id', package_name, '', created_at, account_id from quotes where id = ${text} and used_by is null
    ) item
     where account_id = ${accountId}
     order by created_at desc, id limit ${limit}`.execute(db);
  return rows;
}

/**
 * Ids of purchases and fundings, and by what each was found: those of other accounts too, where an index
 * holds the id alone.
 */
const transactionIds = (accountId: string, text: string, limit: number): RawBuilder<unknown> => sql`
      select transaction_id, 'id' as found_by from purchases where transaction_id = ${text}
      union all
      select transaction_id, 'id' from fundings where transaction_id = ${text}
      union all
      select transaction_id, 'gatewayReference' from payments where reference = ${text}
      union all
      select used_by, 'quote' from quotes where id = ${text} and used_by is not null
      union all
      select subject, 'event' from events
       where id = ${text} and not exists (select from webhook_messages where event_id = ${text} and account_id = ${accountId})
      union all
      select transaction_id, 'batchReference' from rows_with_reference
      union all (
        select transaction_id, 'reference' from purchases
         where ${hasReference(text)} and account_id = ${accountId} order by created_at desc limit ${limit}
      ) union all (
        select transaction_id, 'reference' from fundings
         where ${hasReference(text)} and account_id = ${accountId} order by created_at desc limit ${limit}
      ) union all (
        select transaction_id, 'request' from purchases
         where request_id = ${text} and account_id = ${accountId} order by created_at desc limit ${limit}
      ) union all (
        select transaction_id, 'request' from fundings
         where request_id = ${text} and account_id = ${accountId} order by created_at desc limit ${limit}
      )`;
