/** What routes may call. Bound to their dependencies in app/composition. */
import type { Bound } from '../platform/bind.ts';
import { exportWalletEntries, listWalletEntries } from './wallet-entries.ts';
import { getBudget, getLowBalance, getWallet, setLowBalance } from './wallet.ts';

export const walletUseCases = {
  getWallet,
  getBudget,
  getLowBalance,
  setLowBalance,
  listWalletEntries,
  exportWalletEntries,
};

export type WalletCases = Bound<typeof walletUseCases>;
