/** The wallet's balance, and when it counts as low. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { isoTime, money, namedObject, dataObject } from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { amountField } from '../../platform/http/fields.ts';
import { MAX_LOW_BALANCE_MINOR } from '../../platform/http/limits.ts';
import type { Route } from '../../platform/http/route.ts';
import { budgetSchema } from '../../accounts/http/shared.ts';
import type { WalletCases } from '../use-cases.ts';

const routes = merchantRoutes<WalletCases>('Wallet');

const walletSchema = dataObject('WalletBalance', {
  balance: money('What can be spent now', 125.5),
  currency: z.enum(ACCOUNT_CURRENCIES),
  onHold: money('Taken from the balance for purchases that are open'),
  owed: money(
    'Taken back by a bank after it was spent. The next money that comes into the wallet pays it',
    0,
  ),
  lastUpdated: isoTime('ISO 8601'),
});

const lowBalanceBody = namedObject('LowBalanceRequest', {
  amount: amountField({
    minMinor: 0n,
    maxMinor: MAX_LOW_BALANCE_MINOR,
    description: 'In the wallet’s currency, with at most two decimals; 0 or null switches the alert off',
    example: 250,
  })
    .nullable()
    .meta({ type: ['number', 'null'] }),
});

const lowBalanceSchema = namedObject('LowBalance', {
  amount: money('Below this the wallet counts as low; null: never').nullable(),
  currency: z.enum(ACCOUNT_CURRENCIES),
});

const LOW_BALANCE = '/api/wallet/low-balance';

export const walletRoutes: readonly Route<WalletCases>[] = [
  routes.get('/api/wallet/balance', {
    keyErrors: 'wallet',
    answer: [200, 'The balance', walletSchema],
    operationId: 'getWalletBalance',
    summary: 'Read the wallet balance',
    description:
      'What the account can spend now. Money that is reserved for open purchases is not part of it: `onHold` says how much that is. `owed` is what a bank took back after it was spent.',
    async handle({ cases, principal }) {
      const wallet = await cases.getWallet(principal);
      return { ...wallet, currency: principal.account.currency, lastUpdated: wallet.updatedAt };
    },
  }),
  routes.get('/api/wallet/budget', {
    keyErrors: 'wallet',
    answer: [200, 'The budget of the key that asks', budgetSchema],
    operationId: 'getKeyBudget',
    summary: 'Read what this API key may spend',
    description:
      'The limits of the key that sends the request, and what is left of them. `budget` is null if it has none: it may spend what the wallet has. ' +
      'Only a member of the account can change a budget, in the dashboard.',
    handle: ({ cases, principal }) => cases.getBudget(principal),
  }),
  routes.get(LOW_BALANCE, {
    keyErrors: 'wallet',
    answer: [200, 'The amount', lowBalanceSchema],
    operationId: 'getLowBalance',
    summary: 'Read when the wallet counts as low',
    description: 'The amount below which `wallet.low_balance` is sent to webhook endpoints that ask for it.',
    handle: async ({ cases, principal }) => ({
      amount: await cases.getLowBalance(principal),
      currency: principal.account.currency,
    }),
  }),
  routes.put(LOW_BALANCE, {
    confirmed: false,
    memberPermission: 'fund',
    keyErrors: 'wallet',
    body: lowBalanceBody,
    answer: [200, 'The amount as it now is', lowBalanceSchema],
    operationId: 'setLowBalance',
    summary: 'Set when the wallet counts as low',
    description:
      'Whenever the balance falls below this amount, `wallet.low_balance` is sent once to webhook endpoints that ask for it; ' +
      'again only after the balance has been at it or above. Where the balance is below it already, it is sent now.',
    async handle({ cases, principal, body }) {
      const amount = await cases.setLowBalance(principal, body.amount === 0n ? null : body.amount);
      return { amount, currency: principal.account.currency };
    },
  }),
];
