/**
 * What an account owes: money that a bank took back after the wallet had spent it. A wallet never goes below
 * zero, so the rest is booked on `owed:<account>`, a debit. Rule: money that comes into the wallet from a
 * payment pays what is owed first.
 */
import { smaller, type Money } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { ensureAccounts, walletAccount, type LedgerEntry } from './ledger.ts';

export const owedAccount = (accountId: string): string => `owed:${accountId}`;

/** Entries that credit a wallet, paying what is owed first. Locks the wallet. */
export async function creditEntries(
  trx: WorldDb,
  accountId: string,
  { amountMinor, currency }: Money,
): Promise<LedgerEntry[]> {
  if (amountMinor === 0n) return [];
  const { owed_minor: owedMinor } = await lockWallet(trx, accountId);
  const paidMinor = smaller(owedMinor, amountMinor);
  return [
    { account: owedAccount(accountId), currency, amountMinor: paidMinor },
    { account: walletAccount(accountId), currency, amountMinor: amountMinor - paidMinor },
  ];
}

/** Entries that debit a wallet; what it does not have is owed. Locks the wallet. */
export async function debitEntries(
  trx: WorldDb,
  accountId: string,
  { amountMinor, currency }: Money,
): Promise<LedgerEntry[]> {
  if (amountMinor === 0n) return [];
  const { balance_minor: balanceMinor } = await lockWallet(trx, accountId);
  const takenMinor = smaller(balanceMinor, amountMinor);
  const owedMinor = amountMinor - takenMinor;
  const owed = { id: owedAccount(accountId), kind: 'owed', currency, account_id: accountId };
  if (owedMinor > 0n) await ensureAccounts(trx, [owed]);
  return [
    { account: walletAccount(accountId), currency, amountMinor: -takenMinor },
    { account: owedAccount(accountId), currency, amountMinor: -owedMinor },
  ];
}

/** Locks a wallet and returns what is in it and what its account owes. Zero where there is none. */
export async function lockWallet(
  trx: WorldDb,
  accountId: string,
): Promise<{ readonly balance_minor: bigint; readonly owed_minor: bigint }> {
  const wallet = await trx
    .selectFrom('wallets')
    .select(['balance_minor', 'owed_minor'])
    .where('account_id', '=', accountId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return wallet ?? { balance_minor: 0n, owed_minor: 0n };
}
