/** The account's wallet. */
import { toJson } from '../json.ts';
import { defineRoute, type Route } from '../route.ts';
import { presentWallet } from './present.ts';
import { walletSchema } from './schema.ts';

export function walletRoutes(): Route[] {
  return [
    defineRoute({
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
        tag: 'Wallet',
        summary: 'Read the wallet balance',
        description: 'What the account can spend now; money held for open purchases is not part of it.',
      },
      async handle({ world, principal }) {
        return { status: 200, body: toJson(presentWallet(await world.getWallet(principal))) };
      },
    }),
  ];
}
