import { findBudget } from '../accounts/store/budgets.ts';
import type { Principal } from '../domain/account.ts';
import type { Money } from '../domain/money.ts';
import type { WebhookDeps } from '../webhooks/deps.ts';
import { findWallet } from './store/ledger.ts';
import * as thresholds from './store/low-balance.ts';

export type WalletView = NonNullable<Awaited<ReturnType<typeof findWallet>>>;

/**
 * What can be spent now, what is on hold beside it, and what the account owes. An account without a wallet in
 * this environment has 0.
 */
export async function getWallet(
  { db, clock }: Pick<WebhookDeps, 'db' | 'clock'>,
  { account }: Principal,
): Promise<WalletView> {
  const wallet = await findWallet(db, account.id);
  return (
    wallet ?? {
      balance: { amountMinor: 0n, currency: account.currency },
      onHoldMinor: 0n,
      owedMinor: 0n,
      updatedAt: clock.now(),
    }
  );
}

/** What the caller's key may spend, and what is left of it. A member has no budget, nor has most keys. */
export async function getBudget({ db }: Pick<WebhookDeps, 'db'>, { account, keyId }: Principal) {
  const { budget = null, left = null } = (await findBudget(db, keyId)) ?? {};
  return { budget, left, currency: account.currency };
}

/** The amount below which `wallet.low_balance` is sent; null: it is never sent. */
export async function getLowBalance(
  { db }: Pick<WebhookDeps, 'db'>,
  { account }: Principal,
): Promise<Money | null> {
  const found = await thresholds.findLowBalance(db, account.id);
  return found ? { amountMinor: found.thresholdMinor, currency: account.currency } : null;
}

/** Returns the new threshold. Where the wallet is already below it, the webhook is sent now. */
export async function setLowBalance(
  { db, clock }: Pick<WebhookDeps, 'db' | 'clock'>,
  { account }: Principal,
  thresholdMinor: bigint | null,
): Promise<Money | null> {
  const wallet = { accountId: account.id, currency: account.currency };
  await thresholds.setLowBalance(db, wallet, thresholdMinor, clock.now());
  return thresholdMinor === null ? null : { amountMinor: thresholdMinor, currency: account.currency };
}
