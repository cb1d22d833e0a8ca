/** POST /esim/query and /esim/usage/query. 200010 while profiles are still being allocated. */
import type { Outcome, SupplierContext } from '../context.ts';
import { SupplierError } from '../errors.ts';
import { eidOf, imsiOf, matchingIdOf, pinOf, pukOf, qrNameOf } from '../numbers.ts';
import {
  mandatory,
  mandatoryInteger,
  mandatoryObject,
  optionalText,
  optionalTimeMs,
  type Params,
} from '../params.ts';
import type { EsimRow } from '../storage/tables.ts';
import { planOf, withState } from '../esim-state.ts';
import { replyTime } from '../wire.ts';

const MAX_USAGE_QUERIES = 10;

function packageLine(
  bought: { plan: string; createdAtMs: number; transactionId: string },
  esimTranNo: string,
) {
  const plan = planOf(bought);
  return {
    packageName: plan.packageName,
    packageCode: plan.packageCode,
    slug: plan.slug,
    duration: plan.duration,
    volume: plan.volume,
    locationCode: plan.locationCode,
    createTime: replyTime(bought.createdAtMs),
    esimTranNo,
    transactionId: bought.transactionId,
  };
}

/** Usage as a report that may lag says it. */
function reportedUsage(context: SupplierContext, row: EsimRow): number {
  const isFresh = row.usageAtMs !== null && context.now() < row.usageAtMs + context.faults.current.usageLagMs;
  return isFresh ? row.laggingUsage : row.orderUsage;
}

/** The fields of a live answer, in its order. */
function wireEsim(context: SupplierContext, row: EsimRow) {
  const { plan, state } = withState(row, context.now());
  const tranNo = row.esimTranNo;
  const activateTime = state.activatedAtMs === null ? null : replyTime(state.activatedAtMs);
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
    activateTime,
    expiredTime: replyTime(state.expiresAtMs),
    installationTime: state.installedAtMs === null ? null : replyTime(state.installedAtMs),
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
      ...context.orders.topUpsOfEsim(tranNo).map((topUp) => packageLine(topUp, topUp.topUpEsimTranNo)),
    ],
  };
}

/** The LPA string a phone installs from. */
export function activationCodeOf(context: SupplierContext, esimTranNo: string): string {
  return `LPA:1$${context.smdpHost}$${matchingIdOf(esimTranNo)}`;
}

function readFilter(context: SupplierContext, params: Params) {
  const orderNo = optionalText(params, 'orderNo');
  const iccid = optionalText(params, 'iccid');
  const esimTranNo = optionalText(params, 'esimTranNo');
  const createdFromMs = optionalTimeMs(params, 'startTime');
  const createdToMs = optionalTimeMs(params, 'endTime');
  if ((createdFromMs === undefined) !== (createdToMs === undefined)) {
    throw new SupplierError('000105', 'startTime and endTime belong together');
  }
  if (orderNo !== undefined && context.orders.orderByNo(orderNo) === undefined) {
    throw new SupplierError('310272', `orderNo [${orderNo}] does not exist`);
  }
  return { orderNo, iccid, esimTranNo, createdFromMs, createdToMs };
}

/** `/esim/query`: a page of eSIMs by orderNo, iccid, esimTranNo or time of order. */
export function queryEsims(context: SupplierContext, params: Params): Outcome {
  const pager = mandatoryObject(params, 'pager');
  const pageNum = mandatoryInteger(pager, 'pageNum', 1, 10_000);
  const pageSize = mandatoryInteger(pager, 'pageSize', 1, 500);
  const filter = readFilter(context, params);
  const nowMs = context.now();
  const namesEsim = filter.iccid !== undefined || filter.esimTranNo !== undefined;
  const { rows, totals } = context.orders.listEsims(
    namesEsim || filter.orderNo !== undefined ? filter : { ...filter, allocatedBy: nowMs },
    pageSize,
    (pageNum - 1) * pageSize,
  );
  if (namesEsim && totals.total === 0) throw new SupplierError('310403');
  if (rows.some((row) => row.allocatedAtMs === null || row.allocatedAtMs > nowMs)) {
    throw new SupplierError('200010');
  }
  return {
    obj: { esimList: rows.map((row) => wireEsim(context, row)), pager: { pageSize, pageNum, ...totals } },
  };
}

/** `/esim/usage/query`: usage of at most ten eSIMs; unknown numbers are left out. */
export function queryUsage(context: SupplierContext, params: Params): Outcome {
  const list = mandatory(params, 'esimTranNoList');
  if (!Array.isArray(list) || !list.every((each) => typeof each === 'string')) {
    throw new SupplierError('200008', 'esimTranNoList must be a list of strings');
  }
  if (list.length === 0 || list.length > MAX_USAGE_QUERIES) {
    throw new SupplierError('000107', `esimTranNoList must have 1 to ${MAX_USAGE_QUERIES} entries`);
  }
  const rows = list.flatMap((tranNo) => context.orders.esimByTranNo(tranNo) ?? []);
  return {
    obj: {
      esimUsageList: rows.map((row) => ({
        esimTranNo: row.esimTranNo,
        dataUsage: reportedUsage(context, row),
        totalData: row.totalVolume,
        lastUpdateTime: replyTime(context.now() - context.faults.current.usageLagMs),
      })),
    },
  };
}
