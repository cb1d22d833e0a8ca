import { CHANGE, routesFor, type Route } from '../../platform/http/route.ts';
import { fundBody, fundingSchema, PAYMENT_ERRORS } from './schema.ts';
import { toJson } from '../../platform/http/json.ts';
import { presentFunding } from './present.ts';
import type { PaymentCases } from '../use-cases.ts';

const defineRoute = routesFor<PaymentCases>();

const fundRoute = defineRoute({
  ...CHANGE,
  path: '/api/wallet/fund',
  memberPermission: 'fund',
  keyErrors: 'wallet',
  body: fundBody,
  errors: PAYMENT_ERRORS,
  responses: { 201: { description: 'The funding, with how to pay', schema: fundingSchema } },
  docs: {
    operationId: 'fundWallet',
    tag: 'Wallet',
    summary: 'Put money into the wallet',
    description:
      'Opens a payment and returns how to pay. The wallet is credited when the money arrives. Use confirm-payment for the status. ' +
      'Send an `Idempotency-Key`, and a repeated request opens no second payment.',
  },
  async handle({ cases, principal, body, context, idempotency }) {
    const { amount: amountMinor, paymentMethod } = body;
    const command = { amountMinor, paymentMethod, idempotency };
    const opened = await cases.fundWallet(principal, command, context);
    return { status: 201, body: toJson(presentFunding(opened)) };
  },
});

export const fundingRoutes: readonly Route<PaymentCases>[] = [fundRoute];
