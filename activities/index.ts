/** All activities by queue, with their errors translated once. */
import type {
  GatewayActivities,
  OpsActivities,
  OrderActivities,
  SupplierActivities,
} from '../workflows/contract.ts';
import { createSupplierActivities } from './deliver.ts';
import type { ActivityDeps } from './deps.ts';
import { withFailures } from './failure.ts';
import { createOpsActivities } from './ops.ts';
import { createOrderActivities } from './orders.ts';
import { createGatewayActivities } from './payments.ts';
import { withSignsOfLife } from './signs-of-life.ts';

export interface Activities {
  readonly orders: OrderActivities;
  readonly supplier: SupplierActivities;
  readonly gateway: GatewayActivities;
  readonly ops: OpsActivities;
}

export function createActivities(deps: ActivityDeps): Activities {
  return {
    orders: withFailures(createOrderActivities(deps)),
    supplier: withSignsOfLife(withFailures(createSupplierActivities(deps))),
    gateway: withSignsOfLife(withFailures(createGatewayActivities(deps))),
    ops: withFailures(createOpsActivities(deps)),
  };
}

export type { ActivityDeps };
