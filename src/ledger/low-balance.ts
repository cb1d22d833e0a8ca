/** The amount below which an account wants to hear that its wallet runs low. */
import type { Principal } from '../domain/account.ts';
import type { Money } from '../domain/money.ts';
import * as thresholds from './store/low-balance.ts';
import { newPendingMessages } from '../webhooks/store/messages.ts';
import type { LedgerDeps } from './deps.ts';

export async function getLowBalance(
  deps: Pick<LedgerDeps, 'db'>,
  { account }: Principal,
): Promise<Money | null> {
  const found = await thresholds.findLowBalance(deps.db, account.id);
  return found ? { amountMinor: found.thresholdMinor, currency: account.currency } : null;
}

/** Answers what holds from now on; null: never. Where the wallet is low by it already, that is told at once. */
export async function setLowBalance(
  deps: Pick<LedgerDeps, 'db' | 'clock' | 'webhookEngine'>,
  { account }: Principal,
  thresholdMinor: bigint | null,
): Promise<Money | null> {
  const written = newPendingMessages();
  const wallet = { accountId: account.id, currency: account.currency };
  await thresholds.setLowBalance(deps.db, wallet, thresholdMinor, deps.clock.now(), written);
  if (written.ids.length > 0) await deps.webhookEngine.deliver(written.ids);
  return thresholdMinor === null ? null : { amountMinor: thresholdMinor, currency: account.currency };
}
