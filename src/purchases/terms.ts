/**
 * Which package a request names, whether it can be bought now, and what it costs: the present price, or that
 * of a quote. Nothing is computed again afterwards.
 */
import { randomBytes } from 'node:crypto';
import { beyondBudget } from '../accounts/keys/budget-rules.ts';
import { findBreach } from '../accounts/store/budgets.ts';
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { formatMinor } from '../domain/money.ts';
import type { PaymentMethod } from '../domain/states.ts';
import { countriesOf, type CataloguePackage } from '../catalogue/rules.ts';
import { isDeliverable } from '../catalogue/shortage-rules.ts';
import { COST_UNITS_PER_CENT } from '../catalogue/pricing.ts';
import { createPricer, isOnSale } from '../catalogue/prices.ts';
import { refused } from '../payments/first-answer.ts';
import { quoteCharge } from '../payments/gateway-payments.ts';
import { requireReturnable } from '../payments/own-details.ts';
import { packageNotFound } from '../catalogue/browse.ts';
import type { TopUps } from '../catalogue/top-ups.ts';
import { refreshBeforeTopUp } from '../esims/read-esims.ts';
import { findEsim, type EsimRow } from '../esims/store/esims.ts';
import { isId, makeId } from '../domain/ids.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { writeOnce } from '../platform/idempotency/keyed-writes.ts';
import type { PurchaseDeps } from './deps.ts';
import type { PurchaseInput } from './purchase.ts';
import { type QuoteRow, findQuote, insertQuote, type NewQuote } from './store/quotes.ts';
import type { BuyCommand } from './views.ts';

export type PurchaseTerms = Pick<PurchaseInput, 'quote' | 'quoteId' | 'charge'>;
type TermsDeps = Pick<PurchaseDeps, 'catalogue' | 'clock' | 'settings' | 'gateway'>;

/**
 * EXCHANGE_RATE_UNAVAILABLE, PAYMENT_METHOD_UNAVAILABLE; PACKAGE_UNAVAILABLE for what costs this account
 * nothing.
 */
export function currentTerms(
  deps: TermsDeps,
  { account }: Principal,
  { paymentMethod = 'WALLET' }: { readonly paymentMethod?: PaymentMethod | undefined },
  item: CataloguePackage,
): PurchaseTerms {
  const catalogue = deps.catalogue.current();
  const { price: priceOf, rate } = createPricer(deps, catalogue, account, account.currency);
  const priced = priceOf(item);
  if (!isOnSale(priced)) throw refused({ reason: 'PACKAGE_WITHDRAWN', detail: 'it costs nothing' });
  const { price, priceUsdMinor } = priced;
  return {
    quote: {
      priceMinor: String(price.amountMinor),
      currency: account.currency,
      priceUsdMinor: String(priceUsdMinor),
      costUsdE4: String(item.cost),
      settingsId: catalogue.settings.id,
      ...(rate ? { rateId: rate.id } : {}),
    },
    ...(paymentMethod === 'WALLET' ? {} : { charge: quoteCharge(deps, catalogue, paymentMethod, price) }),
  };
}

/**
 * The quote's price. The order goes to the supplier at its present cost, since it refuses any other: we carry
 * the difference, down to a margin of nothing. PACKAGE_UNAVAILABLE where the cost has risen above the price,
 * QUOTE_MISMATCH for another package.
 */
export function quotedTerms(
  deps: TermsDeps,
  { paymentMethod }: Pick<BuyCommand, 'paymentMethod'>,
  item: CataloguePackage,
  row: QuoteRow,
): PurchaseTerms {
  if (item.packageCode !== row.package_code) throw quoteMismatch('packageCode');
  if (item.cost > row.cost_usd_e4 && item.cost > row.price_usd_minor * COST_UNITS_PER_CENT)
    throw refused({ reason: 'PRICE_CHANGED', detail: 'the cost rose above the quoted price' });
  const price = { amountMinor: row.price_minor, currency: row.currency };
  return {
    quote: {
      priceMinor: String(row.price_minor),
      currency: row.currency,
      priceUsdMinor: String(row.price_usd_minor),
      costUsdE4: String(item.cost),
      settingsId: row.settings_id,
      ...(row.rate_id === null ? {} : { rateId: row.rate_id }),
    },
    quoteId: row.id,
    ...(paymentMethod === 'WALLET'
      ? {}
      : { charge: row.charge ?? quoteCharge(deps, deps.catalogue.current(), paymentMethod, price) }),
  };
}

function quoteMismatch(field: string): DomainError {
  return new DomainError('QUOTE_MISMATCH', `The quote was made for another ${field}`);
}

/** CURRENCY_MISMATCH. */
export function requireAccountCurrency(
  { account }: Principal,
  { maxPrice }: Pick<BuyCommand, 'maxPrice'>,
): void {
  if (maxPrice && maxPrice.currency !== account.currency)
    throw new DomainError('CURRENCY_MISMATCH', `Prices of this account are in ${account.currency}`);
}

/** PRICE_ABOVE_MAX. The price is frozen with these terms, so nothing dearer is ever charged. */
export function requireMaxPrice(
  { maxPrice }: Pick<BuyCommand, 'maxPrice'>,
  { quote: { priceMinor, currency } }: PurchaseTerms,
): void {
  if (maxPrice && BigInt(priceMinor) > maxPrice.amountMinor)
    throw new DomainError(
      'PRICE_ABOVE_MAX',
      `The price is ${currency} ${formatMinor(BigInt(priceMinor))}, above maxPrice`,
    );
}

/**
 * KEY_BUDGET_EXCEEDED, before anything is held: the hold of each purchase decides again. A quote is for no
 * purchase yet, so nothing that is used up counts.
 */
export async function requireWithinBudget(
  { db }: Pick<PurchaseDeps, 'db'>,
  { account, keyId }: Principal,
  order: Parameters<typeof findBreach>[2],
): Promise<void> {
  const breach = isId('key', keyId) ? await findBreach(db, keyId, order) : null;
  if (breach) throw refused(beyondBudget(breach, account.currency));
}

/**
 * PACKAGE_UNAVAILABLE, before a buyer pays, for what the supplier would refuse as far as this process knows.
 * The statement that opens the purchase decides again.
 */
export function requireDeliverable(
  { catalogue, clock }: Pick<PurchaseDeps, 'catalogue' | 'clock'>,
  { paymentMethod }: { readonly paymentMethod?: PaymentMethod | undefined },
  item: CataloguePackage,
): void {
  if (!isDeliverable(catalogue.current().availability, item, paymentMethod, clock.now()))
    throw refused({ reason: 'PACKAGE_UNAVAILABLE', detail: '' });
}

export type ChooseDeps = PurchaseDeps & { readonly topUps: TopUps };
type PackageChoice = Pick<BuyCommand, 'packageCode' | 'esimId'>;

export interface ChosenPackage {
  readonly item: CataloguePackage;
  readonly esimId: string;
}

/** PACKAGE_NOT_FOUND, PACKAGE_UNAVAILABLE. */
export function chooseBase(deps: Pick<ChooseDeps, 'catalogue'>, choice: PackageChoice): CataloguePackage {
  const item = deps.catalogue.current().byCode.get(choice.packageCode);
  if (!item) throw packageNotFound();
  if (item.withdrawn) throw refused({ reason: 'PACKAGE_WITHDRAWN', detail: '' });
  return item;
}

/** Asks the supplier for the eSIM's state. ESIM_NOT_FOUND, PACKAGE_NOT_FOUND, INVALID_TOPUP. */
export async function chooseTopUp(
  deps: ChooseDeps,
  principal: Principal,
  choice: PackageChoice,
): Promise<ChosenPackage> {
  const { item, row } = await chooseFitting(deps, principal, choice);
  if (row.replaced_by !== null)
    throw new DomainError('INVALID_TOPUP', `The eSIM was replaced by ${row.replaced_by}`);
  const fresh = row.esim_tran_no === '' ? row : await refreshBeforeTopUp(deps, row);
  if (fresh.status !== 'ACTIVE')
    throw new DomainError(
      'INVALID_TOPUP',
      `Only an ACTIVE eSIM can be topped up, this one is ${fresh.status}`,
    );
  if (fresh.smdp_status === 'DELETED')
    throw new DomainError(
      'INVALID_TOPUP',
      'The eSIM was deleted from the phone and cannot be installed again',
    );
  return { item, esimId: row.id };
}

/** The same, in any state of the eSIM. */
async function chooseFitting(
  deps: Pick<ChooseDeps, 'db' | 'catalogue' | 'topUps'>,
  principal: Principal,
  choice: PackageChoice,
): Promise<{ readonly item: CataloguePackage; readonly row: EsimRow }> {
  const row = await findEsim(deps.db, choice.esimId ?? '');
  if (row?.account_id !== principal.account.id) {
    throw new DomainError('ESIM_NOT_FOUND', 'eSIM not found or does not belong to your account');
  }
  const base = deps.catalogue.current().byCode.get(row.package_code);
  const fitting = base ? await deps.topUps.of(base) : [];
  const item =
    fitting.find((topUp) => topUp.packageCode === choice.packageCode) ??
    fitting.find((topUp) => topUp.packageCode === `TOPUP_${choice.packageCode}`);
  if (item) return { item, row };
  if (!(await deps.topUps.find(choice.packageCode))) throw packageNotFound();
  throw new DomainError('INVALID_TOPUP', 'This top-up package does not fit the package of the eSIM');
}

/** Long enough for a checkout of the merchant's own; the risk of rates and costs in that time is ours. */
export const QUOTE_LIFE_MS = 15 * 60_000;
/**
 * More than a shop has checkouts open in 15 minutes. Bounds what a change of costs or rates can cost us with
 * one account.
 */
export const MAX_OPEN_QUOTES = 500;

/** With a payment method, what is charged by it is frozen too. */
type QuoteCommand = Pick<
  BuyCommand,
  'packageCode' | 'packageType' | 'esimId' | 'ownDetails' | 'idempotency'
> &
  Partial<Pick<BuyCommand, 'paymentMethod'>>;

/**
 * Freezes price and rate. PACKAGE_NOT_FOUND, PACKAGE_UNAVAILABLE, INVALID_TOPUP, ESIM_NOT_FOUND,
 * PAYMENT_METHOD_UNAVAILABLE, TOO_MANY_OPEN_QUOTES, KEY_BUDGET_EXCEEDED, RETURN_URL_NOT_ALLOWED.
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
      await keepQuote(trx, quote);
      return { resultId: quote.id, value: await readQuote({ db: trx }, account.id, quote.id) };
    },
    readEarlier: (quoteId) => readQuote(deps, account.id, quoteId),
  });
}

/** TOO_MANY_OPEN_QUOTES. */
export async function keepQuote(trx: WorldDb, quote: NewQuote): Promise<void> {
  if (await insertQuote(trx, quote, MAX_OPEN_QUOTES)) return;
  throw new DomainError(
    'TOO_MANY_OPEN_QUOTES',
    `An account has at most ${MAX_OPEN_QUOTES} quotes that are neither used nor expired`,
  );
}

/** What is not kept yet. The refusals of `createQuote`, but TOO_MANY_OPEN_QUOTES. */
export async function newQuote(
  deps: ChooseDeps,
  principal: Principal,
  command: Omit<QuoteCommand, 'idempotency'>,
): Promise<NewQuote> {
  const { packageType, paymentMethod, ownDetails } = command;
  await requireReturnable(deps, principal, ownDetails ?? {});
  const choice = { packageCode: command.packageCode, esimId: command.esimId ?? '' };
  const item =
    packageType === 'BASE' ? chooseBase(deps, choice) : (await chooseFitting(deps, principal, choice)).item;
  requireDeliverable(deps, command, item);
  const { quote, charge } = currentTerms(deps, principal, command, item);
  const priceMinor = BigInt(quote.priceMinor);
  const order = { totalMinor: priceMinor, dearestMinor: priceMinor, countries: countriesOf(item) };
  await requireWithinBudget(deps, principal, { ...order, purchases: 0 });
  const now = deps.clock.now();
  return {
    id: makeId('quote', randomBytes(16).toString('hex')),
    account_id: principal.account.id,
    package_type: packageType,
    package_code: item.packageCode,
    package_name: item.name,
    esim_id: packageType === 'TOPUP' ? choice.esimId : null,
    payment_method: paymentMethod ?? null,
    price_minor: priceMinor,
    currency: quote.currency,
    price_usd_minor: BigInt(quote.priceUsdMinor),
    cost_usd_e4: BigInt(quote.costUsdE4),
    settings_id: quote.settingsId,
    rate_id: quote.rateId ?? null,
    charge: JSON.stringify(charge ?? null),
    own_details: JSON.stringify(ownDetails ?? null),
    created_at: now,
    expires_at: new Date(now.getTime() + QUOTE_LIFE_MS),
  };
}

/** QUOTE_NOT_FOUND, also for another account's. */
export const getQuote = (
  deps: Pick<PurchaseDeps, 'db'>,
  { account }: Principal,
  quoteId: string,
): Promise<QuoteRow> => readQuote(deps, account.id, quoteId);

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
