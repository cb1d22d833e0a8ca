/** The supplier's control interface: its routes. */
import { createControlHandler, readLimit } from '../../support/control.ts';
import { faultRoutes } from '../../support/faults.ts';
import type { Handler, Stats } from '../../support/http.ts';
import type { SupplierContext } from '../context.ts';
import { FAULTS } from '../faults.ts';
import {
  allocateOrder,
  changeBalance,
  changeEsim,
  changePackage,
  requireEsimRow,
  restorePackage,
} from './changes.ts';
import { lifeRoutes } from './life.ts';
import { esimView, listPurchases } from './orders-view.ts';

const ESIM = /^\/esims\/([\w-]{1,40})$/;
const PACKAGE = /^\/packages\/([\w.-]{1,100})$/;

/** The request handler of the control interface. */
export function createSupplierControl(
  context: SupplierContext,
  stats: Stats,
  onBug: (error: unknown) => void,
): Handler {
  return createControlHandler(
    [
      ...faultRoutes(FAULTS, context.faults),
      [
        'GET',
        /^\/orders$/,
        ({ query }) => listPurchases(context, query.get('transactionId'), readLimit(query)),
      ],
      ['POST', /^\/orders\/([\w-]{1,40})\/allocate$/, ({ id }) => allocateOrder(context, id)],
      ['GET', ESIM, ({ id }) => esimView(context, requireEsimRow(context, id))],
      ['PUT', ESIM, async ({ id, body }) => changeEsim(context, id, await body())],
      ...lifeRoutes(context),
      ['GET', /^\/balance$/, () => ({ balance: context.account.balance() })],
      ['PUT', /^\/balance$/, async ({ body }) => changeBalance(context, await body())],
      ['PUT', PACKAGE, async ({ id, body }) => changePackage(context, id, await body())],
      ['DELETE', PACKAGE, ({ id }) => restorePackage(context, id)],
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
    ],
    onBug,
  );
}
