/** Checking a payment at the gateway on request. */
import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { canBeReference } from '../../payments/rules.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import type { Route } from '../../platform/http/route.ts';
import type { PurchaseCases } from '../use-cases.ts';
import type { WhichPayment } from '../views.ts';
import { presentTransaction, statusSchema } from './shared.ts';

const routes = merchantRoutes<PurchaseCases>('Purchases');
const NAMES = ['transactionId', 'gatewayReference', 'trackingReference'] as const;

const oneName = (description: string) =>
  z
    .string('must be a string')
    .nullish()
    .transform((text) => text ?? undefined)
    .describe(description);

// An id that cannot exist is well-formed here and simply not found.
const confirmBody = z
  .object({
    transactionId: oneName('The `transactionId` that buy or fund returned'),
    gatewayReference: oneName('Of a hosted checkout'),
    trackingReference: oneName('Of a bank transfer'),
  })
  .refine((body) => NAMES.filter((name) => body[name] !== undefined).length === 1, {
    message: `exactly one of ${NAMES.join(', ')} must be given`,
  })
  .meta({ id: 'ConfirmPaymentRequest', description: 'Exactly one of the three' });

function whichPayment(named: {
  readonly transactionId: string | undefined;
  readonly reference: string | undefined;
}): WhichPayment {
  const { transactionId, reference } = named;
  if (transactionId !== undefined && isId('transaction', transactionId)) return { transactionId };
  if (reference !== undefined && canBeReference(reference)) return { reference };
  throw new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found');
}

export const confirmPaymentRoutes: readonly Route<PurchaseCases>[] = [
  routes.post('/api/esim/confirm-payment', {
    memberPermission: 'read',
    body: confirmBody,
    errors: ['TRANSACTION_NOT_FOUND'],
    answer: [200, 'The purchase result, or the funding, as it now stands', statusSchema],
    operationId: 'confirmPayment',
    summary: 'Check a payment now',
    description:
      'Checks the payment gateway and returns the current state of the purchase or the funding, with its ' +
      'timeline. Optional: we detect payments without it. An unpaid payment is not an error; its status is `PENDING`.',
    async handle({ cases, principal, body }) {
      const { transactionId, gatewayReference, trackingReference } = body;
      const which = whichPayment({ transactionId, reference: gatewayReference ?? trackingReference });
      return presentTransaction(await cases.confirmPayment(principal, which));
    },
  }),
];
