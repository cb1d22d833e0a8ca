/**
 * The supplier's half of a run: orders and balance. Guarantee: counts as missing only what the supplier does
 * not list when asked for it alone.
 */
import { compareBalance, compareOrders, NOTHING_PAID_IN, type SupplierLine } from './supplier-rules.ts';
import type { PackageType } from '../domain/states.ts';
import type { ListedOrder } from '../esims/port.ts';
import { findAgreedSum, findOpenSubjects } from './store/reconciliation.ts';
import { findLines, type NewLine, type Slice } from './store/lines.ts';
import {
  findLedgerRange,
  findListCosts,
  findOurOrders,
  findUnlistedDeliveries,
  readSupplierUse,
  type OurOrderRow,
} from './store/orders.ts';
import {
  compareListed,
  compareOneByOne,
  compareUnlisted,
  createListingGuard,
  keepListed,
  keepVerdicts,
  later,
  ownSlices,
  PAGE_ROWS,
  verdictAt,
  type RunContext,
} from './run.ts';

/** An order is listed between the start and the end of its purchase, by the supplier's clock. */
const LIST_SLACK_MS = 120_000;

/** Reads the supplier's orders of a time into the run's lines. */
export function readOrders(context: RunContext, { from, to }: Slice): Promise<void> {
  return keepListed(context, context.supplier.orders(from, to), toLine);
}

function toLine(order: ListedOrder): NewLine {
  return {
    part: 'order',
    reference: order.transactionId === '' ? order.orderNo : order.transactionId,
    line_id: `${order.orderNo} ${order.esimTranNo}`,
    currency: '',
    amount_minor: 0n,
    fees_minor: 0n,
    fees_on_top_minor: 0n,
    refund_key: '',
    package_code: order.packageCode,
    is_refunded: order.isRefunded,
    opened_at: order.listedAt,
    at: order.at,
  };
}

/** Compares everything that was listed with ours, then what is ours and was not listed. */
export async function compareSupplier(context: RunContext): Promise<void> {
  await compareListed(context, 'supplier', (references) => comparePage(context, references));
  const refuted = createListingGuard("the supplier's list of orders");
  for (const slice of ownSlices(context)) {
    await compareUnlistedOf(context, 'BASE', slice, refuted);
    // The list goes by eSIMs, so top-ups of older eSIMs are asked for one by one, and only once.
    const fresh = { from: later(slice.from, context.newFrom), to: slice.to };
    if (fresh.from < fresh.to) await compareUnlistedOf(context, 'TOPUP', fresh);
  }
  await compareOldTopUps(context);
}

async function comparePage({ db, runId, rules }: RunContext, references: readonly string[]) {
  const orders = await findOurOrders(db, references);
  const ids = [...new Set([...references, ...orders.flatMap((order) => order.supplierIds)])];
  const lines = await findLines(db, runId, { side: 'supplier', references: ids });
  const costAt = await findListCosts(
    db,
    lines.map((line) => line.package_code),
  );
  const ours = new Map(orders.flatMap((order) => order.supplierIds.map((id) => [id, order])));
  const groups = Map.groupBy(lines, (line) => ours.get(line.reference)?.transactionId ?? line.reference);
  return [...groups].map(([id, own]) => {
    const theirs = own.map((line): SupplierLine => ({
      transactionId: line.reference,
      orderNo: line.line_id.split(' ')[0] ?? '',
      packageCode: line.package_code,
      isRefunded: line.is_refunded,
      at: line.at,
      listCostUsdE4: costAt(line.package_code, line.at ?? line.opened_at),
    }));
    return verdictAt(
      compareOrders(id, ours.get(id), theirs, rules),
      own.map((line) => line.opened_at),
    );
  });
}

async function compareUnlistedOf(
  context: RunContext,
  packageType: PackageType,
  slice: Slice,
  onFound?: () => void,
): Promise<void> {
  const { db, runId } = context;
  const { fromId, toId } = await findLedgerRange(db, slice);
  if (fromId === null) return;
  const range = { ...slice, packageType, toId, limit: PAGE_ROWS };
  await compareUnlisted(
    context,
    'supplier',
    (afterId: bigint = fromId - 1n) => findUnlistedDeliveries(db, runId, { ...range, afterId }),
    (orders) => compareOneByOne(orders, { ...asking(context), onFound, at: (order) => order.bookedAt }),
  );
}

const asking = (context: RunContext) => ({
  compare: (order: OurOrderRow, lines: readonly SupplierLine[]) =>
    compareOrders(order.transactionId, order, lines, context.rules),
  ask: (order: OurOrderRow) => askFor(context, order),
});

/** Searches what was listed while the purchase's eSIM was being ordered; its top-ups are in the same list. */
async function askFor({ supplier, signal }: RunContext, { supplierIds, listed }: OurOrderRow) {
  signal?.throwIfAborted();
  const from = new Date(listed.from.getTime() - LIST_SLACK_MS);
  const to = new Date(listed.to.getTime() + LIST_SLACK_MS);
  const lines: SupplierLine[] = [];
  for await (const order of supplier.orders(from, to)) {
    if (supplierIds.includes(order.transactionId)) lines.push({ ...order, listCostUsdE4: null });
  }
  return lines;
}

/** Asks again for top-ups that were missing before. */
async function compareOldTopUps(context: RunContext): Promise<void> {
  const { db, runId } = context;
  const subjects = await findOpenSubjects(db, 'supplier-order-missing', runId);
  for (let from = 0; from < subjects.length; from += PAGE_ROWS) {
    const orders = await findOurOrders(db, subjects.slice(from, from + PAGE_ROWS));
    const topUps = orders.filter((order) => order.packageType === 'TOPUP');
    await keepVerdicts(context, 'supplier', () =>
      compareOneByOne(topUps, { ...asking(context), at: (order) => order.lastMovedAt }),
    );
  }
}

/** Compares the balance with what was used since the last agreed sum; returns the sum agreed on now. */
export async function compareSupplierBalance(context: RunContext) {
  const { db, supplier, clock } = context;
  const agreed = (await findAgreedSum(db)) ?? NOTHING_PAID_IN;
  let compared = { balanceUsdE4: 0n, agreedSum: agreed };
  await keepVerdicts(context, 'supplier', async () => {
    const before = await readSupplierUse(db, supplier.name);
    const balanceUsdE4 = await supplier.balance();
    const after = await readSupplierUse(db, supplier.name);
    const { verdict, agreed: agreedSum } = compareBalance({ before, balanceUsdE4, after }, agreed);
    compared = { balanceUsdE4, agreedSum };
    return [verdictAt(verdict, [clock.now()])];
  });
  return compared;
}
