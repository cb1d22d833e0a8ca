/**
 * What the control interface may change besides faults: an eSIM's usage and state, the balance, a package's price.
 * Guarantee: a bad body is a ControlError with every problem named, and nothing is written.
 */
import { AMOUNT, FLAG, type Check } from '../../support/checks.ts';
import { checked, ControlError } from '../../support/control.ts';
import type { SupplierContext } from '../context.ts';
import { withState } from '../operations/find-esim.ts';
import { releaseOrders } from '../operations/order.ts';
import type { PackageOverride } from '../storage/account.ts';
import type { EsimRow } from '../storage/rows.ts';
import { esimView, type EsimView } from './orders-view.ts';

const STATE: Check = {
  ok: (value) => value === null || (typeof value === 'string' && /^[A-Z_]{1,40}$/.test(value)),
  wants: 'a status in capitals, or null to let the clock decide again',
};

/** The body as an object with known, well-typed fields, at least one. */
function wantedOf(body: unknown, checks: Record<string, Check>): Record<string, unknown> {
  const wanted = checked(body, checks);
  if (Object.keys(wanted).length > 0) return wanted;
  throw new ControlError(400, [`give at least one of ${Object.keys(checks).join(', ')}`]);
}

/** Puts an eSIM into a status: some follow from clock and usage, all others are simply said. */
function withStatus(row: EsimRow, status: string | null, nowMs: number): EsimRow {
  const { activatedAtMs } = withState(row, nowMs).state;
  const activated = {
    ...row,
    allocatedAtMs: row.allocatedAtMs ?? nowMs,
    activatesAtMs: activatedAtMs ?? nowMs,
  };
  switch (status) {
    case null:
      return { ...row, forcedStatus: null };
    case 'GOT_RESOURCE':
      return { ...row, activatesAtMs: null, forcedStatus: null };
    case 'IN_USE':
      return { ...activated, forcedStatus: null };
    case 'USED_UP':
      return { ...activated, orderUsage: row.totalVolume, usageAtMs: nowMs, forcedStatus: null };
    case 'USED_EXPIRED':
      return { ...activated, forcedStatus: status };
    default:
      return { ...row, activatesAtMs: activatedAtMs, forcedStatus: status };
  }
}

/** `PUT /esims/{iccid or esimTranNo}` with `{orderUsage?, esimStatus?, smdpStatus?}`. */
export function changeEsim(context: SupplierContext, id: string, body: unknown): EsimView {
  const before = context.orders.esimByTranNo(id) ?? context.orders.esimByIccid(id);
  if (before === undefined) throw new ControlError(404, ['no eSIM with this ICCID or esimTranNo']);
  const wanted = wantedOf(body, { orderUsage: AMOUNT, esimStatus: STATE, smdpStatus: STATE });
  const nowMs = context.now();
  let after = before;
  if ('esimStatus' in wanted) after = withStatus(after, wanted['esimStatus'] as string | null, nowMs);
  if ('orderUsage' in wanted) {
    after = { ...after, orderUsage: wanted['orderUsage'] as number, usageAtMs: nowMs };
  }
  if ('smdpStatus' in wanted) after = { ...after, forcedSmdp: wanted['smdpStatus'] as string | null };
  if (after.orderUsage !== before.orderUsage) after = { ...after, laggingUsage: before.orderUsage };
  const row = after;
  context.database.transact(() => {
    context.orders.updateEsim(row);
    context.webhooks.esimChanged(before, row);
  });
  return esimView(context, row);
}

/** `PUT /balance` with `{balance}`, USD x 10,000. */
export function changeBalance(context: SupplierContext, body: unknown): { balance: number } {
  const { balance } = wantedOf(body, { balance: AMOUNT });
  context.account.setBalance(balance as number);
  return { balance: context.account.balance() };
}

function requirePackage(context: SupplierContext, code: string): string {
  const entry = context.catalogue.findBase(code) ?? context.catalogue.findTopUp(code);
  if (entry === undefined) throw new ControlError(404, ['no package with this code or slug']);
  return entry.item.packageCode;
}

/** `PUT /packages/{code}` with `{price?, withdrawn?}`, laid over the catalogue; merges into an earlier override. */
export function changePackage(
  context: SupplierContext,
  code: string,
  body: unknown,
): PackageOverride & { packageCode: string } {
  const packageCode = requirePackage(context, code);
  const wanted = wantedOf(body, { price: AMOUNT, withdrawn: FLAG });
  const known = context.account.overrides.get(packageCode);
  const override: PackageOverride = {
    price: (wanted['price'] as number | undefined) ?? known?.price ?? null,
    withdrawn: (wanted['withdrawn'] as boolean | undefined) ?? known?.withdrawn ?? false,
  };
  context.account.setOverride(packageCode, override);
  return { packageCode, ...override };
}

/** `DELETE /packages/{code}`: the catalogue's own price again, on sale again. */
export function restorePackage(context: SupplierContext, code: string): { packageCode: string } {
  const packageCode = requirePackage(context, code);
  context.account.clearOverride(packageCode);
  return { packageCode };
}

/** `POST /orders/{orderNo}/allocate`: profiles of this order exist from now on, whatever held it back. */
export function allocateOrder(context: SupplierContext, orderNo: string): { orderNo: string } {
  const order = context.orders.orderByNo(orderNo);
  if (order === undefined) throw new ControlError(404, ['no order with this orderNo']);
  const isAllocated = order.allocatedAtMs !== null && order.allocatedAtMs <= context.now();
  if (!isAllocated) releaseOrders(context, [order]);
  return { orderNo };
}
