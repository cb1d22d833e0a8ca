import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import type { Page, PageQuery } from '../domain/page.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import {
  countTransactions,
  isOwnTransaction,
  readTransactions,
  type ListedTransaction,
  type TransactionFilters,
} from './store/list-transactions.ts';

/**
 * Transactions that are counted and reached by page number, at most: nobody pages further. A cursor has no
 * such limit.
 */
export const MAX_COUNTED = 10_000;

interface TransactionsCommand extends Omit<TransactionFilters, 'accountId'>, PageQuery {
  readonly after?: string | undefined;
}

export interface TransactionPage extends Page<ListedTransaction> {
  /** There are more than `total`: not all were counted. */
  readonly totalIsMinimum: boolean;
  readonly next: string | undefined;
}

/** Purchases and fundings of the account, newest first. Throws VALIDATION_ERROR. */
export async function listTransactions(
  { db }: { readonly db: WorldDb },
  { account }: Principal,
  { page, limit, after, ...filters }: TransactionsCommand,
): Promise<TransactionPage> {
  const { from, to } = filters;
  if (from !== undefined && to !== undefined && from >= to) throw invalid('from: must be before to');
  const offset = (page - 1) * limit;
  if (offset + limit > MAX_COUNTED)
    throw invalid(`page: reaches the newest ${MAX_COUNTED}; go on with after and nextCursor`);
  if (after !== undefined && !(await isOwnTransaction(db, account.id, after)))
    throw invalid('after: must be the nextCursor of a page');
  const mine = { ...filters, accountId: account.id };
  const [{ items, next }, { total, isMinimum }] = await Promise.all([
    readTransactions(db, { ...mine, offset, limit, after }),
    countTransactions(db, mine, MAX_COUNTED),
  ]);
  return { items, total, page, limit, totalIsMinimum: isMinimum, next };
}

function invalid(details: string): DomainError {
  return new DomainError('VALIDATION_ERROR', 'Invalid request', { details });
}
