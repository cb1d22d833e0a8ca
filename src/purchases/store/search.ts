/** What an id leads to within an account. Every branch is one look into an index. */
import { sql } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';

export const FOUND_KINDS = ['purchase', 'funding', 'esim', 'batch', 'message'] as const;

/** By what it was found. */
export const FOUND_BY = ['id', 'iccid', 'request', 'event'] as const;

export interface FoundItem {
  readonly kind: (typeof FOUND_KINDS)[number];
  readonly id: string;
  readonly foundBy: (typeof FOUND_BY)[number];
  /** Of the package, the event, or how many rows a batch has. */
  readonly title: string;
  /** Of a batch: empty, since it is that of its rows. */
  readonly status: string;
}

/** The newest first, at most `limit`. Complete ids alone. */
export async function findOwn(
  db: WorldDb,
  accountId: string,
  text: string,
  limit: number,
): Promise<FoundItem[]> {
  const { rows } = await sql<FoundItem>`
    select kind, id, found_by as "foundBy", title, status from (
      select 'purchase' as kind, transaction_id as id, 'id' as found_by, package_name as title, status, created_at, account_id
        from purchases where transaction_id = ${text}
      union all
      select 'funding', transaction_id, 'id', 'Wallet funding', status, created_at, account_id from fundings where transaction_id = ${text}
      union all
      select 'esim', id, 'id', package_name, status, created_at, account_id from esims where id = ${text}
      union all
      select 'esim', id, 'iccid', package_name, status, created_at, account_id from esims where iccid = ${text} and iccid <> ''
      union all
      select 'batch', id, 'id', 'Batch of ' || row_count, '', created_at, account_id from batches where id = ${text}
      union all
      select 'message', id, 'id', event, status, created_at, account_id from webhook_messages where id = ${text}
      union all
      select 'message', id, 'event', event, status, created_at, account_id from webhook_messages where event_id = ${text}
      union all (
        select 'purchase', transaction_id, 'request', package_name, status, created_at, account_id
          from purchases where request_id = ${text} and account_id = ${accountId} order by created_at desc limit ${limit}
      ) union all (
        select 'funding', transaction_id, 'request', 'Wallet funding', status, created_at, account_id
          from fundings where request_id = ${text} and account_id = ${accountId} order by created_at desc limit ${limit}
      )
    ) found
     where account_id = ${accountId}
     order by created_at desc, id limit ${limit}`.execute(db);
  return rows;
}
