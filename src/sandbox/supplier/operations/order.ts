/**
 * POST /esim/order. Guarantee: a transactionId is taken once; balance, order and eSIMs are one transaction; a repeat is answered
 * with the first orderNo, whatever its body says.
 */
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import { effective, type Outcome, type SupplierContext } from '../context.ts';
import { SupplierError } from '../errors.ts';
import { iccidOf } from '../numbers.ts';
import {
  mandatoryInteger,
  mandatoryObjects,
  mandatoryText,
  optionalInteger,
  type Params,
} from '../params.ts';
import type { EsimRow, OrderLine, OrderRow, PlanSnapshot } from '../storage/rows.ts';
import { charge, refuseIfTold, ruleOf } from './trouble.ts';

const MOST_ESIMS = 30;
export const LONGEST_TRANSACTION_ID = 50;
const planJson = new WeakMap<CatalogueEntry, string>();

interface WantedLine extends OrderLine {
  entry: CatalogueEntry;
}

/** What a bought package is remembered as, in JSON. */
export function snapshotJson(entry: CatalogueEntry): string {
  const known = planJson.get(entry);
  if (known !== undefined) return known;
  const { item } = entry;
  const plan: PlanSnapshot = {
    packageCode: item.packageCode,
    slug: item.slug,
    packageName: item.name,
    locationCode: item.locationCode,
    topUpGroup: entry.topUpGroup,
    volume: item.volume,
    duration: item.duration,
    dataType: item.dataType,
    smsStatus: item.smsStatus,
    activeType: item.activeType,
    unusedValidTime: item.unusedValidTime,
    ipExport: item.ipExport,
    supportTopUpType: item.supportTopUpType,
    fupPolicy: item.fupPolicy,
  };
  const json = JSON.stringify(plan);
  planJson.set(entry, json);
  return json;
}

/** `periodNum` of a purchase: 1 to 365, and only day-passes may have more than 1. */
export function periodsOf(params: Params, entry: CatalogueEntry): number {
  const periods = optionalInteger(params, 'periodNum') ?? 1;
  if (periods < 1 || periods > 365) throw new SupplierError('200008', 'periodNum must be from 1 to 365');
  if (periods > 1 && entry.item.dataType === 1) {
    throw new SupplierError('200008', 'periodNum is for daily plans');
  }
  return periods;
}

function readLine(context: SupplierContext, params: Params): WantedLine {
  const code = mandatoryText(params, 'packageCode', 100);
  const known = context.catalogue.findBase(code);
  const entry = known === undefined ? undefined : effective(context, known);
  if (entry === undefined) throw new SupplierError('310241', `packageCode [${code}] does not exist`);
  const count = mandatoryInteger(params, 'count', 1, MOST_ESIMS);
  const periodNum = periodsOf(params, entry);
  const price = optionalInteger(params, 'price');
  if (price !== undefined && price !== entry.item.price) throw new SupplierError('200005');
  return { entry, packageCode: entry.item.packageCode, count, periodNum, price: entry.item.price };
}

function newEsim(context: SupplierContext, order: OrderRow, line: WantedLine, nowMs: number): EsimRow {
  const esimTranNo = context.nextTranNo(nowMs);
  const used = context.faults.hits('reuseIccid') ? context.orders.reusableIccid() : undefined;
  const { allocatedAtMs } = order;
  const { activateAfterMs } = context;
  return {
    esimTranNo,
    orderNo: order.orderNo,
    transactionId: order.transactionId,
    iccid: used ?? iccidOf(esimTranNo),
    plan: snapshotJson(line.entry),
    paid: line.price * line.periodNum,
    createdAtMs: nowMs,
    allocatedAtMs,
    activatesAtMs:
      allocatedAtMs === null || activateAfterMs === null ? null : allocatedAtMs + activateAfterMs,
    totalVolume: line.entry.item.volume * line.periodNum,
    totalDuration: line.entry.item.duration * line.periodNum,
    orderUsage: 0,
    laggingUsage: 0,
    usageAtMs: null,
    forcedStatus: null,
    forcedSmdp: null,
  };
}

function take(
  context: SupplierContext,
  transactionId: string,
  lines: WantedLine[],
  when: { tries: number; heldBy: OrderRow['heldBy']; allocationMs: number },
): OrderRow {
  const nowMs = context.now();
  const amount = lines.reduce((sum, line) => sum + line.price * line.count * line.periodNum, 0);
  const order: OrderRow = {
    orderNo: `B${context.nextOrderNo(nowMs)}`,
    transactionId,
    amount,
    lines: JSON.stringify(
      lines.map(({ packageCode, count, price, periodNum }): OrderLine => ({
        packageCode,
        count,
        price,
        periodNum,
      })),
    ),
    createdAtMs: nowMs,
    allocatedAtMs: when.heldBy === null ? nowMs + when.allocationMs : null,
    heldBy: when.heldBy,
    requests: when.tries + 1,
  };
  context.database.transact(() => {
    charge(context, amount);
    context.orders.insertOrder(order);
    for (const line of lines) {
      for (let i = 0; i < line.count; i += 1) context.orders.insertEsim(newEsim(context, order, line, nowMs));
    }
    context.webhooks.orderPlanned(order.orderNo, order.allocatedAtMs);
  });
  return order;
}

/** `/esim/order`: charges and takes the order; profiles follow, until then `/esim/query` answers 200010. */
export function placeOrder(context: SupplierContext, params: Params): Outcome {
  const transactionId = mandatoryText(params, 'transactionId', LONGEST_TRANSACTION_ID);
  const known = context.orders.orderByTransaction(transactionId);
  if (context.faults.current.refusalsFirst) refuseIfTold(context, {}, 0);
  if (known !== undefined) {
    context.orders.countOrderRequest(known.orderNo);
    return { obj: { orderNo: known.orderNo, transactionId }, loseAnswer: context.faults.hits('loseAnswer') };
  }
  if (context.orders.topUpByTransaction(transactionId) !== undefined) {
    throw new SupplierError('200008', 'transactionId belongs to a top-up');
  }
  const lines = mandatoryObjects(params, 'packageInfoList').map((line) => readLine(context, line));
  if (lines.reduce((sum, line) => sum + line.count, 0) > MOST_ESIMS) {
    throw new SupplierError('200008', `an order has at most ${MOST_ESIMS} eSIMs`);
  }
  const tries = context.account.tries(transactionId);
  const rule = ruleOf(lines.map((line) => line.packageCode));
  refuseIfTold(context, rule, tries);
  const amount = optionalInteger(params, 'amount');
  const total = lines.reduce((sum, line) => sum + line.price * line.count * line.periodNum, 0);
  if (amount !== undefined && amount !== total) throw new SupplierError('200006');
  const heldByFault = context.faults.hits('neverAllocate');
  const order = take(context, transactionId, lines, {
    tries,
    heldBy: rule.neverAllocate === true ? 'magic' : heldByFault ? 'fault' : null,
    allocationMs: Math.max(rule.slowMs ?? 0, context.faults.current.allocationMs),
  });
  const isFirstCall = tries === 0;
  const loseAnswer = context.faults.hits('loseAnswer') || (rule.loseAnswer === true && isFirstCall);
  return { obj: { orderNo: order.orderNo, transactionId }, loseAnswer };
}

/** Lets orders go that were held back by `heldBy` (or one order whatever holds it): their profiles exist from now on. */
export function releaseOrders(context: SupplierContext, held: readonly OrderRow[]): void {
  const nowMs = context.now();
  const { activateAfterMs } = context;
  context.database.transact(() => {
    for (const order of held) {
      context.orders.freeOrder(
        order.orderNo,
        nowMs,
        activateAfterMs === null ? null : nowMs + activateAfterMs,
      );
      context.webhooks.orderPlanned(order.orderNo, nowMs);
    }
  });
}
