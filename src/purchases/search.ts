import type { Principal } from '../domain/account.ts';
import type { PurchaseDeps } from './deps.ts';
import { findOwn, type FoundItem } from './store/search.ts';

/** More than one request or event leads to. */
export const MAX_FOUND = 20;

/** What of the account has this id. Nothing of another account. */
export function searchOwn(
  { db }: Pick<PurchaseDeps, 'db'>,
  { account }: Principal,
  text: string,
): Promise<readonly FoundItem[]> {
  return findOwn(db, account.id, text, MAX_FOUND);
}
