/** The steps of workflows at the gateway. */
import type { GatewayActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import { performAction } from '../operations/perform-action.ts';
import { collectPayment } from './collect.ts';
import { checkPayment } from './payments.ts';
import { followMoney } from './refunds.ts';

export function createGatewayActivities(deps: ActivityDeps): GatewayActivities {
  return {
    collectPayment: (request) => collectPayment(deps, request),
    checkPayment: (transactionId, purpose) => checkPayment(deps, transactionId, purpose),
    followMoney: (request) => followMoney(deps, request),
    performAction: (actionId) => performAction(deps, actionId),
  };
}
