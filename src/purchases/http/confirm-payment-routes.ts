import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { confirmBody } from '../../payments/http/schema.ts';
import { canBeReference } from '../../payments/rules.ts';
import { toJson } from '../../platform/http/json.ts';
import { CHANGE, routesFor, type Route } from '../../platform/http/route.ts';
import type { WhichPayment } from '../views.ts';
import { presentTransaction } from './present.ts';
import { statusSchema } from './schema.ts';
import type { PurchaseCases } from '../use-cases.ts';

const defineRoute = routesFor<PurchaseCases>();

const confirmPaymentRoute = defineRoute({
  ...CHANGE,
  path: '/api/esim/confirm-payment',
  // It only checks the payment's status.
  memberPermission: 'read',
  body: confirmBody,
  errors: ['TRANSACTION_NOT_FOUND'],
  responses: {
    200: {
      description: 'The purchase result, or the funding, as it now stands',
      schema: statusSchema,
    },
  },
  docs: {
    operationId: 'confirmPayment',
    tag: 'Purchases',
    summary: 'Check a payment now',
    description:
      'Checks the payment gateway and returns the current state of the purchase or the funding, with its ' +
      'timeline. Optional: we detect payments without it. An unpaid payment is not an error; its status is `PENDING`.',
  },
  async handle({ cases, principal, body }) {
    const { transactionId, gatewayReference, trackingReference } = body;
    const which = whichPayment({ transactionId, reference: gatewayReference ?? trackingReference });
    return {
      status: 200,
      body: toJson(presentTransaction(await cases.confirmPayment(principal, which))),
    };
  },
});

function whichPayment(named: {
  readonly transactionId: string | undefined;
  readonly reference: string | undefined;
}): WhichPayment {
  const { transactionId, reference } = named;
  if (transactionId !== undefined && isId('transaction', transactionId)) return { transactionId };
  if (reference !== undefined && canBeReference(reference)) return { reference };
  throw new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found');
}

export const confirmPaymentRoutes: readonly Route<PurchaseCases>[] = [confirmPaymentRoute];
