/** Wallet → the specification's envelope. Pure. */
import type { z } from 'zod';
import type { WalletView } from '../../app/views.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import { moneyJson, type Wire } from '../json.ts';
import type { walletSchema } from './schema.ts';

export function presentWallet(view: WalletView): Wire<z.output<typeof walletSchema>> {
  return {
    success: true,
    data: {
      balance: moneyJson(view.balance.amountMinor),
      currency: view.balance.currency as AccountCurrency,
      lastUpdated: view.updatedAt.toISOString(),
    },
  };
}
