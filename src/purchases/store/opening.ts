/**
 * Opens a purchase in one statement: wallet hold, purchase, eSIM order, idempotency key and first event. Only
 * a refusal, a balance that became low or a quote needs a transaction around it.
 */
import { sql, type RawBuilder } from 'kysely';
import { beyondBudget, type BudgetBreach } from '../../accounts/keys/budget-rules.ts';
import { countriesOf, snapshotOf } from '../../catalogue/rules.ts';
import { toPackage, type StoredPackage } from '../../catalogue/store/catalogue.ts';
import { formatMinor } from '../../domain/money.ts';
import type { OwnDetails } from '../../domain/own-details.ts';
import { asFailureReason, refusalOf, type Refusal } from '../../domain/refusals.ts';
import { findWallet } from '../../ledger/store/ledger.ts';
import { enqueueLowBalance, type ThresholdCrossing } from '../../ledger/store/low-balance.ts';
import {
  chargeReference,
  DEFAULT_UNPAID_LIMITS,
  paymentWindowMs,
  type UnpaidLimits,
} from '../../payments/rules.ts';
import { openedAs, STAGES, type Opened } from '../../payments/opened.ts';
import {
  metadataText,
  openOnce,
  referenceTaken,
  type BeforeOpening,
  type OpeningOptions,
} from '../../payments/store/opening.ts';
import { TOO_MANY_UNPAID } from '../../payments/store/payments.ts';
import { callFunction, composite } from '../../platform/database/functions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { keepRefusedId, refuseKey } from '../../platform/idempotency/store.ts';
import type { PurchaseInput } from '../purchase.ts';
import { enqueueStatus } from './purchases.ts';
import { lockQuote, useQuote } from './quotes.ts';

export interface OpenOptions extends OpeningOptions {
  readonly now: Date;
  /**
   * Called at a refusal: may the caller have been answered PROCESSING? The refusal is then kept as a FAILED
   * purchase, so that reads show it.
   */
  readonly keepRefusal: () => boolean;
  /** The eSIM in whose place this one is delivered. */
  readonly replaces?: string;
}

/**
 * Writes purchase, eSIM order, wallet hold or payment, and idempotency row together, or refuses, writes no
 * purchase at all and leaves the key free. Where the purchase is written already, nothing of `input` changes
 * it. Answers the stage of the row that it wrote or found.
 */
export function openPurchase(db: WorldDb, input: PurchaseInput, options: OpenOptions): Promise<Opened> {
  return openOnce<Opened, Found>(db, input, options, {
    find: () => readBeforeOpening(db, input),
    open: (found) => openOrRefuse(db, input, options, found),
  });
}

async function openOrRefuse(
  db: WorldDb,
  input: PurchaseInput,
  options: OpenOptions,
  found: Found,
): Promise<Opened> {
  const refusal = found.refusal ?? options.refusal;
  const opening = refusal ? undefined : { ...options, item: found.item };
  const vendors = { supplier: found.item?.supplier, gateway: input.charge?.gateway };
  const opened = { stage: STAGES[statusOf(input)], vendors };
  // A quote is used up in the same transaction.
  const isOneStatement = opening && input.quoteId === undefined;
  if (isOneStatement && (await write(db, input, opening, { unlessLow: true })).is_opened) return opened;
  return db.transaction().execute(async (trx) => {
    const unusable = opening && (await lockQuote(trx, input));
    const written = opening && !unusable ? await write(trx, input, opening) : undefined;
    if (written?.is_opened) {
      await useQuote(trx, input, options.now);
      const { transactionId, accountId, quote } = input;
      const because = { key: transactionId, subject: transactionId, accountId, currency: quote.currency };
      await enqueueLowBalance(trx, because, written);
      return opened;
    }
    const lacking = input.paymentMethod === 'WALLET' ? () => insufficient(trx, input) : () => TOO_MANY_UNPAID;
    const beyond = written?.breach && beyondBudget(written.breach, input.quote.currency);
    const taken = written && referenceTaken(written.reference_used_by);
    const short = written?.is_unavailable ? UNAVAILABLE : undefined;
    const over = written?.is_beyond_mandate ? BEYOND_MANDATE : undefined;
    const ending = written?.is_being_replaced ? BEING_REPLACED : undefined;
    const why = refusal ?? unusable ?? taken ?? ending ?? short ?? over ?? beyond ?? (await lacking());
    return refuse(trx, input, options, why);
  });
}

const UNAVAILABLE: Refusal = {
  reason: 'PACKAGE_UNAVAILABLE',
  detail: 'the supplier has refused the package, or the balance there does not cover it',
};

const BEING_REPLACED: Refusal = {
  reason: 'ESIM_NOT_ACTIVE',
  detail: 'the eSIM is being replaced by a new one',
};

const BEYOND_MANDATE: Refusal = {
  reason: 'MANDATE_NOT_VALID',
  detail: 'its mandate has ended, has too little left, or has another top-up open',
};

/** The caller reads what was asked, and what there was. */
async function insufficient(trx: WorldDb, { accountId, quote }: PurchaseInput): Promise<Refusal> {
  const wallet = await findWallet(trx, accountId);
  const balanceMinor = wallet?.balance.amountMinor ?? 0n;
  const price = `the price is ${quote.currency} ${formatMinor(BigInt(quote.priceMinor))}`;
  const balance = `the wallet has ${quote.currency} ${formatMinor(balanceMinor)}`;
  return refusalOf('INSUFFICIENT_BALANCE', `${price}, ${balance}`);
}

/** Refuses unless another run has opened the purchase. A caller who has an answer finds a FAILED purchase. */
async function refuse(
  trx: WorldDb,
  input: PurchaseInput,
  options: OpenOptions,
  refusal: Refusal,
): Promise<Opened> {
  const isAnswered = await refuseKey(trx, input, refusal);
  const { opened, item } = await readBeforeOpening(trx, input);
  if (opened) return opened;
  if (isAnswered || options.keepRefusal()) {
    const terms = termsOf(input, { ...options, item });
    await callFunction(trx, 'write_purchase', { terms, refusal: refusal.reason });
    await enqueueStatus(trx, input.transactionId, 'FAILED');
  } else await keepRefusedId(trx, input.transactionId, refusal);
  return { stage: 'failed', refusal };
}

interface Found extends BeforeOpening<Opened> {
  readonly item: StoredPackage | undefined;
  /** Why the rows do not allow it. */
  readonly refusal?: Refusal;
}

async function readBeforeOpening(db: WorldDb, input: PurchaseInput): Promise<Found> {
  const row = await db
    .selectFrom(sql<{ one: number }>`(select 1 as one)`.as('here'))
    .leftJoin('packages', (join) => join.on('packages.package_code', '=', input.packageCode))
    .leftJoin('purchases', (join) => join.on('purchases.transaction_id', '=', input.transactionId))
    .leftJoin('esims', (join) =>
      join.on('esims.id', '=', input.esimId).on('esims.account_id', '=', input.accountId),
    )
    .leftJoin('refused_transaction_ids as refused', (join) =>
      join.on('refused.transaction_id', '=', input.transactionId),
    )
    .selectAll('packages')
    .select([
      'purchases.status as status',
      'purchases.reason as failure',
      'esims.status as esim_status',
      'refused.reason as refused_reason',
      'refused.detail as refused_detail',
      'refused.refused_at as refused_at',
    ])
    .executeTakeFirstOrThrow();
  const item = row.package_code === null ? undefined : toPackage(row as Parameters<typeof toPackage>[0]);
  if (row.status !== null) return { item, opened: openedAs(row.status, row.failure) };
  if (row.refused_reason !== null && row.refused_at !== null) {
    const refusal = refusalOf(asFailureReason(row.refused_reason), row.refused_detail ?? '');
    return { item, opened: { stage: 'failed', refusal }, refusedAt: row.refused_at };
  }
  if (!item || item.withdrawn)
    return { item, refusal: { reason: 'PACKAGE_WITHDRAWN', detail: 'withdrawn since it was listed' } };
  if (input.packageType === 'TOPUP' && row.esim_status !== 'ACTIVE') {
    const detail = `the eSIM is ${row.esim_status ?? 'unknown'}`;
    return { item, refusal: { reason: 'ESIM_NOT_ACTIVE', detail } };
  }
  return { item };
}

interface Opening {
  readonly item: StoredPackage | undefined;
  readonly now: Date;
  /** The defaults where it is absent. */
  readonly unpaidLimits?: UnpaidLimits | undefined;
  readonly ownDetails?: OwnDetails | undefined;
  /** The eSIM in whose place this one is delivered. */
  readonly replaces?: string | undefined;
}

interface Written extends ThresholdCrossing {
  /**
   * false, and nothing is written, if the balance is too low or too many payments are unpaid, the key's
   * budget does not allow it, its reference was to be unique and is not, another run has placed the hold, the
   * supplier could not deliver, or with `unlessLow` the balance would fall below its threshold.
   */
  readonly is_opened: boolean;
  /** The purchase or funding that has the reference. */
  readonly reference_used_by: string | null;
  readonly is_unavailable: boolean;
  readonly is_beyond_mandate: boolean;
  readonly is_being_replaced: boolean | null;
  readonly breach: BudgetBreach | null;
}

async function write(
  db: WorldDb,
  input: PurchaseInput,
  opening: Opening,
  { unlessLow = false } = {},
): Promise<Written> {
  const { idempotency, charge, paymentMethod: method } = input;
  return callFunction<Written>(db, 'open_purchase', {
    terms: termsOf(input, opening),
    charge: composite('charge_terms', {
      reference: chargeReference(input.transactionId, 1),
      gateway: charge?.gateway,
      amount_minor: charge?.amountMinor,
      currency: charge?.currency,
      window_ms: method === 'WALLET' ? undefined : paymentWindowMs(method, input.timings),
    }),
    idempotency_key: idempotency?.key ?? null,
    idempotency_path: idempotency?.path ?? null,
    fingerprint: idempotency?.fingerprint ?? null,
    follows: idempotency?.follows ?? null,
    unpaid_limits: JSON.stringify(opening.unpaidLimits ?? DEFAULT_UNPAID_LIMITS),
    unless_low: unlessLow,
  });
}

function termsOf(input: PurchaseInput, opening: Opening): RawBuilder<unknown> {
  const { item, now, ownDetails = {} } = opening;
  const { quote } = input;
  return composite('purchase_terms', {
    transaction_id: input.transactionId,
    account_id: input.accountId,
    package_type: input.packageType,
    payment_method: input.paymentMethod,
    package_code: input.packageCode,
    supplier: item?.supplier,
    package_name: item?.name ?? input.packageCode,
    volume_bytes: item?.volumeBytes ?? 0,
    duration: item?.duration ?? 0,
    duration_unit: item?.durationUnit,
    data_type: item?.dataType,
    snapshot: item && snapshotOf(item),
    esim_id: input.esimId,
    price_minor: quote.priceMinor,
    currency: quote.currency,
    price_usd_minor: quote.priceUsdMinor,
    cost_usd_e4: quote.costUsdE4,
    settings_id: quote.settingsId,
    rate_id: quote.rateId,
    request_id: input.requestId,
    in_flight_grace_ms: input.timings.inFlightGraceMs,
    created_at: now,
    key_id: input.keyId,
    countries: item && countriesOf(item),
    reference: ownDetails.reference,
    is_reference_unique: ownDetails.uniqueReference,
    metadata: metadataText(ownDetails.metadata),
    customer_email: ownDetails.customerEmail,
    success_url: ownDetails.successUrl,
    cancel_url: ownDetails.cancelUrl,
    replaces: opening.replaces,
    mandate_id: input.mandate?.id,
    mandate_sequence: input.mandate?.sequence,
  });
}

/** Of a purchase that has just been opened. */
const statusOf = ({ paymentMethod }: PurchaseInput) =>
  paymentMethod === 'WALLET' ? ('PROCESSING' as const) : ('PENDING' as const);
