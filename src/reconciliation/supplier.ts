/**
 * The supplier's half of a run: its list of orders is read into the run's lines and compared with deliveries in both directions, then its balance
 * with what the ledger has used. Guarantee: asks slowly, and counts as missing only what it does not name when asked for it alone.
 */
import { compareBalance, compareOrders, type AgreedSum, type SupplierLine } from './supplier-rules.ts';
import type { PackageType } from '../domain/states.ts';
import type { ListedOrder } from '../esims/port.ts';
import { findAgreedSum, findOpenSubjects } from './store/reconciliation.ts';
import {
  findLines,
  keepLines,
  nextReferences,
  SUPPLIER_PARTS,
  type LineRow,
  type NewLine,
  type Slice,
} from './store/lines.ts';
import {
  findLedgerRange,
  findListCosts,
  findOurOrders,
  findUnseenDeliveries,
  readSupplierUse,
  type OurOrderRow,
  type UnseenDeliveries,
} from './store/orders.ts';
import {
  createListDoubter,
  verdictAt,
  throwIfAborted,
  keepVerdicts,
  later,
  ownSlices,
  PAGE_ROWS,
  pause,
  type Dated,
  type RunContext,
} from './run.ts';

/** An order is listed between its purchase's beginning and its end, by a clock that is not ours. */
const LIST_SLACK_MS = 120_000;

/** Reads the supplier's orders of a time into the run's lines. */
export async function readOrders(context: RunContext, slice: Slice): Promise<void> {
  const { db, supplier, runId, settings } = context;
  let page: NewLine[] = [];
  for await (const order of supplier.orders(slice.from, slice.to)) {
    page.push(toLine(order));
    if (page.length < PAGE_ROWS) continue;
    throwIfAborted(context);
    await keepLines(db, runId, page);
    page = [];
    await pause(settings.supplierPauseMs);
  }
  await keepLines(db, runId, page);
  await pause(settings.supplierPauseMs);
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
  await compareListed(context);
  const refuted = createListDoubter("the supplier's list of orders");
  for (const slice of ownSlices(context)) {
    await compareUnseen(context, 'BASE', slice, refuted);
    // The list goes by eSIMs, so top-ups of older ones are asked for one by one, and once.
    const fresh = { from: later(slice.from, context.newFrom), to: slice.to };
    if (fresh.from < fresh.to) await compareUnseen(context, 'TOPUP', fresh, () => undefined);
  }
  await compareOldTopUps(context);
}

async function compareListed(context: RunContext): Promise<void> {
  const { db, runId } = context;
  for (let after = ''; ;) {
    const references = await nextReferences(db, runId, { parts: SUPPLIER_PARTS, after, limit: PAGE_ROWS });
    const last = references.at(-1);
    if (last === undefined) return;
    await keepVerdicts(context, 'supplier', () => compareOrderPage(context, references));
    after = last;
  }
}

async function compareOrderPage(context: RunContext, references: readonly string[]): Promise<Dated[]> {
  const { db, runId, rules } = context;
  const orders = await findOurOrders(db, references);
  const ids = [...new Set([...references, ...orders.flatMap((order) => order.supplierIds)])];
  const lines = await findLines(db, runId, { parts: SUPPLIER_PARTS, references: ids });
  const toSupplierLine = await withListCosts(context, lines);
  const ours = new Map(orders.flatMap((order) => order.supplierIds.map((id) => [id, order])));
  const groups = Map.groupBy(lines, (line) => ours.get(line.reference)?.transactionId ?? line.reference);
  return [...groups].map(([id, all]) =>
    verdictAt(
      compareOrders(id, ours.get(id), all.map(toSupplierLine), rules),
      all.map((line) => line.opened_at),
    ),
  );
}

async function withListCosts(
  { db }: RunContext,
  lines: readonly LineRow[],
): Promise<(line: LineRow) => SupplierLine> {
  const atOf = (line: LineRow): Date => line.at ?? line.opened_at;
  const costOf = await findListCosts(
    db,
    lines.map((line) => ({ packageCode: line.package_code, at: atOf(line) })),
  );
  return (line) => ({
    transactionId: line.reference,
    orderNo: line.line_id.split(' ')[0] ?? '',
    packageCode: line.package_code,
    isRefunded: line.is_refunded,
    at: line.at,
    listCostUsdE4: costOf(line.package_code, atOf(line)),
  });
}

async function compareUnseen(
  context: RunContext,
  packageType: PackageType,
  slice: Slice,
  refuted: () => void,
): Promise<void> {
  const { db, runId } = context;
  const range = await findLedgerRange(db, slice);
  if (!range) return;
  for (let afterId: bigint | undefined = range.fromId - 1n; afterId !== undefined;) {
    const page = { ...slice, packageType, afterId, toId: range.toId, limit: PAGE_ROWS };
    const found: UnseenDeliveries = await findUnseenDeliveries(db, runId, page);
    afterId = found.nextId;
    if (found.unseen.length === 0) continue;
    await keepVerdicts(context, 'supplier', async () => {
      const verdicts: Dated[] = [];
      for (const { order, bookedAt } of found.unseen)
        verdicts.push(verdictAt(await compareAsking(context, order, refuted), [bookedAt]));
      return verdicts;
    });
  }
}

async function compareAsking(
  context: RunContext,
  order: OurOrderRow,
  found: () => void,
): Promise<Dated['verdict']> {
  const { rules } = context;
  const unasked = compareOrders(order.transactionId, order, [], rules);
  if (unasked.differences.length === 0) return unasked;
  return compareOrders(order.transactionId, order, await askFor(context, order, found), rules);
}

/** Looks through what was listed while the purchase's eSIM was being ordered; the list tells of its top-ups as well. */
async function askFor(
  context: RunContext,
  { supplierIds, listed }: OurOrderRow,
  found: () => void,
): Promise<SupplierLine[]> {
  const { supplier, settings } = context;
  throwIfAborted(context);
  await pause(settings.supplierPauseMs);
  const from = new Date(listed.from.getTime() - LIST_SLACK_MS);
  const to = new Date(listed.to.getTime() + LIST_SLACK_MS);
  const lines: SupplierLine[] = [];
  for await (const order of supplier.orders(from, to)) {
    if (supplierIds.includes(order.transactionId)) lines.push({ ...order, listCostUsdE4: null });
  }
  if (lines.length > 0) found();
  return lines;
}

/** Top-ups that were missing before are asked for again. */
async function compareOldTopUps(context: RunContext): Promise<void> {
  const { db, runId } = context;
  const subjects = await findOpenSubjects(db, 'supplier-order-missing', runId);
  for (let from = 0; from < subjects.length; from += PAGE_ROWS) {
    const orders = await findOurOrders(db, subjects.slice(from, from + PAGE_ROWS));
    const topUps = orders.filter((order) => order.packageType === 'TOPUP');
    await keepVerdicts(context, 'supplier', async () => {
      const verdicts: Dated[] = [];
      for (const order of topUps) {
        const verdict = await compareAsking(context, order, () => undefined);
        verdicts.push(verdictAt(verdict, [order.lastMovedAt]));
      }
      return verdicts;
    });
  }
}

/** Compares the supplier's balance with what was used since it was last agreed on; answers what is agreed on now. */
export async function compareSupplierBalance(
  context: RunContext,
): Promise<{ readonly balanceUsdE4: bigint; readonly agreedSum: AgreedSum }> {
  const { db, supplier, clock } = context;
  const agreed = await findAgreedSum(db);
  const read = async () => {
    const before = await readSupplierUse(db);
    const balanceUsdE4 = await supplier.balance();
    return { before, balanceUsdE4, after: await readSupplierUse(db) };
  };
  let compared = { balanceUsdE4: 0n, agreedSum: agreed ?? { fromUsdE4: 0n, toUsdE4: 0n } };
  await keepVerdicts(context, 'supplier', async () => {
    const reading = await read();
    const { verdict, agreed: agreedSum } = compareBalance(reading, agreed);
    compared = { balanceUsdE4: reading.balanceUsdE4, agreedSum };
    return [verdictAt(verdict, [clock.now()])];
  });
  return compared;
}
