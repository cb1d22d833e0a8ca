import { z } from 'zod';
import {
  activationMs,
  type Operation,
  type Operations,
  type Outcome,
  type SupplierContext,
} from '../context.ts';
import type { EsimRow, TopUpRow } from '../storage.ts';
import {
  SupplierError,
  UNSEEN_CODE,
  ESIM,
  read,
  text,
  TEXT,
  TIME_MS,
  whole,
  type Params,
} from '../errors.ts';
import { magicRule } from '../magic.ts';
import { withState, type FoundEsim } from '../esim-state.ts';
import { eidOf, imsiOf, matchingIdOf, pinOf, pukOf, qrNameOf, replyTime } from '../numbers.ts';

const MAX_USAGE_QUERIES = 10;
const NAMED = z.object(ESIM);
const SMS = z.object({ message: text(500) });
const USAGE = z.object({
  esimTranNoList: z.array(z.string('a list of strings'), 'a list of strings').min(1).max(MAX_USAGE_QUERIES),
});
const QUERY = z.object({
  pager: z.object({ pageNum: whole(1, 10_000), pageSize: whole(1, 500) }, 'an object'),
  ...ESIM,
  orderNo: TEXT,
  startTime: TIME_MS,
  endTime: TIME_MS,
});

/** The newest eSIM with this ICCID, since a profile may be used again. */
export function esimByIccid({ storage }: SupplierContext, iccid: string): EsimRow | undefined {
  return storage.esims.find({ iccid }, { isNewestFirst: true });
}

/** The eSIM of `esimTranNo` or `iccid`, or 310403; undefined when the request has neither. */
export function findEsim(context: SupplierContext, params: Params): FoundEsim | undefined {
  const { esimTranNo, iccid } = read(NAMED, params);
  if (esimTranNo === undefined && iccid === undefined) return undefined;
  const row =
    esimTranNo === undefined ? esimByIccid(context, iccid ?? '') : context.storage.esims.get(esimTranNo);
  if (row === undefined || (iccid !== undefined && row.iccid !== iccid)) {
    throw new SupplierError('310403', 'no eSIM with this esimTranNo or iccid');
  }
  return withState(row, context.now());
}

/** As findEsim; 000105 when the request names none. */
export function requireEsim(context: SupplierContext, params: Params): FoundEsim {
  const found = findEsim(context, params);
  if (found === undefined) throw new SupplierError('000105', 'one of esimTranNo and iccid is needed');
  return found;
}

export function activationCodeOf({ smdpHost }: SupplierContext, esimTranNo: string): string {
  return `LPA:1$${smdpHost}$${matchingIdOf(esimTranNo)}`;
}

function packageLine({ plan, createdAtMs, transactionId }: EsimRow | TopUpRow, esimTranNo: string) {
  const { packageName, packageCode, slug, duration, volume, locationCode } = plan;
  const sold = { packageName, packageCode, slug, duration, volume, locationCode };
  return { ...sold, createTime: replyTime(createdAtMs), esimTranNo, transactionId };
}

export type WireEsim = ReturnType<typeof wireEsim>;

function wireEsim(context: SupplierContext, row: EsimRow) {
  const { plan, state } = withState(row, context.now());
  const tranNo = row.esimTranNo;
  const timeOrNull = (atMs: number | null) => (atMs === null ? null : replyTime(atMs));
  const shortUrl = `${context.qrBaseUrl()}/${qrNameOf(tranNo)}`;
  return {
    esimTranNo: tranNo,
    orderNo: row.orderNo,
    transactionId: row.transactionId,
    imsi: imsiOf(tranNo),
    iccid: row.iccid,
    smsStatus: plan.smsStatus,
    msisdn: '',
    ac: activationCodeOf(context, tranNo),
    qrCodeUrl: `${shortUrl}.png`,
    shortUrl,
    smdpStatus: state.smdpStatus,
    eid: state.isOnDevice ? eidOf(tranNo) : '',
    activeType: plan.activeType,
    dataType: plan.dataType,
    activateTime: timeOrNull(state.activatedAtMs),
    expiredTime: replyTime(state.expiresAtMs),
    installationTime: timeOrNull(state.installedAtMs),
    totalVolume: row.totalVolume,
    totalDuration: row.totalDuration,
    durationUnit: 'DAY',
    orderUsage: row.orderUsage,
    esimStatus: state.esimStatus,
    pin: pinOf(tranNo),
    puk: pukOf(tranNo),
    apn: 'sandbox',
    ipExport: plan.ipExport,
    supportTopUpType: plan.supportTopUpType,
    fupPolicy: plan.fupPolicy,
    packageList: [
      packageLine(row, tranNo),
      ...context.storage.topUps
        .list({ esimTranNo: tranNo })
        .map((topUp) => packageLine(topUp, topUp.topUpEsimTranNo)),
    ],
  };
}

function reportedUsage(context: SupplierContext, row: EsimRow): number {
  const isFresh = row.usageAtMs !== null && context.now() < row.usageAtMs + context.faults.current.usageLagMs;
  return isFresh ? row.laggingUsage : row.orderUsage;
}

const ENDED: ReadonlySet<string> = new Set([
  'CANCEL',
  'REVOKE',
  'UNUSED_EXPIRED',
  'USED_EXPIRED',
  'GETTING_RESOURCE',
]);
/** Suspending or revoking the eSIM at the network does not change the phone's status. */
const ON_THE_PHONE: ReadonlySet<string | null> = new Set(['DOWNLOAD', 'INSTALLATION', 'DISABLED', 'DELETED']);

/** Writes an eSIM's new state; `refund` goes back to the balance in the same transaction. */
function write(context: SupplierContext, before: EsimRow, after: EsimRow, refund = 0): Outcome {
  const { storage, webhooks, faults } = context;
  storage.database.transact(() => {
    storage.esims.put(after);
    if (refund > 0) storage.setBalance(storage.balance() + refund);
    webhooks.esimChanged(before, after);
  });
  return { obj: {}, loseAnswer: faults.hits('loseAnswer') };
}

/** An eSIM that is stopped before its first use does not start by itself. */
function stopped({ row, state }: FoundEsim, forcedStatus: string): EsimRow {
  const forcedSmdp = ON_THE_PHONE.has(row.forcedSmdp) ? row.forcedSmdp : null;
  return { ...row, activatesAtMs: state.activatedAtMs, forcedStatus, forcedSmdp };
}

export function suspended(esim: FoundEsim): EsimRow {
  const { esimStatus } = esim.state;
  if (esimStatus === 'SUSPENDED' || ENDED.has(esimStatus)) throw new SupplierError('200002');
  return stopped(esim, 'SUSPENDED');
}

function changing(changed: (esim: FoundEsim, context: SupplierContext) => EsimRow): Operation {
  return (context, params) => {
    const esim = requireEsim(context, params);
    return write(context, esim.row, changed(esim, context));
  };
}

/** One that no device has starts its wait for first use again. */
export function resumed(context: SupplierContext, { row, state, plan }: FoundEsim): EsimRow {
  if (state.esimStatus !== 'SUSPENDED') throw new SupplierError('200002');
  const activatesAtMs =
    state.activatedAtMs ?? (state.isOnDevice ? null : activationMs(context, plan.packageCode, context.now()));
  return { ...row, forcedStatus: null, activatesAtMs };
}

export const esimOperations = {
  'esim/query': (context, params) => {
    const { esims, orders } = context.storage;
    const { pager, orderNo, iccid, esimTranNo, startTime, endTime } = read(QUERY, params);
    if ((startTime === undefined) !== (endTime === undefined)) {
      throw new SupplierError('000105', 'startTime and endTime belong together');
    }
    if (orderNo !== undefined && orders.get(orderNo) === undefined) {
      throw new SupplierError('310272', `orderNo [${orderNo}] does not exist`);
    }
    const nowMs = context.now();
    const namesEsim = iccid !== undefined || esimTranNo !== undefined;
    // A list leaves out what is still being allocated.
    const allocatedAtMs = namesEsim || orderNo !== undefined ? undefined : { to: nowMs };
    const createdAtMs = { from: startTime, to: endTime };
    const where = { orderNo, iccid, esimTranNo, createdAtMs, allocatedAtMs };
    const { pageNum, pageSize } = pager;
    const rows = esims.list(where, { limit: pageSize, offset: (pageNum - 1) * pageSize });
    const total = esims.count(where);
    if (namesEsim && total === 0) throw new SupplierError('310403');
    if (rows.some((row) => row.allocatedAtMs === null || row.allocatedAtMs > nowMs)) {
      throw new SupplierError('200010');
    }
    const esimList = rows.map((row) => wireEsim(context, row));
    return { obj: { esimList, pager: { pageSize, pageNum, total } } };
  },
  /** Usage of at most ten eSIMs; unknown numbers are left out. */
  'esim/usage/query': (context, params) => {
    const { esimTranNoList } = read(USAGE, params);
    const lastUpdateTime = replyTime(context.now() - context.faults.current.usageLagMs);
    const rows = esimTranNoList.flatMap((tranNo) => context.storage.esims.get(tranNo) ?? []);
    const esimUsageList = rows.map((row) => ({
      esimTranNo: row.esimTranNo,
      dataUsage: reportedUsage(context, row),
      totalData: row.totalVolume,
      lastUpdateTime,
    }));
    return { obj: { esimUsageList } };
  },
  /** Only while unused and not downloaded; what was paid goes back. */
  'esim/cancel': (context, params) => {
    if (context.faults.hits('cancelUnseen')) throw new SupplierError(UNSEEN_CODE);
    const esim = requireEsim(context, params);
    const { cancel } = magicRule(esim.plan.packageCode) ?? {};
    if (cancel === 'silent') throw new SupplierError(UNSEEN_CODE);
    if (esim.state.esimStatus !== 'GOT_RESOURCE' || esim.state.smdpStatus !== 'RELEASED') {
      throw new SupplierError('200002');
    }
    const done = write(context, esim.row, stopped(esim, 'CANCEL'), esim.row.paid);
    return cancel === 'lose-answer' ? { ...done, loseAnswer: true } : done;
  },
  'esim/suspend': changing(suspended),
  'esim/unsuspend': changing((esim, context) => resumed(context, esim)),
  /** Takes the profile away for good, without a refund. */
  'esim/revoke': (context, params) => {
    const esim = requireEsim(context, params);
    const { cancel } = magicRule(esim.plan.packageCode) ?? {};
    if (cancel === 'silent') throw new SupplierError(UNSEEN_CODE);
    if (ENDED.has(esim.state.esimStatus)) throw new SupplierError('200002');
    const done = write(context, esim.row, stopped(esim, 'REVOKE'));
    return cancel === 'lose-answer' ? { ...done, loseAnswer: true } : done;
  },
  'esim/sendSms': (context, params) => {
    const { plan, state } = requireEsim(context, params);
    read(SMS, params);
    if (plan.smsStatus === 0) throw new SupplierError('200008', 'the eSIM has no SMS');
    if (state.activatedAtMs === null || ENDED.has(state.esimStatus)) throw new SupplierError('200002');
    return { obj: {} };
  },
} satisfies Operations;
