/**
 * Calling an endpoint no more, at its own word or since it failed for too long: once, with all that follows from it in one transaction. What
 * waits to be sent there ends, its owner is told by e-mail, and so are the other endpoints that ask.
 */
import { sql } from 'kysely';
import { inTransaction } from '../../platform/database/in-transaction.ts';
import { writeNotice } from './notices.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { closeWaiting } from './endpoints.ts';
import { subscribers, enqueueWebhook, type PendingMessages } from './messages.ts';

/** Why an endpoint is called no more. */
export type Disabling = 'GONE' | 'FAILING';

export interface ToDisable {
  readonly id: string;
  readonly accountId: string;
  /** As it was when that was decided: one that has answered meanwhile is not disabled for failing. */
  readonly failingSince: Date | null;
}

/** `false`: it was disabled or deleted before, or does not fail any more. In the caller's transaction, if there is one. */
export async function disableEndpoint(
  db: WorldDb,
  { id, accountId, failingSince }: ToDisable,
  { reason, at }: { readonly reason: Disabling; readonly at: Date },
  written: PendingMessages,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ url: string; failing_since: Date | null; listeners: string[] | null }>`
      update webhook_endpoints
         set enabled = false, disabled_reason = ${reason}, disabled_at = ${at}, updated_at = ${at}
       where id = ${id} and enabled and deleted_at is null and (${reason} = 'GONE' or failing_since = ${failingSince})
      returning url, failing_since, ${subscribers('endpoint.disabled', sql.ref('webhook_endpoints.account_id'))} as listeners`.execute(
      trx,
    );
    const [disabled] = rows;
    if (!disabled) return false;
    const { url, failing_since: since } = disabled;
    await closeWaiting(trx, id);
    await enqueueWebhook(
      trx,
      {
        event: 'endpoint.disabled',
        key: `${id}:${at.getTime()}`,
        subject: null,
        accountId,
        subscribers: disabled.listeners?.filter((listener) => listener !== id) ?? null,
        facts: { endpointId: id, url, reason },
        at,
      },
      written,
    );
    const facts = {
      endpointId: id,
      host: URL.parse(url)?.host ?? '',
      reason,
      failingSince: since?.toISOString() ?? null,
      disabledAt: at.toISOString(),
    };
    await writeNotice(trx, accountId, { kind: 'endpoint-disabled', facts }, at);
    return true;
  });
}

/** An endpoint that has only failed for long, and what is known of how its messages failed. */
export interface FailingEndpoint extends ToDisable {
  readonly failingSince: Date;
  /** How often the message that was tried most since then was tried. */
  readonly attempts: number;
}

/**
 * Enabled endpoints that have failed since before a time and that nothing waits to be sent to, by pages of ids. Where something does, its own
 * attempts decide: after an outage of ours the endpoint may answer again.
 */
export async function listFailing(
  db: WorldDb,
  which: { readonly since: Date; readonly after: string; readonly limit: number },
): Promise<FailingEndpoint[]> {
  const { rows } = await sql<{ id: string; account_id: string; failing_since: Date; attempts: number }>`
    select endpoint.id, endpoint.account_id, endpoint.failing_since,
           coalesce((select max(message.attempts - message.series_from) from webhook_messages message
                      where message.endpoint_id = endpoint.id and message.status <> 'DELIVERED'
                        and message.updated_at >= endpoint.failing_since), 0) as attempts
      from webhook_endpoints endpoint
     where endpoint.enabled and endpoint.deleted_at is null and endpoint.failing_since <= ${which.since}
       and endpoint.id > ${which.after}
       and not exists (select from webhook_messages waiting where waiting.endpoint_id = endpoint.id and waiting.status = 'PENDING')
     order by endpoint.id limit ${which.limit}`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    failingSince: row.failing_since,
    attempts: row.attempts,
  }));
}
