/**
 * What the control interface may change besides faults. A bad body is a ControlError, and nothing is written.
 */
import { z } from 'zod';
import { AMOUNT, checked, ControlError, FLAG } from '../../kit/control.ts';
import type { SupplierContext } from '../context.ts';
import { withState } from '../esim-state.ts';
import { releaseOrders } from '../operations/purchase.ts';
import { esimByIccid } from '../operations/esims.ts';
import type { EsimRow } from '../storage.ts';
import { esimView } from './orders-view.ts';

const A_STATE = 'must be a status in capitals, or null to let the clock decide again';
const STATE = z
  .string(A_STATE)
  .regex(/^[A-Z_]{1,40}$/, A_STATE)
  .nullable();
const ESIM = z.strictObject({ orderUsage: AMOUNT, esimStatus: STATE, smdpStatus: STATE }).partial();
const BALANCE = z.strictObject({ balance: AMOUNT });
const PACKAGE = z.strictObject({ price: AMOUNT, withdrawn: FLAG }).partial();

/** The body, with at least one field. */
function someOf<Schema extends z.ZodObject>(schema: Schema, body: unknown): z.output<Schema> {
  const wanted = checked(schema, body);
  if (Object.keys(wanted).length > 0) return wanted;
  throw new ControlError(400, [`give at least one of ${Object.keys(schema.shape).join(', ')}`]);
}

/** Puts an eSIM into a status: some follow from clock and usage, all others are forced. */
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

/** The eSIM with this ICCID or esimTranNo, or 404. */
export function requireEsimRow(context: SupplierContext, id: string): EsimRow {
  const row = context.storage.esims.get(id) ?? esimByIccid(context, id);
  if (row === undefined) throw new ControlError(404, ['no eSIM with this ICCID or esimTranNo']);
  return row;
}

/** `PUT /esims/{iccid or esimTranNo}` with `{orderUsage?, esimStatus?, smdpStatus?}`. */
export function changeEsim(context: SupplierContext, id: string, body: unknown) {
  const before = requireEsimRow(context, id);
  const { orderUsage, esimStatus, smdpStatus } = someOf(ESIM, body);
  const nowMs = context.now();
  context.webhooks.sendDue();
  let row = esimStatus === undefined ? { ...before } : withStatus(before, esimStatus, nowMs);
  if (orderUsage !== undefined) row = { ...row, orderUsage, usageAtMs: nowMs };
  if (smdpStatus !== undefined) row.forcedSmdp = smdpStatus;
  if (row.orderUsage !== before.orderUsage) row.laggingUsage = before.orderUsage;
  context.storage.database.transact(() => {
    context.storage.esims.put(row);
    context.webhooks.esimChanged(before, row);
  });
  return esimView(context, row);
}

/** `PUT /balance` with `{balance}`, USD x 10,000. */
export function changeBalance(context: SupplierContext, body: unknown) {
  context.storage.setBalance(checked(BALANCE, body).balance);
  return { balance: context.storage.balance() };
}

function requirePackage({ catalogue }: SupplierContext, code: string): string {
  const entry = catalogue.findBase(code) ?? catalogue.findTopUp(code);
  if (entry === undefined) throw new ControlError(404, ['no package with this code or slug']);
  return entry.item.packageCode;
}

/**
 * `PUT /packages/{code}` with `{price?, withdrawn?}` in place of the catalogue's; adds to an earlier change.
 */
export function changePackage(context: SupplierContext, code: string, body: unknown) {
  const packageCode = requirePackage(context, code);
  const known = context.storage.overrides.get(packageCode) ?? { price: null, withdrawn: false };
  const override = { ...known, ...someOf(PACKAGE, body) };
  context.storage.override(packageCode, override);
  return { packageCode, ...override };
}

/** `DELETE /packages/{code}`: back to the catalogue's values. */
export function restorePackage(context: SupplierContext, code: string) {
  const packageCode = requirePackage(context, code);
  context.storage.override(packageCode, undefined);
  return { packageCode };
}

/** `POST /orders/{orderNo}/allocate`: profiles of this order exist from now on, whatever held it back. */
export function allocateOrder(context: SupplierContext, orderNo: string) {
  const order = context.storage.orders.get(orderNo);
  if (order === undefined) throw new ControlError(404, ['no order with this orderNo']);
  const isAllocated = order.allocatedAtMs !== null && order.allocatedAtMs <= context.now();
  if (!isAllocated) releaseOrders(context, [order]);
  return { orderNo };
}
