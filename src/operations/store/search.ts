/** What an id leads to in one environment. Every branch is one index lookup. */
import { sql } from 'kysely';
import type { Money } from '../../domain/money.ts';
import { hasReference } from '../../jobs/store/references.ts';
import { GATEWAY_NAMES } from '../../payments/rules.ts';
import { UNMATCHED_EVENT } from '../../payments/store/gateway-events.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { hostOf } from './accounts.ts';

/** Which field matched. Of several that match, the first in this list is shown. */
export const FOUND_BY = [
  'id',
  'reference',
  'gateway id',
  'refund',
  'dispute',
  'order number',
  'esim',
  'iccid',
  'batch',
  'quote',
  'message',
  'event',
  'gateway event',
  'operator action',
  'own reference',
  'request',
  'subject',
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

/** Newest first, of a batch its first rows; one that is found in several ways is there once. */
export async function findTransactions(db: WorldDb, text: string, limit: number) {
  const { rows } = await sql<FoundTransaction>`
    with found as (
      select transaction_id, 'id' as way from purchases where transaction_id = ${text}
      union all select transaction_id, 'id' from supplier_orders where id = ${text}
      union all select transaction_id, 'id' from fundings where transaction_id = ${text}
      union all select transaction_id, 'reference' from payments where reference = ${text}
      union all select transaction_id, 'gateway id' from payments where gateway_id = ${text}
      union all select transaction_id, 'refund' from refunds where refund_key = ${text}
      union all select transaction_id, 'refund' from refunds where gateway_refund_id = ${text}
      union all select transaction_id, 'dispute' from disputes where dispute_id = ${text}
      union all select transaction_id, 'order number' from supplier_orders where order_no = ${text}
      union all select transaction_id, 'order number' from esims where order_no = ${text} and order_no <> ''
      union all select transaction_id, 'esim' from esims where id = ${text}
      union all select transaction_id, 'esim' from esims where esim_tran_no = ${text} and esim_tran_no <> ''
      union all select transaction_id, 'esim' from purchases where package_type = 'TOPUP' and esim_id = ${text}
      union all select transaction_id, 'iccid' from esims where iccid = ${text} and iccid <> ''
      union all select transaction_id, 'iccid' from purchases
                 where package_type = 'TOPUP' and esim_id in (select id from esims where iccid = ${text} and iccid <> '')
      union all (select transaction_id, 'batch' from job_rows where job_id = ${text} and kind = 'order' order by row_number limit ${limit})
      union all select used_by, 'quote' from quotes where id = ${text} and used_by is not null
      union all select subject, 'message' from webhook_messages where id = ${text} and subject is not null
      union all select subject, 'event' from events where id = ${text} and subject is not null
      union all select payments.transaction_id, 'gateway event' from gateway_events
                  join payments on payments.reference = gateway_events.reference where gateway_events.id = ${gatewayEventOf(text)}
      union all select transaction_id, 'operator action' from operator_actions where id = ${text}
      union all (select transaction_id, 'own reference' from purchases where ${hasReference(text)} order by created_at desc limit ${limit})
      union all (select transaction_id, 'own reference' from fundings where ${hasReference(text)} order by created_at desc limit ${limit})
      union all (select transaction_id, 'request' from purchases where request_id = ${text} order by created_at desc limit ${limit})
      union all (select transaction_id, 'request' from fundings where request_id = ${text} order by created_at desc limit ${limit})
    ), ways as (
      select transaction_id, min(array_position(${[...FOUND_BY]}::text[], way)) as way from found group by transaction_id
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

/** What an id leads to beside purchases and fundings. */
export const OTHER_KINDS = [
  'message',
  'endpoint',
  'batch',
  'quote',
  'gateway event',
  'repair',
  'difference',
] as const;

export interface FoundOther {
  readonly kind: (typeof OTHER_KINDS)[number];
  readonly id: string;
  readonly title: string;
  /** null: it belongs to no account. */
  readonly accountId: string | null;
  readonly foundBy: FoundBy;
}

/** Also differences: by their number, or by the vendor's id where they belong to no record of ours. */
export async function findOtherRecords(
  db: WorldDb,
  text: string,
  { withDifferences, limit }: { readonly withDifferences: boolean; readonly limit: number },
): Promise<FoundOther[]> {
  const difference = sql`
    id::text, kind || ': ' || subject || case when closed_at is null then '' else ', closed' end, null::text`;
  const { rows } = await sql<FoundOther>`
    select 'message' as kind, id, event || ', ' || status as title, account_id as "accountId", 'id' as "foundBy"
      from webhook_messages where id = ${text} and subject is null
    union all
    select 'endpoint', id, ${hostOf(sql.ref('url'))} || case when deleted_at is not null then ', deleted' when enabled then '' else ', disabled' end,
           account_id, 'id'
      from webhook_endpoints where id = ${text}
    union all
    select case kind when 'order' then 'batch' else 'repair' end, id,
           case kind when 'order' then 'Batch of ' || row_count else action || ', ' || status end, account_id, 'id'
      from jobs where id = ${text}
    union all
    select 'quote', id, 'Quote for ' || package_name || case when expires_at > now() then '' else ', expired' end, account_id, 'id'
      from quotes where id = ${text} and used_by is null
    union all
    select 'gateway event', 'event-' || id, type || ', ' || note, null, 'id'
      from gateway_events where id = ${gatewayEventOf(text)} and note = ${UNMATCHED_EVENT}
    union all
    select 'gateway event', 'event-' || id, type || ', ' || note, null, 'reference'
      from gateway_events
     where gateway = any(${[...GATEWAY_NAMES]}) and reference = ${text} and note = ${UNMATCHED_EVENT}
    union all
    select 'difference', ${difference}, 'id'
      from reconciliation_differences where id = ${numberIn(/^(\d{1,18})$/, text)} and ${withDifferences}
    union all
    (select 'difference', ${difference}, 'subject'
       from reconciliation_differences where subject = ${text} and transaction_id is null and ${withDifferences}
      order by reconciliation_differences.id desc limit ${limit})`.execute(db);
  return rows;
}

const gatewayEventOf = (text: string) => numberIn(/^event-(\d{1,18})$/, text);

/** null finds nothing. */
const numberIn = (pattern: RegExp, text: string) =>
  sql<bigint | null>`${pattern.exec(text)?.[1] ?? null}::int8`;
