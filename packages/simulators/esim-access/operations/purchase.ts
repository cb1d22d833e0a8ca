/** A transactionId is taken once. A repeat is answered as the first time, whatever its body says. */
import { z } from 'zod';
import { snapshotOf, type CatalogueEntry } from '../catalogue.ts';
import { activationMs, effective, type Operations, type Outcome, type SupplierContext } from '../context.ts';
import type { EsimRow, OrderLine, OrderRow, TopUpRow } from '../storage.ts';
import { SupplierError, ESIM, read, text, whole, WHOLE, type Params } from '../errors.ts';
import { withState, type FoundEsim } from '../esim-state.ts';
import { magicRule, type MagicRule } from '../magic.ts';
import { iccidOf, replyTime } from '../numbers.ts';
import { requireEsim } from './esims.ts';

export const LONGEST_TRANSACTION_ID = 50;
const MAX_ESIMS = 30;
const TOPPABLE: ReadonlySet<string> = new Set(['GOT_RESOURCE', 'IN_USE', 'USED_UP']);

const PACKAGE = { packageCode: text(100), periodNum: WHOLE };
const PURCHASE = z.object({ transactionId: text(LONGEST_TRANSACTION_ID) });
const LINE = z.object({ ...PACKAGE, count: whole(1, MAX_ESIMS), price: WHOLE }, 'a list of objects');
const ORDER = z.object({ packageInfoList: z.array(LINE, 'a list').min(1), amount: WHOLE });
const TOP_UP = z.object({ ...ESIM, ...PACKAGE, amount: WHOLE });

function requirePackage(
  context: SupplierContext,
  code: string,
  find: (code: string) => CatalogueEntry | undefined,
): CatalogueEntry {
  const known = find(code);
  const entry = known && effective(context, known);
  if (entry === undefined) throw new SupplierError('310241', `packageCode [${code}] does not exist`);
  return entry;
}

/** `periodNum` of a purchase: 1 to 365, and only day-passes may have more than 1. */
function periodsOf(periods = 1, entry: CatalogueEntry): number {
  if (periods < 1 || periods > 365) throw new SupplierError('200008', 'periodNum must be from 1 to 365');
  if (periods > 1 && entry.item.dataType === 1) {
    throw new SupplierError('200008', 'periodNum is for daily plans');
  }
  return periods;
}

/** `tries`: how many calls with this transactionId were refused so far. */
function refuseByFault({ faults }: SupplierContext, rule: MagicRule = {}, tries = 0): void {
  if (rule.refuse !== undefined && tries < (rule.refuse.tries ?? Number.POSITIVE_INFINITY)) {
    throw new SupplierError(rule.refuse.code);
  }
  if (faults.hits('outOfStock')) throw new SupplierError('200011');
  if (faults.hits('priceChanged')) throw new SupplierError('200005');
  if (faults.hits('lowBalance')) throw new SupplierError('200007');
}

function losesAnswer({ faults }: SupplierContext, rule: MagicRule = {}, tries = 0): boolean {
  return faults.hits('loseAnswer') || (rule.loseAnswer === true && tries === 0);
}

/** Must run inside the purchase's transaction. */
function charge({ storage }: SupplierContext, total: number): void {
  const balance = storage.balance();
  if (balance < total) throw new SupplierError('200007');
  storage.setBalance(balance - total);
}

interface WantedLine extends OrderLine {
  entry: CatalogueEntry;
}

function readLine(context: SupplierContext, wanted: z.output<typeof LINE>): WantedLine {
  const entry = requirePackage(context, wanted.packageCode, context.catalogue.findBase);
  const { packageCode, price } = entry.item;
  const periodNum = periodsOf(wanted.periodNum, entry);
  if (wanted.price !== undefined && wanted.price !== price) throw new SupplierError('200005');
  return { entry, packageCode, count: wanted.count, periodNum, price };
}

function newEsim(context: SupplierContext, order: OrderRow, { entry, price, periodNum }: WantedLine) {
  const { createdAtMs, allocatedAtMs, orderNo, transactionId } = order;
  const esimTranNo = context.nextTranNo(createdAtMs);
  return {
    esimTranNo,
    orderNo,
    transactionId,
    iccid: (context.faults.hits('reuseIccid') ? reusableIccid(context) : undefined) ?? iccidOf(esimTranNo),
    plan: snapshotOf(entry),
    paid: price * periodNum,
    createdAtMs,
    allocatedAtMs,
    activatesAtMs: activationMs(context, entry.item.packageCode, allocatedAtMs),
    installedAtMs: null,
    clockAheadMs: 0,
    totalVolume: entry.item.volume * periodNum,
    totalDuration: entry.item.duration * periodNum,
    orderUsage: 0,
    laggingUsage: 0,
    usageAtMs: null,
    forcedStatus: null,
    forcedSmdp: null,
  };
}

function reusableIccid({ storage }: SupplierContext): string | undefined {
  const ended = ['CANCEL', 'REVOKE'].map((forcedStatus) =>
    storage.esims.find({ forcedStatus }, { isNewestFirst: true }),
  );
  return ended.flatMap((row) => row ?? []).sort((a, b) => (a.esimTranNo < b.esimTranNo ? 1 : -1))[0]?.iccid;
}

function placeOrder(context: SupplierContext, params: Params): Outcome {
  const { storage, faults } = context;
  const { transactionId } = read(PURCHASE, params);
  const known = storage.orders.find({ transactionId });
  if (faults.current.refusalsFirst) refuseByFault(context);
  if (known !== undefined) {
    storage.orders.put({ ...known, requests: known.requests + 1 });
    return { obj: { orderNo: known.orderNo, transactionId }, loseAnswer: losesAnswer(context) };
  }
  if (storage.topUps.get(transactionId) !== undefined) {
    throw new SupplierError('200008', 'transactionId belongs to a top-up');
  }
  const wanted = read(ORDER, params);
  const lines = wanted.packageInfoList.map((line) => readLine(context, line));
  if (lines.reduce((sum, line) => sum + line.count, 0) > MAX_ESIMS) {
    throw new SupplierError('200008', `an order has at most ${MAX_ESIMS} eSIMs`);
  }
  const tries = storage.tries(transactionId);
  const rule =
    lines.map(({ packageCode }) => magicRule(packageCode)).find((each) => each !== undefined) ?? {};
  refuseByFault(context, rule, tries);
  const amount = lines.reduce((sum, line) => sum + line.price * line.count * line.periodNum, 0);
  if (wanted.amount !== undefined && wanted.amount !== amount) throw new SupplierError('200006');
  const heldByFault = faults.hits('neverAllocate') ? 'fault' : null;
  const heldBy = rule.neverAllocate === true ? 'magic' : heldByFault;
  const createdAtMs = context.now();
  const allocationMs = Math.max(rule.slowMs ?? 0, faults.current.allocationMs);
  const order: OrderRow = {
    orderNo: `B${context.nextOrderNo(createdAtMs)}`,
    transactionId,
    amount,
    lines: lines.map((line) => ({ ...line, entry: undefined })),
    createdAtMs,
    allocatedAtMs: heldBy === null ? createdAtMs + allocationMs : null,
    heldBy,
    requests: tries + 1,
  };
  storage.database.transact(() => {
    charge(context, amount);
    storage.orders.put(order);
    for (const line of lines) {
      for (let i = 0; i < line.count; i += 1) storage.esims.put(newEsim(context, order, line));
    }
    context.webhooks.orderPlanned(order.orderNo, order.allocatedAtMs);
  });
  return { obj: { orderNo: order.orderNo, transactionId }, loseAnswer: losesAnswer(context, rule, tries) };
}

export function releaseOrders(context: SupplierContext, held: readonly OrderRow[]): void {
  const { storage } = context;
  const allocatedAtMs = context.now();
  storage.database.transact(() => {
    for (const order of held) {
      storage.orders.put({ ...order, allocatedAtMs, heldBy: null });
      for (const row of storage.esims.list({ orderNo: order.orderNo })) {
        const activatesAtMs = activationMs(context, row.plan.packageCode, allocatedAtMs);
        storage.esims.put({ ...row, allocatedAtMs, activatesAtMs });
      }
      context.webhooks.orderPlanned(order.orderNo, allocatedAtMs);
    }
  });
}

function answerTopUp({ faults }: SupplierContext, row: TopUpRow, loseAnswer: boolean): Outcome {
  const { topUpEsimTranNo, ...rest } = row.reply;
  const obj = faults.current.omitTopUpEsimTranNo ? rest : { ...rest, topUpEsimTranNo };
  return { obj, loseAnswer, answersAtMs: row.answersAtMs };
}

function findTopUp(context: SupplierContext, packageCode: string, { plan }: FoundEsim): CatalogueEntry {
  const entry = requirePackage(context, packageCode, context.catalogue.findTopUp);
  if (plan.supportTopUpType === 1) throw new SupplierError('200008', 'the eSIM supports no top-up');
  if (plan.topUpGroup !== entry.topUpGroup) {
    throw new SupplierError('200008', 'the top-up package does not fit the eSIM');
  }
  return entry;
}

function topUpEsim(context: SupplierContext, params: Params): Outcome {
  const { storage } = context;
  const { transactionId } = read(PURCHASE, params);
  const known = storage.topUps.get(transactionId);
  if (context.faults.current.refusalsFirst) refuseByFault(context);
  if (known !== undefined) {
    storage.topUps.put({ ...known, requests: known.requests + 1 });
    return answerTopUp(context, known, losesAnswer(context));
  }
  if (storage.orders.find({ transactionId }) !== undefined) {
    throw new SupplierError('200008', 'transactionId belongs to an order');
  }
  const esim = requireEsim(context, params);
  const wanted = read(TOP_UP, params);
  const entry = findTopUp(context, wanted.packageCode, esim);
  const tries = storage.tries(transactionId);
  const rule = magicRule(entry.item.packageCode) ?? {};
  refuseByFault(context, rule, tries);
  if (rule.neverAllocate === true) throw new SupplierError('900001');
  if (!TOPPABLE.has(esim.state.esimStatus)) throw new SupplierError('200002');
  const periods = periodsOf(wanted.periodNum, entry);
  const amount = entry.item.price * periods;
  if (wanted.amount !== undefined && wanted.amount !== amount) throw new SupplierError('200006');
  const topUp = applyTopUp(context, esim.row, { transactionId, entry, periods, amount, tries, rule });
  return answerTopUp(context, topUp, losesAnswer(context, rule, tries));
}

function applyTopUp(
  context: SupplierContext,
  before: EsimRow,
  bought: {
    transactionId: string;
    entry: CatalogueEntry;
    periods: number;
    amount: number;
    tries: number;
    rule: MagicRule;
  },
): TopUpRow {
  const { storage } = context;
  const { transactionId, entry, amount } = bought;
  const createdAtMs = context.now();
  const row = {
    ...before,
    paid: before.paid + amount,
    totalVolume: before.totalVolume + entry.item.volume * bought.periods,
    totalDuration: before.totalDuration + entry.item.duration * bought.periods,
  };
  const { esimTranNo, iccid, totalVolume, totalDuration, orderUsage } = row;
  const topUpEsimTranNo = context.nextTranNo(createdAtMs);
  const expiredTime = replyTime(withState(row, createdAtMs).state.expiresAtMs);
  const topUp: TopUpRow = {
    transactionId,
    topUpEsimTranNo,
    esimTranNo,
    amount,
    plan: snapshotOf(entry),
    createdAtMs,
    answersAtMs: createdAtMs + (bought.rule.slowMs ?? 0),
    requests: bought.tries + 1,
    reply: { transactionId, iccid, expiredTime, totalVolume, totalDuration, orderUsage, topUpEsimTranNo },
  };
  storage.database.transact(() => {
    charge(context, amount);
    storage.topUps.put(topUp);
    storage.esims.put(row);
    context.webhooks.esimChanged(before, row);
  });
  return topUp;
}

export const purchaseOperations = { 'esim/order': placeOrder, 'esim/topup': topUpEsim } satisfies Operations;
