/** Install data is secret and never logged. */
import { sql, type Selectable } from 'kysely';
import { parseLpa, type ProfileFacts } from '../rules.ts';
import { canEsimMove, ESIM_STATUSES, MOVING_ESIM_STATUSES, type EsimStatus } from '../../domain/states.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { EsimsTable } from './tables.ts';

export type EsimRow = Selectable<EsimsTable>;

export function findEsim(db: WorldDb, id: string): Promise<EsimRow | undefined> {
  return db.selectFrom('esims').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Keeps the supplier's facts, unless newer ones are there; the state changes only along allowed transitions. Returns the current row. */
export async function refreshEsim(
  db: WorldDb,
  esimId: string,
  facts: ProfileFacts,
  lookedAt: Date,
): Promise<EsimRow | undefined> {
  const to = facts.status;
  const from = to === null ? [] : ESIM_STATUSES.filter((status) => canEsimMove(status, to));
  await db
    .updateTable('esims')
    .set({
      ...columnsOfFacts(facts),
      ...(to === null
        ? {}
        : { status: sql<EsimStatus>`case when status = any(${from}) then ${to} else status end` }),
      looked_at: lookedAt,
      updated_at: lookedAt,
    })
    .where('id', '=', esimId)
    .where('status', 'in', [...MOVING_ESIM_STATUSES])
    .where((eb) => eb.or([eb('looked_at', 'is', null), eb('looked_at', '<=', lookedAt)]))
    .execute();
  return findEsim(db, esimId);
}

/** An account's eSIMs that may have changed at the supplier, stalest first. */
export function findStaleEsims(
  db: WorldDb,
  which: { accountId: string; before: Date; limit: number },
): Promise<EsimRow[]> {
  return db
    .selectFrom('esims')
    .selectAll()
    .where('account_id', '=', which.accountId)
    .where('status', 'in', [...MOVING_ESIM_STATUSES])
    .where('esim_tran_no', '<>', '')
    .where('looked_at', '<', which.before)
    .orderBy('looked_at')
    .limit(which.limit)
    .execute();
}

/** Must match the index esims_by_usage literally, so values are inlined and not bound. */
const USAGE_SEEN_AT = sql<Date>`greatest(looked_at, usage_asked_at)`;
const IN_USE = sql<boolean>`status in (${sql.join(MOVING_ESIM_STATUSES.map((status) => sql.lit(status)))}) and esim_tran_no <> ''`;

/**
 * Claims the eSIMs with the stalest usage and returns their numbers at the supplier. They are marked before the supplier is asked, so that the next call
 * takes others even if this process dies. Concurrent calls claim different ones.
 */
export async function claimForUsageRefresh(
  db: WorldDb,
  which: { readonly before: Date; readonly now: Date; readonly limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ esim_tran_no: string }>`
    update esims set usage_asked_at = ${which.now}
     where id in (select id from esims
                   where ${IN_USE} and ${USAGE_SEEN_AT} < ${which.before}
                   order by ${USAGE_SEEN_AT} limit ${which.limit}
                     for update skip locked)
    returning esim_tran_no`.execute(db);
  return rows.map((row) => row.esim_tran_no);
}

export interface EsimQuery {
  readonly accountId: string;
  readonly page: number;
  readonly limit: number;
  readonly status?: EsimStatus;
  readonly search?: string;
}

/** One page of an account's eSIMs, newest first, and how many there are in all. */
export async function listEsims(db: WorldDb, query: EsimQuery): Promise<{ rows: EsimRow[]; total: number }> {
  const { accountId, page, limit, status, search } = query;
  let matching = db.selectFrom('esims').where('account_id', '=', accountId);
  if (status !== undefined) matching = matching.where('status', '=', status);
  if (search !== undefined) {
    const pattern = `%${search.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
    matching = matching.where((eb) =>
      eb.or([
        eb('package_name', 'ilike', pattern),
        eb('iccid', 'like', pattern),
        eb('transaction_id', 'ilike', pattern),
      ]),
    );
  }
  const [rows, counted] = await Promise.all([
    matching
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .offset((page - 1) * limit)
      .execute(),
    matching.select((eb) => eb.fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { rows, total: Number(counted.total) };
}

export function columnsOfFacts(facts: ProfileFacts) {
  const { smdpAddress, matchingId } = parseLpa(facts.ac);
  return {
    order_no: facts.orderNo,
    esim_tran_no: facts.esimTranNo,
    iccid: facts.iccid,
    imsi: facts.imsi,
    msisdn: facts.msisdn,
    ac: facts.ac,
    qr_code_url: facts.qrCodeUrl,
    short_url: facts.shortUrl,
    smdp_address: smdpAddress,
    matching_id: matchingId,
    pin: facts.pin,
    puk: facts.puk,
    eid: facts.eid,
    smdp_status: facts.smdpStatus,
    active_type: facts.activeType,
    activate_time: facts.activateTime === null ? null : new Date(facts.activateTime),
    expired_time: facts.expiredTime === null ? null : new Date(facts.expiredTime),
    total_volume_bytes: BigInt(facts.totalVolumeBytes),
    order_usage_bytes: BigInt(facts.orderUsageBytes),
    total_duration: facts.totalDuration,
    duration_unit: facts.durationUnit,
    apn: facts.apn,
    sms_status: facts.smsStatus,
    data_type: facts.dataType,
  };
}

/** Keeps usage figures, which lag behind; a figure never decreases. */
export async function keepUsage(
  db: WorldDb,
  usage: readonly { readonly esimTranNo: string; readonly usedBytes: number }[],
): Promise<void> {
  if (usage.length === 0) return;
  const rows = sql.join(usage.map((item) => sql`(${item.esimTranNo}::text, ${item.usedBytes}::bigint)`));
  await sql`
    update esims set order_usage_bytes = seen.used, updated_at = now()
      from (values ${rows}) seen (esim_tran_no, used)
     where esims.esim_tran_no = seen.esim_tran_no and seen.used > esims.order_usage_bytes`.execute(db);
}
