/** The supplier's control interface: what it may change besides faults. A bad body changes nothing. */
import { z } from 'zod';
import {
  AMOUNT,
  checked,
  ControlError,
  createControlApp,
  FLAG,
  found,
  readLimit,
  faultRoutes,
} from '../../kit/control.ts';
import type { Stats } from '../../kit/server.ts';
import type { SupplierContext } from '../context.ts';
import { FAULTS, type EsimRow } from '../storage.ts';
import { withState } from '../esim-state.ts';
import { esimByIccid } from '../operations/esims.ts';
import { releaseOrders } from '../operations/purchase.ts';
import { lifeRoutes, esimView, listPurchases } from './life.ts';

const A_STATE = 'must be a status in capitals, or null to let the clock decide again';
const STATE = z
  .string(A_STATE)
  .regex(/^[A-Z_]{1,40}$/, A_STATE)
  .nullable();
const ESIM = z.strictObject({ orderUsage: AMOUNT, esimStatus: STATE, smdpStatus: STATE }).partial();
const BALANCE = z.strictObject({ balance: AMOUNT });
const PACKAGE = z.strictObject({ price: AMOUNT, withdrawn: FLAG }).partial();

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

function requireEsimRow(context: SupplierContext, id: string): EsimRow {
  const row = context.storage.esims.get(id) ?? esimByIccid(context, id);
  return found(row, 'no eSIM with this ICCID or esimTranNo');
}

function changeEsim(context: SupplierContext, id: string, body: unknown) {
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

function allocateOrder(context: SupplierContext, orderNo: string) {
  const order = found(context.storage.orders.get(orderNo), 'no order with this orderNo');
  const isAllocated = order.allocatedAtMs !== null && order.allocatedAtMs <= context.now();
  if (!isAllocated) releaseOrders(context, [order]);
  return { orderNo };
}

export function createSupplierControl(
  context: SupplierContext,
  stats: Stats,
  onBug: (error: unknown) => void,
) {
  const { catalogue, storage, webhooks } = context;
  const packageCodeOf = (code: string) => {
    const entry = catalogue.findBase(code) ?? catalogue.findTopUp(code);
    return found(entry, 'no package with this code or slug').item.packageCode;
  };
  return createControlApp({
    stats,
    onBug,
    routes: {
      ...faultRoutes(FAULTS, context.faults),
      'GET /orders': ({ query }) => listPurchases(context, query.get('transactionId'), readLimit(query)),
      'POST /orders/:id/allocate': ({ id }) => allocateOrder(context, id),
      'GET /esims/:id': ({ id }) => esimView(context, requireEsimRow(context, id)),
      'PUT /esims/:id': async ({ id, body }) => changeEsim(context, id, await body()),
      ...lifeRoutes(context),
      'GET /balance': () => ({ balance: storage.balance() }),
      'PUT /balance': async ({ body }) => {
        storage.setBalance(checked(BALANCE, await body()).balance);
        return { balance: storage.balance() };
      },
      /** In place of the catalogue's; adds to an earlier change. */
      'PUT /packages/:id': async ({ id, body }) => {
        const given = await body();
        const packageCode = packageCodeOf(id);
        const known = storage.overrides.get(packageCode) ?? { packageCode, price: null, withdrawn: false };
        return storage.overrides.put({ ...known, ...someOf(PACKAGE, given) });
      },
      'DELETE /packages/:id': ({ id }) => {
        const packageCode = packageCodeOf(id);
        storage.overrides.remove({ packageCode });
        return { packageCode };
      },
      'DELETE /webhook': () => {
        webhooks.saveUrl('');
        return { webhook: null };
      },
    },
  });
}
