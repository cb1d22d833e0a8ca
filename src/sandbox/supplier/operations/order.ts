/** POST /esim/order. A transactionId is taken once; a repeat is answered with the first orderNo, whatever its body says. */
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import { magicRule } from '../catalogue/magic.ts';
import type { Outcome, SupplierContext } from '../context.ts';
import { SupplierError } from '../errors.ts';
import { planOf } from '../esim-state.ts';
import { iccidOf } from '../numbers.ts';
import {
  mandatoryInteger,
  mandatoryObjects,
  mandatoryText,
  optionalInteger,
  type Params,
} from '../params.ts';
import type { EsimRow, OrderLine, OrderRow } from '../storage/tables.ts';
import * as buying from './purchase.ts';

const MAX_ESIMS = 30;

interface WantedLine extends OrderLine {
  entry: CatalogueEntry;
}

function readLine(context: SupplierContext, params: Params): WantedLine {
  const entry = buying.requirePackage(context, params, context.catalogue.findBase);
  const count = mandatoryInteger(params, 'count', 1, MAX_ESIMS);
  const periodNum = buying.periodsOf(params, entry);
  const price = optionalInteger(params, 'price');
  if (price !== undefined && price !== entry.item.price) throw new SupplierError('200005');
  return { entry, packageCode: entry.item.packageCode, count, periodNum, price: entry.item.price };
}

/** When an eSIM of this package that is allocated at this moment goes into use; null: not by itself. */
export function activationMs(
  { activateAfterMs }: SupplierContext,
  packageCode: string,
  allocatedAtMs: number | null,
): number | null {
  if (allocatedAtMs === null || activateAfterMs === null) return null;
  return magicRule(packageCode)?.manualLife === true ? null : allocatedAtMs + activateAfterMs;
}

function newEsim(context: SupplierContext, order: OrderRow, line: WantedLine): EsimRow {
  const { createdAtMs, allocatedAtMs } = order;
  const esimTranNo = context.nextTranNo(createdAtMs);
  const used = context.faults.hits('reuseIccid') ? context.orders.reusableIccid() : undefined;
  return {
    esimTranNo,
    orderNo: order.orderNo,
    transactionId: order.transactionId,
    iccid: used ?? iccidOf(esimTranNo),
    plan: buying.snapshotJson(line.entry),
    paid: line.price * line.periodNum,
    createdAtMs,
    allocatedAtMs,
    activatesAtMs: activationMs(context, line.packageCode, allocatedAtMs),
    installedAtMs: null,
    clockAheadMs: 0,
    totalVolume: line.entry.item.volume * line.periodNum,
    totalDuration: line.entry.item.duration * line.periodNum,
    orderUsage: 0,
    laggingUsage: 0,
    usageAtMs: null,
    forcedStatus: null,
    forcedSmdp: null,
  };
}

/** Charges and writes the order with its eSIMs, in one transaction. */
function take(context: SupplierContext, order: OrderRow, lines: WantedLine[]): void {
  context.database.transact(() => {
    buying.charge(context, order.amount);
    context.orders.insertOrder(order);
    for (const line of lines) {
      for (let i = 0; i < line.count; i += 1) context.orders.insertEsim(newEsim(context, order, line));
    }
    context.webhooks.orderPlanned(order.orderNo, order.allocatedAtMs);
  });
}

/** `/esim/order`: charges and takes the order; profiles follow, until then `/esim/query` answers 200010. */
export function placeOrder(context: SupplierContext, params: Params): Outcome {
  const transactionId = mandatoryText(params, 'transactionId', buying.LONGEST_TRANSACTION_ID);
  const known = context.orders.orderByTransaction(transactionId);
  if (context.faults.current.refusalsFirst) buying.refuseByFault(context);
  if (known !== undefined) {
    context.orders.countOrderRequest(transactionId);
    return { obj: { orderNo: known.orderNo, transactionId }, loseAnswer: buying.losesAnswer(context) };
  }
  if (context.orders.topUpByTransaction(transactionId) !== undefined) {
    throw new SupplierError('200008', 'transactionId belongs to a top-up');
  }
  const lines = mandatoryObjects(params, 'packageInfoList').map((line) => readLine(context, line));
  if (lines.reduce((sum, line) => sum + line.count, 0) > MAX_ESIMS) {
    throw new SupplierError('200008', `an order has at most ${MAX_ESIMS} eSIMs`);
  }
  const tries = context.account.tries(transactionId);
  const rule = buying.ruleOf(lines.map((line) => line.packageCode));
  buying.refuseByFault(context, rule, tries);
  const amount = lines.reduce((sum, line) => sum + line.price * line.count * line.periodNum, 0);
  buying.requireTotal(params, amount);
  const heldByFault = context.faults.hits('neverAllocate') ? 'fault' : null;
  const heldBy = rule.neverAllocate === true ? 'magic' : heldByFault;
  const allocationMs = Math.max(rule.slowMs ?? 0, context.faults.current.allocationMs);
  const nowMs = context.now();
  const order: OrderRow = {
    orderNo: `B${context.nextOrderNo(nowMs)}`,
    transactionId,
    amount,
    lines: JSON.stringify(lines, ['packageCode', 'count', 'price', 'periodNum']),
    createdAtMs: nowMs,
    allocatedAtMs: heldBy === null ? nowMs + allocationMs : null,
    heldBy,
    requests: tries + 1,
  };
  take(context, order, lines);
  return {
    obj: { orderNo: order.orderNo, transactionId },
    loseAnswer: buying.losesAnswer(context, rule, tries),
  };
}

/** Releases held orders: their profiles exist from now on. */
export function releaseOrders(context: SupplierContext, held: readonly OrderRow[]): void {
  const nowMs = context.now();
  context.database.transact(() => {
    for (const { orderNo } of held) {
      const activatesAtMs = (row: EsimRow) => activationMs(context, planOf(row).packageCode, nowMs);
      context.orders.freeOrder(orderNo, nowMs, activatesAtMs);
      context.webhooks.orderPlanned(orderNo, nowMs);
    }
  });
}
