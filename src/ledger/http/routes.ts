import type { z } from 'zod';
import type { AccountCurrency, Money } from '../../domain/money.ts';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import { CHANGE, READ, routesFor, type Route } from '../../platform/http/route.ts';
import type { WalletView } from '../wallet.ts';
import { lowBalanceBody, lowBalanceSchema, walletSchema } from './schema.ts';
import type { WalletCases } from '../use-cases.ts';
import { answer, dataAnswer } from '../../platform/http/answer-fields.ts';

const defineRoute = routesFor<WalletCases>();

const TAG = 'Wallet';

const balanceRoute = defineRoute({
  ...READ,
  path: '/api/wallet/balance',
  keyErrors: 'wallet',
  responses: { 200: { description: 'The balance', schema: walletSchema } },
  docs: {
    operationId: 'getWalletBalance',
    tag: TAG,
    summary: 'Read the wallet balance',
    description:
      'What the account can spend now. Money that is reserved for open purchases is not part of it: `onHold` says how much that is. `owed` is what a bank took back after it was spent.',
  },
  async handle({ cases, principal }) {
    return dataAnswer(presentWallet(await cases.getWallet(principal)));
  },
});

const LOW_BALANCE = '/api/wallet/low-balance';

const readLowBalanceRoute = defineRoute({
  ...READ,
  path: LOW_BALANCE,
  keyErrors: 'wallet',
  responses: { 200: { description: 'The amount', schema: lowBalanceSchema } },
  docs: {
    operationId: 'getLowBalance',
    tag: TAG,
    summary: 'Read when the wallet counts as low',
    description: 'The amount below which `wallet.low_balance` is sent to webhook endpoints that ask for it.',
  },
  async handle({ cases, principal }) {
    return answer(presentLowBalance(await cases.getLowBalance(principal), principal.account.currency));
  },
});

const setLowBalanceRoute = defineRoute({
  ...CHANGE,
  method: 'PUT',
  path: LOW_BALANCE,
  memberPermission: 'fund',
  keyErrors: 'wallet',
  body: lowBalanceBody,
  responses: { 200: { description: 'The amount as it now is', schema: lowBalanceSchema } },
  docs: {
    operationId: 'setLowBalance',
    tag: TAG,
    summary: 'Set when the wallet counts as low',
    description:
      'Whenever the balance falls below this amount, `wallet.low_balance` is sent once to webhook endpoints that ask for it; ' +
      'again only after the balance has been at it or above. Where the balance is below it already, it is sent now.',
  },
  async handle({ cases, principal, body }) {
    const threshold = await cases.setLowBalance(principal, body.amount === 0n ? null : body.amount);
    return answer(presentLowBalance(threshold, principal.account.currency));
  },
});

function presentWallet(view: WalletView): Wire<z.output<typeof walletSchema>>['data'] {
  return {
    balance: moneyJson(view.balance.amountMinor),
    currency: view.balance.currency,
    onHold: moneyJson(view.onHoldMinor),
    owed: moneyJson(view.owedMinor),
    lastUpdated: view.updatedAt,
  };
}

function presentLowBalance(
  threshold: Money | null,
  currency: AccountCurrency,
): Wire<z.output<typeof lowBalanceSchema>> {
  return { amount: threshold && moneyJson(threshold.amountMinor), currency };
}

export const walletRoutes: readonly Route<WalletCases>[] = [
  balanceRoute,
  readLowBalanceRoute,
  setLowBalanceRoute,
];
