/** The wallet's balance: what can be spent now; money on hold is not in it. An account without a wallet here has nothing yet. */
import type { Principal } from '../domain/account.ts';
import { findWallet } from './store/ledger.ts';
import type { LedgerDeps } from './deps.ts';
import type { WalletView } from './views.ts';

export async function getWallet(
  deps: Pick<LedgerDeps, 'db' | 'clock'>,
  principal: Principal,
): Promise<WalletView> {
  const wallet = await findWallet(deps.db, principal.account.id);
  return (
    wallet ?? {
      balance: { amountMinor: 0n, currency: principal.account.currency },
      updatedAt: deps.clock.now(),
    }
  );
}
