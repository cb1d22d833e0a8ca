/** What leads to a purchase or a funding. Every branch is one look into an index. */
import { sql } from 'kysely';
import type { Money } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** By what it was found. */
export const FOUND_BY = [
  'id',
  'reference',
  'esim',
  'iccid',
  'message',
  'event',
  'move',
  'request',
  'name or e-mail',
] as const;
export type FoundBy = (typeof FOUND_BY)[number];

export interface FoundTransaction extends Money {
  readonly transactionId: string;
  readonly accountId: string;
  readonly kind: 'purchase' | 'funding';
  readonly foundBy: FoundBy;
  /** null: a funding. */
  readonly packageName: string | null;
  readonly status: string;
}

/** The newest first; one that is found in several ways is there once. */
export async function findTransactions(
  db: WorldDb,
  text: string,
  limit: number,
): Promise<FoundTransaction[]> {
  const { rows } = await sql<FoundTransaction>`
    with found as (
      select transaction_id, 1 as way from purchases where transaction_id = ${text} or supplier_transaction_id = ${text}
      union all select transaction_id, 1 from fundings where transaction_id = ${text}
      union all select transaction_id, 2 from payments where reference = ${text}
      union all select transaction_id, 3 from esims where id = ${text}
      union all select transaction_id, 3 from purchases where package_type = 'TOPUP' and esim_id = ${text}
      union all select transaction_id, 4 from esims where iccid = ${text} and iccid <> ''
      union all select transaction_id, 4 from purchases
                 where package_type = 'TOPUP' and esim_id in (select id from esims where iccid = ${text} and iccid <> '')
      union all select subject, 5 from webhook_messages where id = ${text} and subject is not null
      union all select subject, 6 from events where id = ${text} and subject is not null
      union all select transaction_id, 7 from operator_moves where id = ${text}
      union all (select transaction_id, 8 from purchases where request_id = ${text} limit ${limit})
      union all (select transaction_id, 8 from fundings where request_id = ${text} limit ${limit})
    ), ways as (
      select transaction_id, min(way) as way from found group by transaction_id
    )
    select ways.transaction_id as "transactionId", (${[...FOUND_BY]}::text[])[way] as "foundBy",
           case when p.transaction_id is null then 'funding' else 'purchase' end as kind,
           coalesce(p.account_id, f.account_id) as "accountId", p.package_name as "packageName", coalesce(p.status, f.status) as status,
           coalesce(p.price_minor, f.amount_minor) as "amountMinor", coalesce(p.currency, f.currency) as currency
      from ways
      left join purchases p on p.transaction_id = ways.transaction_id
      left join fundings f on f.transaction_id = ways.transaction_id
     where coalesce(p.transaction_id, f.transaction_id) is not null
     order by coalesce(p.created_at, f.created_at) desc, ways.transaction_id
     limit ${limit}`.execute(db);
  return rows;
}

/** A message that is about no purchase and no funding. */
export function findLooseMessage(db: WorldDb, id: string) {
  return db
    .selectFrom('webhook_messages')
    .select(['id', 'account_id as accountId', 'event', 'status'])
    .where('id', '=', id)
    .where('subject', 'is', null)
    .executeTakeFirst();
}
