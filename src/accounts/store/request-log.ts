import { sql } from 'kysely';
import type { Environment } from '../../domain/account.ts';
import type { NewLoggedRequest } from '../../platform/request-log.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { maskedKey } from './accounts.ts';

/** One statement with one parameter for all of them. */
export async function insertRequests(db: AccountsDb, requests: readonly NewLoggedRequest[]): Promise<void> {
  const rows = requests.map(({ atMs, ...request }) => ({ ...request, at: new Date(atMs) }));
  await sql`
    insert into api_requests (account_id, environment, request_id, at, method, path, status, error_code, duration_ms, key_id)
    select * from json_to_recordset(${JSON.stringify(rows)}::json) as request(
      "accountId" text, environment text, "requestId" text, at timestamptz, method text, path text, status smallint, "errorCode" text,
      "durationMs" real, "keyId" text)`.execute(db);
}

/** Deletes all but the newest of an account in one environment. */
export async function keepNewestRequests(
  db: AccountsDb,
  { accountId, environment, keep }: { accountId: string; environment: Environment; keep: number },
): Promise<void> {
  await sql`
    delete from api_requests
     where account_id = ${accountId} and environment = ${environment}
       and id <= (select id from api_requests where account_id = ${accountId} and environment = ${environment}
                   order by id desc offset ${keep} limit 1)`.execute(db);
}

export async function deleteOldRequests(db: AccountsDb, before: Date): Promise<void> {
  await db.deleteFrom('api_requests').where('at', '<', before).execute();
}

export interface RequestsQuery {
  /** The id of the last one seen. */
  readonly before: bigint | undefined;
  readonly limit: number;
  readonly requestId?: string | undefined;
}

/** The newest first. */
export function listRequestRows(
  db: AccountsDb,
  { accountId, environment }: { readonly accountId: string; readonly environment: Environment },
  { before, limit, requestId }: RequestsQuery,
) {
  return db
    .selectFrom('api_requests as request')
    .innerJoin('api_keys', 'api_keys.id', 'request.key_id')
    .select(['request.id', 'request_id as requestId', 'at', 'method', 'path', 'status'])
    .select(['error_code as errorCode', 'duration_ms as durationMs', 'key_id as keyId'])
    .select(maskedKey)
    .where((eb) => eb.and({ 'request.account_id': accountId, 'request.environment': environment }))
    .$if(before !== undefined, (query) => query.where('request.id', '<', before ?? 0n))
    .$if(requestId !== undefined, (query) => query.where('request_id', '=', requestId ?? ''))
    .orderBy('request.id', 'desc')
    .limit(limit)
    .execute();
}
