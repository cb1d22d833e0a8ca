/**
 * What is stored about one eSIM, for its owner. Of its purchases only what happened when: the details may
 * hold what operators wrote.
 */
import { sql } from 'kysely';
import type { EsimRow } from '../../esims/store/esims.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { MessageStatus } from '../../webhooks/rules.ts';

const LIFE_EVENTS = ['esim.status_changed', 'esim.usage_threshold', 'esim.expiring'] as const;

export interface LifeEventRow {
  readonly at: Date;
  readonly event: (typeof LIFE_EVENTS)[number];
  readonly data: Readonly<Record<string, unknown>>;
}

/** Far more than an eSIM has; the newest of each. */
const MOST = 500;

export async function readEsimTimeline(
  db: WorldDb,
  esim: Pick<EsimRow, 'id' | 'transaction_id' | 'account_id'>,
) {
  const ids = sql`
    select ${esim.transaction_id}::text as transaction_id
    union select transaction_id from purchases where package_type = 'TOPUP' and esim_id = ${esim.id}`;
  const [purchases, life, messages, link] = await Promise.all([
    sql<{ at: Date; what: string; transactionId: string; isTopUp: boolean; packageName: string }>`
      select e.at, e.what, e.transaction_id as "transactionId", p.package_type = 'TOPUP' as "isTopUp", p.package_name as "packageName"
        from (${ids}) mine join purchases p using (transaction_id) join purchase_events e using (transaction_id)
       order by e.id desc limit ${MOST}`.execute(db),
    sql<LifeEventRow>`
      select coalesce((body::jsonb ->> 'timestamp')::timestamptz, created_at) as at, event, body::jsonb -> 'data' as data from events
       where subject = ${esim.transaction_id} and account_id = ${esim.account_id} and event = any(${LIFE_EVENTS})
       order by seq desc limit ${MOST}`.execute(db),
    sql<{
      messageId: string;
      event: string;
      host: string;
      attempts: number;
      status: MessageStatus;
      transactionId: string;
      createdAt: Date;
      closedAt: Date | null;
    }>`
      select m.id as "messageId", event, substring(url from '//(?:[^/?#@]*@)?([^/?#]+)') as host, attempts, status, subject as "transactionId",
             m.created_at as "createdAt", closed_at as "closedAt"
        from webhook_messages m join webhook_endpoints e on e.id = m.endpoint_id
       where subject in (${ids}) and m.account_id = ${esim.account_id}
       order by m.created_at desc limit ${MOST}`.execute(db),
    sql<{ created_at: Date }>`select created_at from install_links where esim_id = ${esim.id}`.execute(db),
  ]);
  return {
    purchases: purchases.rows.toReversed(),
    life: life.rows.toReversed(),
    messages: messages.rows.toReversed(),
    linkMadeAt: link.rows[0]?.created_at ?? null,
  };
}
