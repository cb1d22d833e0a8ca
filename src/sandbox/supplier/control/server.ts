/**
 * The supplier's control interface: its routes. Guarantee: what they answer is what the supplier really holds.
 */
import { ControlError, createControlHandler, readLimit, type RouteRow } from '../../support/control.ts';
import type { Handler } from '../../support/http.ts';
import type { Stats } from '../../support/stats.ts';
import type { SupplierContext } from '../context.ts';
import { parseFaults } from '../faults.ts';
import { allocateOrder, changeBalance, changeEsim, changePackage, restorePackage } from './changes.ts';
import { esimView, listPurchases } from './orders-view.ts';

function routesOf(context: SupplierContext, stats: Stats): RouteRow[] {
  return [
    ['GET', /^\/faults$/, () => context.faults.current],
    ['PUT', /^\/faults$/, async ({ body }) => context.faults.set(parseFaults(await body()))],
    ['DELETE', /^\/faults$/, () => context.faults.reset()],
    [
      'GET',
      /^\/orders$/,
      ({ query }) => listPurchases(context, query.get('transactionId'), readLimit(query)),
    ],
    ['POST', /^\/orders\/([\w-]{1,40})\/allocate$/, ({ id }) => allocateOrder(context, id)],
    [
      'GET',
      /^\/esims\/([\w-]{1,40})$/,
      ({ id }) => {
        const row = context.orders.esimByTranNo(id) ?? context.orders.esimByIccid(id);
        if (row === undefined) throw new ControlError(404, ['no eSIM with this ICCID or esimTranNo']);
        return esimView(context, row);
      },
    ],
    ['PUT', /^\/esims\/([\w-]{1,40})$/, async ({ id, body }) => changeEsim(context, id, await body())],
    ['GET', /^\/balance$/, () => ({ balance: context.account.balance() })],
    ['PUT', /^\/balance$/, async ({ body }) => changeBalance(context, await body())],
    [
      'PUT',
      /^\/packages\/([\w.-]{1,100})$/,
      async ({ id, body }) => changePackage(context, id, await body()),
    ],
    ['DELETE', /^\/packages\/([\w.-]{1,100})$/, ({ id }) => restorePackage(context, id)],
    [
      'DELETE',
      /^\/webhook$/,
      () => {
        context.webhooks.saveUrl('');
        return { webhook: null };
      },
    ],
    ['GET', /^\/stats$/, () => stats.snapshot()],
    ['GET', /^\/health$/, () => ({ ok: true })],
  ];
}

/** The request handler of the control interface. */
export function createSupplierControl(
  context: SupplierContext,
  stats: Stats,
  onBug: (error: unknown) => void,
): Handler {
  return createControlHandler(routesOf(context, stats), onBug);
}
