/**
 * What the supplier really holds, for scripts: orders and top-ups with the state of their eSIMs, without
 * activation code, PIN or PUK.
 */
import type { SupplierContext } from '../context.ts';
import { withState } from '../esim-state.ts';
import type { EsimRow, OrderRow, TopUpRow } from '../storage.ts';

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** One eSIM; times ISO 8601. */
export function esimView(context: SupplierContext, row: EsimRow) {
  const { plan, state } = withState(row, context.now());
  return {
    esimTranNo: row.esimTranNo,
    iccid: row.iccid,
    packageCode: plan.packageCode,
    esimStatus: state.esimStatus,
    smdpStatus: state.smdpStatus,
    orderUsage: row.orderUsage,
    totalVolume: row.totalVolume,
    totalDuration: row.totalDuration,
    activateTime: state.activatedAtMs === null ? null : iso(state.activatedAtMs),
    expiredTime: iso(state.expiresAtMs),
    clockAheadMs: row.clockAheadMs,
  };
}

/** `amount` is USD x 10,000. */
function orderView(context: SupplierContext, order: OrderRow) {
  const esims = context.storage.esims.list({ orderNo: order.orderNo });
  const isAllocated = order.allocatedAtMs !== null && order.allocatedAtMs <= context.now();
  return {
    kind: 'order',
    transactionId: order.transactionId,
    orderNo: order.orderNo,
    esimTranNo: esims[0]?.esimTranNo ?? '',
    esimTranNos: esims.map((row) => row.esimTranNo),
    packageCode: order.lines[0]?.packageCode ?? '',
    count: esims.length,
    amount: order.amount,
    status: isAllocated ? 'GOT_RESOURCE' : 'GETTING_RESOURCE',
    createdAt: iso(order.createdAtMs),
    requests: order.requests,
    esims: esims.map((row) => esimView(context, row)),
  };
}

function topUpView(context: SupplierContext, topUp: TopUpRow) {
  const esim = context.storage.esims.get(topUp.esimTranNo);
  return {
    kind: 'topup',
    transactionId: topUp.transactionId,
    orderNo: esim?.orderNo ?? '',
    esimTranNo: topUp.esimTranNo,
    esimTranNos: [topUp.esimTranNo],
    packageCode: topUp.plan.packageCode,
    count: 1,
    amount: topUp.amount,
    status: 'DONE',
    createdAt: iso(topUp.createdAtMs),
    requests: topUp.requests,
    esims: esim === undefined ? [] : [esimView(context, esim)],
  };
}

/** Purchases with this transactionId, or the newest `limit` of all, newest first. */
export function listPurchases(context: SupplierContext, transactionId: string | null, limit: number) {
  const { orders, topUps } = context.storage;
  const where = { transactionId: transactionId ?? undefined };
  const page = { isNewestFirst: true, limit };
  return [
    ...orders.list(where, page).map((order) => orderView(context, order)),
    ...topUps.list(where, page).map((topUp) => topUpView(context, topUp)),
  ]
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0))
    .slice(0, limit);
}
