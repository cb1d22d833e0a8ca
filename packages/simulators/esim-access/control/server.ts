/** The supplier's control interface: its routes. */
import { createControlApp, readLimit } from '../../kit/control.ts';
import { faultRoutes } from '../../kit/faults.ts';
import type { Stats } from '../../kit/server.ts';
import type { SupplierContext } from '../context.ts';
import { FAULTS } from '../faults.ts';
import * as changes from './changes.ts';
import { lifeRoutes } from './life.ts';
import { esimView, listPurchases } from './orders-view.ts';

/** The control interface. */
export function createSupplierControl(
  context: SupplierContext,
  stats: Stats,
  onBug: (error: unknown) => void,
) {
  const { storage, webhooks } = context;
  return createControlApp({
    stats,
    onBug,
    routes: {
      ...faultRoutes(FAULTS, context.faults),
      'GET /orders': ({ query }) => listPurchases(context, query.get('transactionId'), readLimit(query)),
      'POST /orders/:id/allocate': ({ id }) => changes.allocateOrder(context, id),
      'GET /esims/:id': ({ id }) => esimView(context, changes.requireEsimRow(context, id)),
      'PUT /esims/:id': async ({ id, body }) => changes.changeEsim(context, id, await body()),
      ...lifeRoutes(context),
      'GET /balance': () => ({ balance: storage.balance() }),
      'PUT /balance': async ({ body }) => changes.changeBalance(context, await body()),
      'PUT /packages/:id': async ({ id, body }) => changes.changePackage(context, id, await body()),
      'DELETE /packages/:id': ({ id }) => changes.restorePackage(context, id),
      'DELETE /webhook': () => {
        webhooks.saveUrl('');
        return { webhook: null };
      },
    },
  });
}
