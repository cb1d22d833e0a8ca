import { randomBytes } from 'node:crypto';
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { isId, makeId } from '../domain/ids.ts';
import { writeOnce } from '../platform/idempotency/keyed-writes.ts';
import { chooseBase, chooseFitting, type ChooseDeps, currentTerms, quoteMismatch } from './terms.ts';
import type { PurchaseDeps } from './deps.ts';
import { findQuote, insertQuote, type NewQuote, type QuoteRow } from './store/quotes.ts';
import type { BuyCommand } from './views.ts';

/** Long enough for a checkout of the merchant's own; the risk of rates and costs in that time is ours. */
export const QUOTE_LIFE_MS = 15 * 60_000;
/**
 * More than a shop has checkouts open in 15 minutes. Bounds what a change of costs or rates can cost us with
 * one account.
 */
export const MAX_OPEN_QUOTES = 500;

/** With a payment method, what is charged by it is frozen too. */
type QuoteCommand = Pick<BuyCommand, 'packageCode' | 'packageType' | 'esimId' | 'idempotency'> &
  Partial<Pick<BuyCommand, 'paymentMethod'>>;

/**
 * Freezes price and rate. PACKAGE_NOT_FOUND, PACKAGE_UNAVAILABLE, INVALID_TOPUP, ESIM_NOT_FOUND,
 * PAYMENT_METHOD_UNAVAILABLE, TOO_MANY_OPEN_QUOTES.
 */
export async function createQuote(
  deps: ChooseDeps,
  principal: Principal,
  command: QuoteCommand,
): Promise<QuoteRow> {
  const { account } = principal;
  return writeOnce(deps, principal, command.idempotency, {
    prepare: () => newQuote(deps, principal, command),
    write: async (trx, quote) => {
      if (!(await insertQuote(trx, quote, MAX_OPEN_QUOTES)))
        throw new DomainError(
          'TOO_MANY_OPEN_QUOTES',
          `An account has at most ${MAX_OPEN_QUOTES} quotes that are neither used nor expired`,
        );
      return { resultId: quote.id, value: await readQuote({ db: trx }, account.id, quote.id) };
    },
    readEarlier: (quoteId) => readQuote(deps, account.id, quoteId),
  });
}

async function newQuote(deps: ChooseDeps, principal: Principal, command: QuoteCommand): Promise<NewQuote> {
  const { packageType, paymentMethod } = command;
  const choice = { packageCode: command.packageCode, esimId: command.esimId ?? '' };
  const item =
    packageType === 'BASE' ? chooseBase(deps, choice) : (await chooseFitting(deps, principal, choice)).item;
  const { quote, charge } = currentTerms(deps, principal, command, item);
  const now = deps.clock.now();
  return {
    id: makeId('quote', randomBytes(16).toString('hex')),
    account_id: principal.account.id,
    package_type: packageType,
    package_code: item.packageCode,
    package_name: item.name,
    esim_id: packageType === 'TOPUP' ? choice.esimId : null,
    payment_method: paymentMethod ?? null,
    price_minor: BigInt(quote.priceMinor),
    currency: quote.currency,
    price_usd_minor: BigInt(quote.priceUsdMinor),
    cost_usd_e4: BigInt(quote.costUsdE4),
    settings_id: quote.settingsId,
    rate_id: quote.rateId ?? null,
    charge: JSON.stringify(charge ?? null),
    created_at: now,
    expires_at: new Date(now.getTime() + QUOTE_LIFE_MS),
  };
}

async function readQuote(
  { db }: Pick<PurchaseDeps, 'db'>,
  accountId: string,
  quoteId: string,
): Promise<QuoteRow> {
  const row = await findQuote(db, accountId, quoteId, null);
  if (!row) throw quoteNotFound();
  return row;
}

/**
 * The quote that the command names. Whether it is used is decided again in the transaction that opens the
 * purchase. QUOTE_NOT_FOUND, also for another account's, QUOTE_USED, QUOTE_EXPIRED, QUOTE_MISMATCH.
 */
export async function findUsableQuote(
  { db, clock }: Pick<PurchaseDeps, 'db' | 'clock'>,
  { account }: Principal,
  command: BuyCommand,
  transactionId: string,
): Promise<QuoteRow | undefined> {
  const { quoteId } = command;
  if (quoteId === undefined) return undefined;
  const row = isId('quote', quoteId) ? await findQuote(db, account.id, quoteId, transactionId) : undefined;
  if (!row) throw quoteNotFound();
  if (row.isUsed)
    throw new DomainError('QUOTE_USED', 'This quote has been used for another purchase', {
      details: `used by ${row.used_by ?? ''}`,
    });
  if (row.expires_at <= clock.now()) throw new DomainError('QUOTE_EXPIRED', 'This quote has expired');
  if (row.package_type !== command.packageType) throw quoteMismatch('packageType');
  if (row.esim_id !== (command.esimId ?? null)) throw quoteMismatch('esimId');
  if (row.payment_method !== null && row.payment_method !== command.paymentMethod)
    throw quoteMismatch('paymentMethod');
  return row;
}

function quoteNotFound(): DomainError {
  return new DomainError('QUOTE_NOT_FOUND', 'Quote not found');
}
