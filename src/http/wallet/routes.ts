/** The account's wallet: what is in it, and putting money into it from outside. */
import { toJson } from '../json.ts';
import { defineRoute, type Route } from '../route.ts';
import { presentFunding, presentWallet } from './present.ts';
import { fundBody, fundingSchema, walletSchema } from './schema.ts';

const TAG = 'Wallet';

export function walletRoutes(): Route[] {
  return [balanceRoute(), fundRoute()];
}

function balanceRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/wallet/balance',
    key: 'required',
    scope: 'read',
    keyErrors: 'wallet',
    shapes: ['shape-3'],
    errors: [],
    responses: { 200: { description: 'The balance', schema: walletSchema } },
    docs: {
      operationId: 'getWalletBalance',
      tag: TAG,
      summary: 'Read the wallet balance',
      description: 'What the account can spend now; money held for open purchases is not part of it.',
    },
    async handle({ world, principal }) {
      return { status: 200, body: toJson(presentWallet(await world.getWallet(principal))) };
    },
  });
}

function fundRoute(): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/wallet/fund',
    key: 'required',
    scope: 'purchase',
    keyErrors: 'wallet',
    shapes: ['shape-3'],
    body: fundBody,
    errors: ['PAYMENT_METHOD_UNAVAILABLE', 'PAYMENT_FAILED', 'EXCHANGE_RATE_UNAVAILABLE'],
    responses: { 201: { description: 'The funding, with how to pay', schema: fundingSchema } },
    docs: {
      operationId: 'fundWallet',
      tag: TAG,
      summary: 'Put money into the wallet',
      description:
        'Opens a payment from outside and answers how to pay it. The wallet gets the money when it has come; ' +
        'confirm-payment tells how it stands. Send an `Idempotency-Key`, and a repeated request opens no second payment.',
    },
    async handle({ world, principal, body, context, idempotency }) {
      const { amount: amountMinor, paymentMethod } = body;
      const command = { amountMinor, paymentMethod, ...(idempotency ? { idempotency } : {}) };
      const opened = await world.fundWallet(principal, command, context);
      return { status: 201, body: toJson(presentFunding(opened)) };
    },
  });
}
