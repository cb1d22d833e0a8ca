/** The wallet's balance, and when it counts as low. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES, type AccountCurrency, type Money } from '../../domain/money.ts';
import {
  answer,
  dataAnswer,
  dataSchema,
  isoTime,
  money,
  type Data,
} from '../../platform/http/answer-fields.ts';
import { amountField } from '../../platform/http/fields.ts';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import { MAX_LOW_BALANCE_MINOR } from '../../platform/http/limits.ts';
import { CHANGE, READ, type Route, routesFor } from '../../platform/http/route.ts';
import type { WalletCases } from '../use-cases.ts';
import type { WalletView } from '../wallet.ts';

const defineRoute = routesFor<WalletCases>();
const TAG = 'Wallet';

const walletSchema = dataSchema(
  z.object({
    balance: z.number().meta({ description: 'What can be spent now', example: 125.5 }),
    currency: z.enum(ACCOUNT_CURRENCIES),
    onHold: z
      .number()
      .meta({ description: 'Taken from the balance for purchases that are open', example: 12.5 }),
    owed: z.number().meta({
      description:
        'Taken back by a bank after it was spent. The next money that comes into the wallet pays it',
      example: 0,
    }),
    lastUpdated: isoTime('ISO 8601'),
  }),
  'WalletBalance',
);

const lowBalanceBody = z
  .object({
    amount: amountField({
      minMinor: 0n,
      maxMinor: MAX_LOW_BALANCE_MINOR,
      description: 'In the wallet’s currency, with at most two decimals; 0 or null switches the alert off',
      example: 250,
    })
      .nullable()
      .meta({ type: ['number', 'null'] }),
  })
  .meta({ id: 'LowBalanceRequest' });

const lowBalanceSchema = z
  .object({
    amount: money('Below this the wallet counts as low; null: never').nullable(),
    currency: z.enum(ACCOUNT_CURRENCIES),
  })
  .meta({ id: 'LowBalance' });

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
  handle: async ({ cases, principal }) => dataAnswer(presentWallet(await cases.getWallet(principal))),
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
  handle: async ({ cases, principal }) =>
    answer(presentLowBalance(await cases.getLowBalance(principal), principal.account.currency)),
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

function presentWallet(view: WalletView): Data<typeof walletSchema> {
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
