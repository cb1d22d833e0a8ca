// What a test of a purchase needs beside it: a package on sale, and wallets with money.
import { randomUUID } from 'node:crypto';
import { replaceCatalogue } from '../../../src/catalogue/store/catalogue.ts';
import type { AccountCurrency } from '../../../src/domain/money.ts';
import { ensureWallet, fundWallet } from '../../../src/ledger/store/ledger.ts';
import type { WorldDb } from '../../../src/platform/database/tables.ts';
import { basePackage, region } from './facts.ts';

/** The package of `purchaseInput` is on sale from then on. */
export function stockCatalogue(world: WorldDb, since: Date) {
  const catalogue = { supplier: 'esim-access', regions: [region()], packages: [basePackage()] };
  return replaceCatalogue(world, catalogue, since);
}

/** Makes a wallet with money in it, and returns its account. */
export async function newWallet(
  world: WorldDb,
  {
    accountId = `acc-${randomUUID()}`,
    fundsMinor = 10_000n,
    currency = 'USD',
  }: { readonly accountId?: string; readonly fundsMinor?: bigint; readonly currency?: AccountCurrency } = {},
): Promise<string> {
  await ensureWallet(world, accountId, currency);
  if (fundsMinor > 0n) await addMoney(world, accountId, { amountMinor: fundsMinor, currency });
  return accountId;
}

/** Each key once; by default once for each account. */
export const addMoney = (
  db: WorldDb,
  accountId: string,
  { operationKey = `fund:${accountId}`, currency = 'USD', amountMinor }: MoneyIn,
) => fundWallet(db, { operationKey, accountId, amount: { amountMinor, currency }, reason: 'a test' });

interface MoneyIn {
  readonly amountMinor: bigint;
  readonly currency?: string;
  readonly operationKey?: string;
}
