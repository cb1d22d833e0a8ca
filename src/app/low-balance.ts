/** The amount below which an account wants to hear that its wallet runs low. */
import type { Principal } from '../domain/account.ts';
import type { Money } from '../domain/money.ts';
import * as thresholds from '../store/low-balance.ts';
import type { WorldDeps } from './world-deps.ts';

export async function getLowBalance(
  deps: Pick<WorldDeps, 'db'>,
  { account }: Principal,
): Promise<Money | null> {
  const found = await thresholds.findLowBalance(deps.db, account.id);
  return found ? { amountMinor: found.thresholdMinor, currency: account.currency } : null;
}

/** Answers what holds from now on; null: never. */
export async function setLowBalance(
  deps: Pick<WorldDeps, 'db' | 'clock'>,
  { account }: Principal,
  thresholdMinor: bigint | null,
): Promise<Money | null> {
  await thresholds.setLowBalance(deps.db, account.id, thresholdMinor, deps.clock.now());
  return thresholdMinor === null ? null : { amountMinor: thresholdMinor, currency: account.currency };
}
