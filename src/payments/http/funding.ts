/** Putting money into the wallet. */
import { z } from 'zod';
import { GATEWAY_METHODS } from '../../domain/states.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { amountField, choiceField } from '../../platform/http/fields.ts';
import { MAX_FUNDING_MINOR, MIN_FUNDING_MINOR } from '../../platform/http/limits.ts';
import type { Route } from '../../platform/http/route.ts';
import type { PaymentCases } from '../use-cases.ts';
import { hasItsReference, ownDetailsFields, ownDetailsIn, OWN_DETAILS_ERRORS } from './own-details.ts';
import { fundingSchema, presentFunding, PAYMENT_ERRORS } from './shared.ts';

const routes = merchantRoutes<PaymentCases>('Wallet');

const fundBody = z
  .object({
    amount: amountField({
      minMinor: MIN_FUNDING_MINOR,
      maxMinor: MAX_FUNDING_MINOR,
      description: 'What the wallet is to get, in its own currency, with at most two decimals',
      example: 5000.5,
    }),
    paymentMethod: choiceField(GATEWAY_METHODS, { description: 'How to pay', example: 'CARD' }),
    ...ownDetailsFields,
  })
  .refine(...hasItsReference)
  .meta({ id: 'FundRequest' });

export const fundingRoutes: readonly Route<PaymentCases>[] = [
  routes.post('/api/wallet/fund', {
    memberPermission: 'fund',
    keyErrors: 'wallet',
    body: fundBody,
    errors: [...PAYMENT_ERRORS, ...OWN_DETAILS_ERRORS],
    answer: [201, 'The funding, with how to pay', fundingSchema],
    operationId: 'fundWallet',
    summary: 'Put money into the wallet',
    description:
      'Opens a payment and returns how to pay. The wallet is credited when the money arrives. Use confirm-payment for the status. ' +
      'Send an `Idempotency-Key`, and a repeated request opens no second payment.',
    async handle({ cases, principal, body, context, idempotency }) {
      const { amount: amountMinor, paymentMethod } = body;
      const command = { amountMinor, paymentMethod, ownDetails: ownDetailsIn(body), idempotency };
      const opened = await cases.fundWallet(principal, command, context);
      return presentFunding(opened);
    },
  }),
];
