/**
 * Rows of eSIMs, and everything that the supplier says about a delivered one: written, and its merchant
 * notified, in one transaction under the row's lock. Old, repeated and contradictory facts are harmless.
 * Install data is secret and never logged.
 */
import { sql, type Selectable, type Updateable } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import { DAY_MS } from '../../domain/clock.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import {
  nextCheckAt,
  nextUsageAt,
  fresherUsage,
  INSTALL_EVENTS,
  installEventOf,
  isMoving,
  isNewInstallEvent,
  nextStatus,
  unnotified,
} from '../life-rules.ts';
import type { ProfileFacts, UsageFacts } from '../rules.ts';
import type { EsimsTable } from './tables.ts';
import { enqueueLifeEvents } from './notify.ts';

export type EsimRow = Selectable<EsimsTable>;

export function findEsim(db: WorldDb, id: string): Promise<EsimRow | undefined> {
  return db.selectFrom('esims').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Those of these eSIMs that exist. */
export function findEsims(db: WorldDb, ids: readonly string[]): Promise<EsimRow[]> {
  return db
    .selectFrom('esims')
    .selectAll()
    .where('id', '=', sql<string>`any(${[...ids]})`)
    .execute();
}

/** By its supplier's number of it, which is never given to another. */
export function findEsimByTranNo(
  db: WorldDb,
  supplier: string,
  esimTranNo: string,
): Promise<EsimRow | undefined> {
  return db
    .selectFrom('esims')
    .selectAll()
    .where('esim_tran_no', '=', esimTranNo)
    .where('supplier', '=', supplier)
    .executeTakeFirst();
}

/** By our id of an order at the supplier; one that was made again has `-2` behind the purchase's. */
export async function findEsimByTransaction(
  db: WorldDb,
  supplier: string,
  supplierIds: readonly string[],
): Promise<EsimRow | undefined> {
  const ids = supplierIds.flatMap((id) => [id, id.replace(/-2$/, '')]);
  if (ids.length === 0) return undefined;
  return db
    .selectFrom('esims')
    .selectAll()
    .where('transaction_id', 'in', ids)
    .where('supplier', '=', supplier)
    .executeTakeFirst();
}

/** As in migrations/world/baseline/esims.ts, literally. */
export const MOVING = sql.raw<boolean>("status in ('CREATED', 'ACTIVE', 'SUSPENDED') and esim_tran_no <> ''");

/** An account's eSIMs that may have changed at the supplier, stalest first. */
export function findStaleEsims(
  db: WorldDb,
  which: { accountId: string; before: Date; limit: number },
): Promise<EsimRow[]> {
  return db
    .selectFrom('esims')
    .selectAll()
    .where('account_id', '=', which.accountId)
    .where(MOVING)
    .where('checked_at', '<', which.before)
    .orderBy('checked_at')
    .limit(which.limit)
    .execute();
}

/**
 * When the oldest usage figure of an account was true at the supplier, among eSIMs that may still change;
 * null where there are none.
 */
export async function findOldestUsage(db: WorldDb, accountId: string): Promise<Date | null> {
  const asOf = sql<Date | null>`coalesce(usage_as_of, checked_at)`;
  const row = await db
    .selectFrom('esims')
    .select(asOf.as('asOf'))
    .where('account_id', '=', accountId)
    .where(MOVING)
    .orderBy(asOf)
    .limit(1)
    .executeTakeFirst();
  return row?.asOf ?? null;
}

/**
 * Keeps the supplier's answer about the whole eSIM, unless a newer one is there; the state changes only along
 * allowed transitions. `askedAt`: before the supplier was asked. `install`: columns of its install data,
 * where they change. Returns the current row.
 */
export function refreshEsim(
  db: WorldDb,
  esimId: string,
  facts: ProfileFacts,
  askedAt: Date,
  install: Updateable<EsimsTable> = {},
): Promise<EsimRow | undefined> {
  return inTransaction(db, async (trx) => {
    const row = await lockEsim(trx, esimId);
    if (!row || !isMoving(row) || (row.checked_at !== null && row.checked_at > askedAt)) return row;
    const said = { ...row, ...columnsOfFacts(facts), status: nextStatus(row.status, facts.status) };
    // A top-up confirmed after this request began has the newer totals.
    const totals = row.totals_as_of !== null && row.totals_as_of > askedAt ? totalsOf(row) : totalsOf(said);
    const usage = fresherUsage(row, said.order_usage_bytes, askedAt);
    const hasMoved = usage.order_usage_bytes > row.order_usage_bytes;
    const next = { ...said, ...totals, ...usage };
    const changes = {
      ...columnsOfFacts(facts),
      ...install,
      ...totals,
      ...usage,
      status: next.status,
      checked_at: askedAt,
      usage_asked_at: null,
      check_asked_at: null,
      next_check_at: nextCheckAt(next, askedAt),
      next_usage_at: nextUsageAt(next, hasMoved, askedAt),
    };
    return change(trx, row, changes, askedAt);
  });
}

/**
 * Keeps usage figures that a supplier was asked for alone at `askedAt`, ten a call. Leaves out eSIMs that are
 * not ours.
 */
export function keepUsage(
  db: WorldDb,
  supplier: string,
  usages: readonly UsageFacts[],
  askedAt: Date,
): Promise<void> {
  return inTransaction(db, async (trx) => {
    const said = new Map(usages.map((usage) => [usage.esimTranNo, usage]));
    if (said.size === 0) return;
    const rows = await trx
      .selectFrom('esims')
      .selectAll()
      .where('esim_tran_no', 'in', [...said.keys()])
      .where('supplier', '=', supplier)
      .orderBy('id')
      .forNoKeyUpdate()
      .execute();
    const quiet: EsimRow[] = [];
    for (const row of rows.filter(isMoving)) {
      const usage = said.get(row.esim_tran_no);
      if (!usage) continue;
      const changes = usageChanges(row, usage, askedAt);
      const next = planned(row, changes, askedAt);
      if (next.events.length > 0) await change(trx, row, changes, askedAt);
      else quiet.push(next.row);
    }
    await writeUsage(trx, quiet);
  });
}

function usageChanges(row: EsimRow, { usedBytes, observedAt }: UsageFacts, askedAt: Date) {
  const asOf = observedAt === null ? askedAt : new Date(observedAt);
  const usage = fresherUsage(row, BigInt(usedBytes), asOf);
  const hasMoved = usage.order_usage_bytes > row.order_usage_bytes;
  // Usage means that it is in use, whatever status is stored.
  const isStarted = hasMoved && row.status === 'CREATED';
  return {
    ...usage,
    usage_asked_at: null,
    next_usage_at: nextUsageAt({ ...row, ...usage }, hasMoved, askedAt),
    ...(isStarted ? { next_check_at: askedAt } : {}),
  };
}

/** Most figures lead to no notice: they are written in one statement. */
async function writeUsage(trx: WorldDb, rows: readonly EsimRow[]): Promise<void> {
  if (rows.length === 0) return;
  const column = (name: keyof EsimRow, type: string) =>
    sql`${rows.map((row) => row[name])}::${sql.raw(type)}[]`;
  await sql`
    update esims
       set order_usage_bytes = said.used, usage_as_of = said.as_of, usage_asked_at = null, next_usage_at = said.next_usage, next_check_at = said.next_check,
           notified_status = said.status, notified_usage_percent = said.percent, notified_usage_total_bytes = said.total,
           notified_expiry_days = said.days, updated_at = said.at
      from unnest(${column('id', 'text')}, ${column('order_usage_bytes', 'bigint')}, ${column('usage_as_of', 'timestamptz')},
                  ${column('next_usage_at', 'timestamptz')}, ${column('next_check_at', 'timestamptz')}, ${column('notified_status', 'text')},
                  ${column('notified_usage_percent', 'smallint')}, ${column('notified_usage_total_bytes', 'bigint')},
                  ${column('notified_expiry_days', 'smallint')}, ${column('updated_at', 'timestamptz')})
           said (id, used, as_of, next_usage, next_check, status, percent, total, days, at)
     where esims.id = said.id`.execute(trx);
}

/** Notifies of what a top-up changed; in its transaction, after its totals are in the row. */
export async function notifyOfTopUp(trx: WorldDb, esimId: string, now: Date): Promise<void> {
  const row = await lockEsim(trx, esimId);
  if (row && isMoving(row)) await change(trx, row, {}, now);
}

/** It was returned, and its supplier has cancelled it. In the transaction that gives the money back. */
export async function cancelEsim(trx: WorldDb, esimId: string, now: Date): Promise<EsimRow> {
  const row = await lockEsim(trx, esimId);
  if (!row) throw new Error(`no eSIM ${esimId}`);
  return isMoving(row) ? change(trx, row, { status: 'CANCELLED' }, now) : row;
}

/** As many eSIMs at a time as one short transaction should lock. */
const NOTICES_AT_ONCE = 100;

/**
 * Notifies of eSIMs that expire in three days or in one. Concurrent calls take different ones. Returns how
 * many; a full batch means that there are more.
 */
export function notifyOfExpiry(db: WorldDb, now: Date, limit = NOTICES_AT_ONCE): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<EsimRow>`
      select * from esims
       where id in (${dueNotices(0, 3, now, limit)} union all ${dueNotices(3, 1, now, limit)})
       order by id limit ${limit} for no key update skip locked`.execute(trx);
    for (const row of rows) await change(trx, row, {}, now);
    return rows.length;
  });
}

/** Reads only rows that are due: those notified of leave this part of the index. */
const dueNotices = (notifiedDays: number, days: number, now: Date, limit: number) => sql`
  (select id from esims
    where notified_expiry_days = ${notifiedDays}::smallint and ${MOVING}
      and expired_time > ${now} and expired_time <= ${new Date(now.getTime() + days * DAY_MS)}
    order by expired_time limit ${limit})`;

async function lockEsim(trx: WorldDb, esimId: string): Promise<EsimRow | undefined> {
  return trx.selectFrom('esims').selectAll().where('id', '=', esimId).forNoKeyUpdate().executeTakeFirst();
}

/**
 * The one place that changes a delivered eSIM: what is to be notified of is written with it. `row` is locked.
 */
async function change(
  trx: WorldDb,
  row: EsimRow,
  changes: Updateable<EsimsTable>,
  now: Date,
): Promise<EsimRow> {
  const next = planned(row, changes, now);
  await trx
    .updateTable('esims')
    .set({ ...changes, ...next.notified, updated_at: now })
    .where('id', '=', row.id)
    .execute();
  await enqueueLifeEvents(trx, next.row, next.events, now);
  await writeInstallEvent(trx, row, next.row.smdp_status, now);
  return next.row;
}

async function writeInstallEvent(
  trx: WorldDb,
  { transaction_id, smdp_status }: EsimRow,
  smdpStatus: string,
  now: Date,
): Promise<void> {
  const what = installEventOf(smdp_status, smdpStatus);
  if (what === undefined) return;
  const last = await trx
    .selectFrom('purchase_events')
    .select(['what', 'at'])
    .where('transaction_id', '=', transaction_id)
    .where('what', 'in', INSTALL_EVENTS)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (isNewInstallEvent(what, last, now))
    await trx.insertInto('purchase_events').values({ transaction_id, what, at: now }).execute();
}

/** The row after these changes, and what is to be notified of with them. */
function planned(row: EsimRow, changes: Updateable<EsimsTable>, now: Date) {
  const after = { ...row, ...changes, updated_at: now } as EsimRow;
  const { events, notified } = unnotified(row, after, now);
  return { row: { ...after, ...notified }, events, notified };
}

/** Without what installs the eSIM. */
function columnsOfFacts(facts: ProfileFacts) {
  return {
    order_no: facts.orderNo,
    esim_tran_no: facts.esimTranNo,
    iccid: facts.iccid,
    imsi: facts.imsi,
    msisdn: facts.msisdn,
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

/** What a top-up changes. */
const totalsOf = ({ total_volume_bytes, total_duration, expired_time }: EsimRow) => ({
  total_volume_bytes,
  total_duration,
  expired_time,
});

/** The columns of a new eSIM that the supplier has delivered, as it said at `askedAt`. */
export function columnsOfDelivery(facts: ProfileFacts, askedAt: Date) {
  const columns = columnsOfFacts(facts);
  const row = { ...columns, status: 'CREATED' } as const;
  return {
    ...columns,
    checked_at: askedAt,
    usage_as_of: askedAt,
    next_check_at: nextCheckAt(row, askedAt),
    next_usage_at: nextUsageAt(row, false, askedAt),
  };
}
