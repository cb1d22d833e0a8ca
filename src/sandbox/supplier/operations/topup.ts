/** POST /esim/topup. A transactionId tops up once; a repeat gets the first answer unchanged. */
import type { Outcome, SupplierContext } from '../context.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import { SupplierError } from '../errors.ts';
import { withState, type FoundEsim } from '../esim-state.ts';
import { mandatoryText, type Params } from '../params.ts';
import type { TopUpRow } from '../storage/tables.ts';
import { replyTime } from '../wire.ts';
import { requireEsim } from './find-esim.ts';
import * as buying from './purchase.ts';

const TOPPABLE: ReadonlySet<string> = new Set(['GOT_RESOURCE', 'IN_USE', 'USED_UP']);

function answer(context: SupplierContext, row: TopUpRow, loseAnswer: boolean): Outcome {
  const obj = JSON.parse(row.reply) as Record<string, unknown>;
  if (context.faults.current.omitTopUpEsimTranNo) delete obj['topUpEsimTranNo'];
  return { obj, loseAnswer, answersAtMs: row.answersAtMs };
}

function findTopUp(context: SupplierContext, params: Params, esim: FoundEsim): CatalogueEntry {
  const entry = buying.requirePackage(context, params, context.catalogue.findTopUp);
  if (esim.plan.supportTopUpType === 1) throw new SupplierError('200008', 'the eSIM supports no top-up');
  if (esim.plan.topUpGroup !== entry.topUpGroup) {
    throw new SupplierError('200008', 'the top-up package does not fit the eSIM');
  }
  return entry;
}

function apply(
  context: SupplierContext,
  esim: FoundEsim,
  purchase: { transactionId: string; entry: CatalogueEntry; periods: number; amount: number; tries: number },
  slowMs: number,
): TopUpRow {
  const nowMs = context.now();
  const { item } = purchase.entry;
  const before = esim.row;
  const row = {
    ...before,
    paid: before.paid + purchase.amount,
    totalVolume: before.totalVolume + item.volume * purchase.periods,
    totalDuration: before.totalDuration + item.duration * purchase.periods,
  };
  const topUpEsimTranNo = context.nextTranNo(nowMs);
  const topUp: TopUpRow = {
    transactionId: purchase.transactionId,
    topUpEsimTranNo,
    esimTranNo: row.esimTranNo,
    amount: purchase.amount,
    plan: buying.snapshotJson(purchase.entry),
    volume: item.volume * purchase.periods,
    duration: item.duration * purchase.periods,
    createdAtMs: nowMs,
    answersAtMs: nowMs + slowMs,
    requests: purchase.tries + 1,
    reply: JSON.stringify({
      transactionId: purchase.transactionId,
      iccid: row.iccid,
      expiredTime: replyTime(withState(row, nowMs).state.expiresAtMs),
      totalVolume: row.totalVolume,
      totalDuration: row.totalDuration,
      orderUsage: row.orderUsage,
      topUpEsimTranNo,
    }),
  };
  context.database.transact(() => {
    buying.charge(context, purchase.amount);
    context.orders.insertTopUp(topUp);
    context.orders.updateEsim(row);
    context.webhooks.esimChanged(before, row);
  });
  return topUp;
}

/** `/esim/topup`: adds a TOPUP package's volume and days to an eSIM that is new, in use or used up. */
export function topUpEsim(context: SupplierContext, params: Params): Outcome {
  const transactionId = mandatoryText(params, 'transactionId', buying.LONGEST_TRANSACTION_ID);
  const known = context.orders.topUpByTransaction(transactionId);
  if (context.faults.current.refusalsFirst) buying.refuseByFault(context);
  if (known !== undefined) {
    context.orders.countTopUpRequest(transactionId);
    return answer(context, known, buying.losesAnswer(context));
  }
  if (context.orders.orderByTransaction(transactionId) !== undefined) {
    throw new SupplierError('200008', 'transactionId belongs to an order');
  }
  const esim = requireEsim(context, params);
  const entry = findTopUp(context, params, esim);
  const tries = context.account.tries(transactionId);
  const rule = buying.ruleOf([entry.item.packageCode]);
  buying.refuseByFault(context, rule, tries);
  if (rule.neverAllocate === true) throw new SupplierError('900001');
  if (!TOPPABLE.has(esim.state.esimStatus)) throw new SupplierError('200002');
  const periods = buying.periodsOf(params, entry);
  const total = entry.item.price * periods;
  buying.requireTotal(params, total);
  const purchase = { transactionId, entry, periods, amount: total, tries };
  const topUp = apply(context, esim, purchase, rule.slowMs ?? 0);
  return answer(context, topUp, buying.losesAnswer(context, rule, tries));
}
