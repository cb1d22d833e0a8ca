/** Asking about a payment that came from outside the wallet, whether it is for a purchase or for the wallet itself. */
import { toJson } from '../../platform/http/json.ts';
import { defineRoute, type Route } from '../../platform/http/route.ts';
import { confirmBody } from '../../payments/http/schema.ts';
import { presentStanding, standingSchema } from './standing.ts';
import type { WhichPayment } from '../views.ts';
import { isId } from '../../domain/ids.ts';
import { canBeReference } from '../../payments/rules.ts';
import { DomainError } from '../../domain/errors.ts';

export function paymentRoutes(): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/esim/confirm-payment',
      key: 'required',
      scope: 'purchase',
      shapes: ['general'],
      body: confirmBody,
      errors: ['TRANSACTION_NOT_FOUND'],
      responses: {
        200: {
          description: 'The purchase result, or the funding, as it now stands',
          schema: standingSchema,
        },
      },
      docs: {
        operationId: 'confirmPayment',
        tag: 'Purchases',
        summary: 'Look now whether a payment has come',
        description:
          'Asks the payment gateway for the truth and answers how the purchase or the funding now stands, with what happened ' +
          'when. Never needed: payments are noticed without it. Not paid yet is no error: the status stays `PENDING`.',
      },
      async handle({ world, principal, body }) {
        const { transactionId, gatewayReference, trackingReference } = body;
        const which = whichPayment({ transactionId, reference: gatewayReference ?? trackingReference });
        const standing = await world.confirmPayment(principal, which);
        return { status: 200, body: toJson(presentStanding(standing)) };
      },
    }),
  ];
}

export function whichPayment(named: {
  readonly transactionId: string | undefined;
  readonly reference: string | undefined;
}): WhichPayment {
  const { transactionId, reference } = named;
  if (transactionId !== undefined && isId('transaction', transactionId)) return { transactionId };
  if (reference !== undefined && canBeReference(reference)) return { reference };
  throw new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found');
}
