import { formatMinor, type Money } from '../domain/money.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import { findAccount } from '../accounts/store/accounts.ts';
import { noAccount } from '../accounts/manage-accounts.ts';
import { DomainError } from '../domain/errors.ts';
import { ensureWallet, fundWallet, findWallet, findFunded } from './store/ledger.ts';
import { writeAudit } from '../accounts/store/audit.ts';

interface FundWallet {
  readonly accountId: string;
  readonly amount: Money;
  readonly reason: string;
  /** Each reference pays once, however often the command is repeated. */
  readonly reference: string;
}

/**
 * Credits a wallet and creates it where needed. Throws NOT_FOUND for an unknown account, VALIDATION_ERROR
 * where the account has another currency or the reference paid something else before. Returns the new
 * balance.
 */
export async function fund(
  dbs: { readonly accounts: AccountsDb; readonly world: WorldDb },
  request: FundWallet,
  actor: string,
): Promise<Money> {
  const account = await findAccount(dbs.accounts, request.accountId);
  if (!account) throw noAccount(request.accountId);
  if (account.currency !== request.amount.currency)
    throw new DomainError('VALIDATION_ERROR', `the account keeps ${account.currency}`);
  await refuseOtherUse(dbs.world, request);
  await ensureWallet(dbs.world, account.id, account.currency);
  const outcome = await fundWallet(dbs.world, {
    operationKey: fundingKey(request),
    accountId: account.id,
    amount: request.amount,
    reason: request.reason,
  });
  // The reference may have been used since the first check.
  if (outcome === 'already') await refuseOtherUse(dbs.world, request);
  const { amount, reference, reason } = request;
  await writeAudit(dbs.accounts, {
    actor,
    action: 'wallet.fund',
    subject: account.id,
    detail: { ...amount, amountMinor: String(amount.amountMinor), reference, reason, outcome },
  });
  const wallet = await findWallet(dbs.world, account.id);
  return wallet?.balance ?? { amountMinor: 0n, currency: account.currency };
}

const fundingKey = ({ reference }: FundWallet): string => `fund:${reference}`;

async function refuseOtherUse(world: WorldDb, request: FundWallet): Promise<void> {
  const funded = await findFunded(world, fundingKey(request));
  if (!funded) return;
  const { accountId, amount } = funded;
  const { amountMinor, currency } = request.amount;
  if (accountId === request.accountId && amount.amountMinor === amountMinor && amount.currency === currency)
    return;
  throw new DomainError(
    'VALIDATION_ERROR',
    `--reference ${request.reference} was used before, for ${formatMinor(amount.amountMinor)} ${amount.currency} to ${accountId}; nothing was paid`,
  );
}
