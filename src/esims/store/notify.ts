/**
 * Enqueues what a merchant is notified of about the life of an eSIM, in the transaction that changes its row.
 */
import { sql, type Selectable } from 'kysely';
import type { LifeEvent } from '../life-rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { WebhookEvent, WebhookFacts } from '../../webhooks/events.ts';
import { enqueueWebhook, subscribers } from '../../webhooks/store/messages.ts';
import type { EsimsTable } from './tables.ts';

type NotifiedEsim = Pick<
  Selectable<EsimsTable>,
  | 'id'
  | 'account_id'
  | 'transaction_id'
  | 'iccid'
  | 'activate_time'
  | 'expired_time'
  | 'total_volume_bytes'
  | 'order_usage_bytes'
  | 'usage_as_of'
>;

interface Notice<Event extends WebhookEvent> {
  readonly event: Event;
  readonly key: string;
  readonly facts: WebhookFacts[Event];
}

/** One message per event and subscriber; keys make each event one message, whatever repeats. */
export async function enqueueLifeEvents(
  trx: WorldDb,
  row: NotifiedEsim,
  events: readonly LifeEvent[],
  at: Date,
): Promise<void> {
  for (const event of events) await enqueue(trx, row, noticeOf(row, event), at);
}

async function enqueue<Event extends WebhookEvent>(
  trx: WorldDb,
  { account_id: accountId, transaction_id: subject }: NotifiedEsim,
  { event, key, facts }: Notice<Event>,
  at: Date,
): Promise<void> {
  const { rows } = await sql<{ ids: string[] | null }>`
    select ${subscribers(event, sql`${accountId}::text`)} as ids`.execute(trx);
  const webhook = { event, key, subject, accountId, subscribers: rows[0]?.ids ?? null, facts, at };
  await enqueueWebhook(trx, webhook);
}

function noticeOf(row: NotifiedEsim, event: LifeEvent): Notice<WebhookEvent> {
  const { id: esimId, transaction_id: transactionId, iccid } = row;
  const whose = { esimId, transactionId, iccid };
  const expiredTime = row.expired_time?.toISOString() ?? null;
  switch (event.kind) {
    case 'status': {
      const { from, to, nth } = event;
      return { event: 'esim.status_changed', key: `${esimId}:${nth}`, facts: { ...whose, from, to } };
    }
    case 'threshold': {
      const [totalVolume, orderUsage] = [Number(row.total_volume_bytes), Number(row.order_usage_bytes)];
      const usage = {
        totalVolume,
        orderUsage,
        dataUsageRemain: Math.max(0, totalVolume - orderUsage),
        usageAsOf: row.usage_as_of?.toISOString() ?? null,
      };
      const { percent: thresholdPercent } = event;
      const key = `${esimId}:${totalVolume}:${thresholdPercent}`;
      return { event: 'esim.usage_threshold', key, facts: { ...whose, thresholdPercent, ...usage } };
    }
    case 'expiring': {
      const { daysBefore } = event;
      const key = `${esimId}:${expiredTime}:${daysBefore}`;
      return { event: 'esim.expiring', key, facts: { ...whose, daysBefore, expiredTime } };
    }
    case 'expired': {
      const activateTime = row.activate_time?.toISOString() ?? null;
      return { event: 'esim.expired', key: esimId, facts: { ...whose, activateTime, expiredTime } };
    }
  }
}
