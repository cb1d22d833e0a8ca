/**
 * What an account owes: money that a bank took back after the wallet had spent it. A wallet never goes below
 * zero, so the rest is booked on `owed:<account>`, a debit. Rule: money that comes into the wallet from a
 * payment pays what is owed first.
 */
import { sql } from 'kysely';
import { smaller, type Money } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { walletAccount, type LedgerEntry } from './ledger.ts';

export const owedAccount = (accountId: string): string => `owed:${accountId}`;

/** Entries that credit a wallet, paying what is owed first. Locks the wallet. */
export async function creditEntries(trx: WorldDb, accountId: string, credit: Money): Promise<LedgerEntry[]> {
  if (credit.amountMinor === 0n) return [];
  const { owed_minor: owedMinor } = await lockWallet(trx, accountId);
  const paidMinor = smaller(owedMinor, credit.amountMinor);
  return [
    { account: owedAccount(accountId), currency: credit.currency, amountMinor: paidMinor },
    {
      account: walletAccount(accountId),
      currency: credit.currency,
      amountMinor: credit.amountMinor - paidMinor,
    },
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
  if (owedMinor > 0n) await ensureOwedAccount(trx, accountId, currency);
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

async function ensureOwedAccount(trx: WorldDb, accountId: string, currency: string): Promise<void> {
  await sql`
    insert into ledger_accounts (id, kind, currency, account_id)
    values (${owedAccount(accountId)}, 'owed', ${currency}, ${accountId})
    on conflict (id) do nothing`.execute(trx);
}
