import { sql, type Insertable, type Selectable } from 'kysely';
import type { Refusal } from '../../domain/refusals.ts';
import { inBatches } from '../../platform/database/retention.ts';
import { inTransaction, lockByName } from '../../platform/database/transactions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { PurchaseInput } from '../purchase.ts';
import type { QuotesTable } from './tables.ts';

export type QuoteRow = Selectable<QuotesTable>;
export type NewQuote = Omit<Insertable<QuotesTable>, 'used_by' | 'used_at'>;

/**
 * false: the account has `maxOpen` quotes that are neither used nor expired. Requests that come together are
 * counted one after the other.
 */
export function insertQuote(db: WorldDb, quote: NewQuote, maxOpen: number): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await lockByName(trx, `quotes of ${quote.account_id}`);
    const open = await trx
      .selectFrom('quotes')
      .select('id')
      .where('account_id', '=', quote.account_id)
      .where('used_by', 'is', null)
      .where('expires_at', '>', quote.created_at)
      .limit(maxOpen)
      .execute();
    if (open.length >= maxOpen) return false;
    await trx
      .insertInto('quotes')
      .values({ ...quote, used_by: null, used_at: null })
      .execute();
    return true;
  });
}

/** Only the account's own. `isUsed`: by another purchase than this one, which has not failed. */
export async function findQuote(
  db: WorldDb,
  accountId: string,
  id: string,
  transactionId: string | null,
): Promise<(QuoteRow & { readonly isUsed: boolean }) | undefined> {
  const row = await db
    .selectFrom('quotes')
    .leftJoin('purchases', 'purchases.transaction_id', 'quotes.used_by')
    .selectAll('quotes')
    .select('purchases.status as use_status')
    .where('quotes.id', '=', id)
    .where('quotes.account_id', '=', accountId)
    .executeTakeFirst();
  return row && { ...row, isUsed: isUsedByAnother(row, row.use_status, transactionId) };
}

const isUsedByAnother = ({ used_by }: QuoteRow, useStatus: string | null, transactionId: string | null) =>
  used_by !== null && used_by !== transactionId && useStatus !== 'FAILED';

type QuotedInput = Pick<
  PurchaseInput,
  'quoteId' | 'accountId' | 'transactionId' | 'packageCode' | 'packageType' | 'quote'
>;

/**
 * Holds the quote until the end of the transaction, so that of two purchases with one quote the second sees
 * what became of the first. Returns why it cannot be used. When it expires was decided by the API, which has
 * signed the input.
 */
export async function lockQuote(trx: WorldDb, input: QuotedInput): Promise<Refusal | undefined> {
  const { quoteId, accountId, transactionId } = input;
  if (quoteId === undefined) return undefined;
  await sql`select from quotes where id = ${quoteId} for no key update`.execute(trx);
  // A statement of its own sees what a purchase has written that held the lock before.
  const row = await findQuote(trx, accountId, quoteId, transactionId);
  if (!row || !isPriceOf(row, input))
    return { reason: 'NOT_VERIFIED', detail: `its price is not that of ${quoteId}` };
  if (row.isUsed) return { reason: 'QUOTE_USED', detail: `${quoteId} was used by ${row.used_by ?? ''}` };
  return undefined;
}

function isPriceOf(row: QuoteRow, { packageCode, packageType, quote }: QuotedInput): boolean {
  return (
    row.package_code === packageCode &&
    row.package_type === packageType &&
    row.currency === quote.currency &&
    String(row.price_minor) === quote.priceMinor &&
    String(row.price_usd_minor) === quote.priceUsdMinor &&
    row.settings_id === quote.settingsId &&
    row.rate_id === (quote.rateId ?? null)
  );
}

/** In the transaction that opens the purchase, after lockQuote. */
export async function useQuote(
  trx: WorldDb,
  { quoteId, transactionId }: Pick<PurchaseInput, 'quoteId' | 'transactionId'>,
  now: Date,
): Promise<void> {
  if (quoteId === undefined) return;
  await trx
    .updateTable('quotes')
    .set({ used_by: transactionId, used_at: now })
    .where('id', '=', quoteId)
    .execute();
}

/**
 * Takes the quote back, so that no purchase is opened with it any more. false: one was, or will be. A
 * purchase that is being opened holds the quote, and this waits for it.
 */
export async function withdrawQuote(
  trx: WorldDb,
  quoteId: string,
  { by, now }: { readonly by: string; readonly now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('quotes')
    .set({ used_by: by, used_at: now })
    .where('id', '=', quoteId)
    // A purchase that failed has freed it.
    .where((where) =>
      where.or([
        where('used_by', 'is', null),
        where.exists(
          where
            .selectFrom('purchases')
            .select('transaction_id')
            .whereRef('transaction_id', '=', 'quotes.used_by')
            .where('status', '=', 'FAILED'),
        ),
      ]),
    )
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export function forgetQuotes(db: WorldDb, expiredBefore: Date, isOver?: () => boolean): Promise<number> {
  return inBatches(async (limit) => {
    const { numAffectedRows } = await sql`
      delete from quotes where id = any(array(
        select id from quotes where expires_at < ${expiredBefore}
         order by expires_at limit ${limit} for update skip locked))`.execute(db);
    return Number(numAffectedRows ?? 0n);
  }, isOver);
}
