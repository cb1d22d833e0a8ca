/** All activities by queue, with their errors translated once. */
import type {
  DeliverRequest,
  GatewayActivities,
  OpsActivities,
  OrderActivities,
  SupplierActivities,
  WebhookActivities,
} from '../workflows/contract.ts';
import { deliver } from './purchases/deliver.ts';
import { followReplacement } from './purchases/follow-replacement.ts';
import { followReturn } from './purchases/follow-return.ts';
import type { ActivityDeps } from './deps.ts';
import { withFailures, withHeartbeat } from './failure.ts';
import { createAlertActivities } from './operations/alerts.ts';
import { createJobActivities } from './jobs/run-jobs.ts';
import { performAction } from './operations/perform-action.ts';
import { createNoticeActivities, createWebhookMaintenance } from './webhooks/maintenance.ts';
import { createOpsActivities, createReconcileActivities } from './ops.ts';
import { createOrderActivities } from './purchases/orders.ts';
import { createWebhookActivities } from './webhooks/attempt-delivery.ts';
import { collectPayment } from './payments/collect.ts';
import { checkPayment } from './payments/payments.ts';
import { followMoney } from './payments/refunds.ts';

interface Activities {
  readonly orders: OrderActivities;
  readonly supplier: SupplierActivities;
  readonly gateway: GatewayActivities;
  readonly webhooks: WebhookActivities;
  readonly ops: OpsActivities;
}

export function createActivities(deps: ActivityDeps): Activities {
  const translated = <T extends object>(activities: T): T => withFailures(activities, deps.events.rowRefused);
  return {
    orders: translated(createOrderActivities(deps)),
    supplier: withHeartbeat(
      translated({
        deliver: (request: DeliverRequest) => deliver(deps, request),
        performAction: (actionId: string) => performAction(deps, actionId),
        followReturn: (returnId: string) => followReturn(deps, returnId),
        followReplacement: (replacementId: string) => followReplacement(deps, replacementId),
      }),
    ),
    gateway: withHeartbeat(translated(createGatewayActivities(deps))),
    webhooks: withHeartbeat(translated(createWebhookActivities(deps))),
    ops: {
      ...translated(createOpsActivities({ ...deps, supplier: deps.backgroundSupplier })),
      ...withHeartbeat(
        translated({
          ...createReconcileActivities(deps),
          ...createWebhookMaintenance(deps),
          ...createNoticeActivities(deps),
          ...createJobActivities(deps),
          ...createAlertActivities(deps),
        }),
      ),
    },
  };
}

export type { ActivityDeps };

export function createGatewayActivities(deps: ActivityDeps): GatewayActivities {
  return {
    collectPayment: (request) => collectPayment(deps, request),
    checkPayment: (transactionId, purpose) => checkPayment(deps, transactionId, purpose),
    followMoney: (request) => followMoney(deps, request),
    performAction: (actionId) => performAction(deps, actionId),
  };
}
