/**
 * Opens a purchase in one statement: wallet hold, purchase, eSIM order, idempotency key and first event. Only a refusal, a balance that became low or a
 * quote needs a transaction around it.
 */
import { sql, type Insertable, type InsertObject, type RawBuilder } from 'kysely';
import { snapshotOf } from '../../catalogue/rules.ts';
import { toPackage, type StoredPackage } from '../../catalogue/store/catalogue.ts';
import { asFailureReason, type Refusal } from '../../domain/refusals.ts';
import { placeHoldQueries } from '../../ledger/store/holds.ts';
import { enqueueLowBalance, NO_CROSSING, type ThresholdCrossing } from '../../ledger/store/low-balance.ts';
import type { UnpaidLimits } from '../../payments/rules.ts';
import { openedAs, STAGES, type Opened } from '../../payments/opened.ts';
import { openOnce, type BeforeOpening, type OpeningOptions } from '../../payments/store/opening.ts';
import { mayOpenUnpaid, TOO_MANY_UNPAID, newPayment } from '../../payments/store/payments.ts';
import type { WorldDatabase, WorldDb } from '../../platform/database/tables.ts';
import { idempotencyKeyInserts, keepRefusedId, refuseKey } from '../../platform/idempotency/store.ts';
import { newPendingMessages, type PendingMessages } from '../../webhooks/store/messages.ts';
import type { PurchaseInput } from '../purchase.ts';
import { enqueueStatus } from './messages.ts';
import { lockQuote, useQuote } from './quotes.ts';

export interface OpenOptions extends OpeningOptions {
  readonly now: Date;
  /** Called at a refusal: may the caller have been answered PROCESSING? The refusal is then kept as a FAILED purchase, so that reads show it. */
  readonly keepRefusal: () => boolean;
}

const INSUFFICIENT: Refusal = { reason: 'INSUFFICIENT_BALANCE', detail: 'wallet balance below the price' };

/**
 * Writes purchase, eSIM order, wallet hold or payment, and idempotency row together, or refuses, writes no
 * purchase at all and leaves the key free. Where the purchase is written already, nothing of `input` changes
 * it. Answers the stage of the row that it wrote or found.
 */
export function openPurchase(
  db: WorldDb,
  input: PurchaseInput,
  options: OpenOptions,
  pending: PendingMessages = newPendingMessages(),
): Promise<Opened> {
  return openOnce<Opened, Found>(db, input, options, {
    find: () => readBeforeOpening(db, input),
    open: (found) => openOrRefuse(db, input, options, found, pending),
  });
}

async function openOrRefuse(
  db: WorldDb,
  input: PurchaseInput,
  options: OpenOptions,
  found: Found,
  pending: PendingMessages,
): Promise<Opened> {
  const refusal = found.refusal ?? options.refusal;
  const opening = refusal ? undefined : openingOf(input, options, found.item);
  const { unpaidLimits } = options;
  const vendors = { supplier: found.item?.supplier ?? null, gateway: input.charge ? options.gateway : null };
  const opened = { stage: STAGES[statusOf(input)], vendors };
  // A quote is used up in the same transaction.
  const isOneStatement = opening && input.quoteId === undefined;
  if (isOneStatement && (await write(db, input, { opening, unpaidLimits, unlessLow: true }))) return opened;
  return db.transaction().execute(async (trx) => {
    const unusable = opening && (await lockQuote(trx, input));
    const written = opening && !unusable && (await write(trx, input, { opening, unpaidLimits }));
    if (written) {
      await useQuote(trx, input, options.now);
      const { transactionId, accountId, quote } = input;
      const because = { key: transactionId, subject: transactionId, accountId, currency: quote.currency };
      await enqueueLowBalance(trx, because, written, pending);
      return opened;
    }
    const lacking = input.paymentMethod === 'WALLET' ? INSUFFICIENT : TOO_MANY_UNPAID;
    return refuse(trx, input, options, refusal ?? unusable ?? lacking, pending);
  });
}

/** Refuses unless another run has opened the purchase. A caller who has an answer finds a FAILED purchase. */
async function refuse(
  trx: WorldDb,
  input: PurchaseInput,
  options: OpenOptions,
  refusal: Refusal,
  pending: PendingMessages,
): Promise<Opened> {
  const isAnswered = await refuseKey(trx, input, refusal);
  const { opened, item } = await readBeforeOpening(trx, input);
  if (opened) return opened;
  if (isAnswered || options.keepRefusal()) {
    await sql`with opened as (select), ${openingOf(input, options, item, refusal)} select`.execute(trx);
    await enqueueStatus(trx, input.transactionId, 'FAILED', pending);
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
    const refusal = { reason: asFailureReason(row.refused_reason), detail: row.refused_detail ?? '' };
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

interface WriteOptions {
  readonly opening: RawBuilder<unknown>;
  readonly unpaidLimits: UnpaidLimits | undefined;
  readonly unlessLow?: boolean;
}

/**
 * Writes nothing and returns undefined if the balance is too low or too many payments are unpaid, another run has placed the hold, or with
 * `unlessLow` the balance would fall below its threshold.
 */
async function write(
  db: WorldDb,
  input: PurchaseInput,
  { opening, unpaidLimits, unlessLow }: WriteOptions,
): Promise<ThresholdCrossing | undefined> {
  const { quote, transactionId: id, accountId } = input;
  const amount = { amountMinor: BigInt(quote.priceMinor), currency: quote.currency };
  const hold =
    input.paymentMethod === 'WALLET' ? placeHoldQueries({ id, accountId, amount }, { unlessLow }) : undefined;
  const opened = hold
    ? sql`${hold.queries}, opened as (select from ${hold.placed})`
    : sql`opened as materialized (select where ${mayOpenUnpaid(accountId, unpaidLimits)})`;
  const crossing = hold?.crossing ?? NO_CROSSING;
  const { rows } =
    await sql<ThresholdCrossing>`with ${opened}, ${opening} select ${crossing} from opened`.execute(db);
  return rows[0];
}

/** CTEs that write only if the CTE `opened` has a row. With a refusal, the purchase is closed at once. */
function openingOf(
  input: PurchaseInput,
  { now, gateway }: OpenOptions,
  item: StoredPackage | undefined,
  refusal?: Refusal,
): RawBuilder<unknown> {
  const fromWallet = input.paymentMethod === 'WALLET';
  const event = {
    transaction_id: input.transactionId,
    what: refusal ? 'refused' : fromWallet ? 'wallet-held' : 'opened',
    detail: refusal?.reason ?? null,
  };
  const purchase = newPurchase(input, now, item, refusal);
  return sql.join([
    ...(refusal ? [] : idempotencyKeyInserts(input, sql<boolean>`exists (select from opened)`)),
    sql`purchase as (${insertWhereOpened('purchases', purchase)})`,
    ...(refusal ? [] : paymentOf(input, gateway)),
    ...(input.packageType === 'BASE' && item
      ? [sql`esim as (${insertWhereOpened('esims', newEsim(purchase, item))})`]
      : []),
    ...(refusal || !item
      ? []
      : [sql`planned as (${insertWhereOpened('supplier_orders', firstOrder(input, item))})`]),
    sql`event as (${insertWhereOpened('purchase_events', event)})`,
  ]);
}

/** What is to be paid at the gateway: from here on only this row says how much. */
function paymentOf(input: PurchaseInput, gateway: string): RawBuilder<unknown>[] {
  const { paymentMethod: method, charge, quote } = input;
  if (!charge || method === 'WALLET') return [];
  const price = { priceMinor: quote.priceMinor, priceCurrency: quote.currency };
  const payment = newPayment({ ...input, charge }, { gateway, purpose: 'purchase', method, ...price });
  return [sql`payment as (${insertWhereOpened('payments', payment)})`];
}

function insertWhereOpened<
  Table extends 'purchases' | 'supplier_orders' | 'payments' | 'esims' | 'purchase_events',
>(table: Table, row: InsertObject<WorldDatabase, Table>): RawBuilder<unknown> {
  const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)));
  return sql`insert into ${sql.table(table)} (${columns}) select ${sql.join(Object.values(row))} from opened`;
}

/** Of a purchase that has just been opened. */
const statusOf = ({ paymentMethod }: PurchaseInput) =>
  paymentMethod === 'WALLET' ? ('PROCESSING' as const) : ('PENDING' as const);

function newPurchase(
  input: PurchaseInput,
  now: Date,
  item: StoredPackage | undefined,
  refusal?: Refusal,
): Insertable<WorldDatabase['purchases']> {
  const { quote } = input;
  return {
    transaction_id: input.transactionId,
    account_id: input.accountId,
    package_type: input.packageType,
    payment_method: input.paymentMethod,
    status: refusal ? 'FAILED' : statusOf(input),
    reason: refusal?.reason ?? null,
    package_code: input.packageCode,
    supplier: item?.supplier ?? null,
    package_name: item?.name ?? input.packageCode,
    volume_bytes: BigInt(item?.volumeBytes ?? 0),
    duration: item?.duration ?? 0,
    esim_id: input.esimId,
    price_minor: BigInt(quote.priceMinor),
    currency: quote.currency,
    price_usd_minor: BigInt(quote.priceUsdMinor),
    cost_usd_e4: BigInt(quote.costUsdE4),
    settings_id: quote.settingsId,
    rate_id: quote.rateId ?? null,
    request_id: input.requestId,
    created_at: now,
    closed_at: refusal ? now : null,
  };
}

/** What is agreed with the supplier, and not sent yet. */
function firstOrder(input: PurchaseInput, item: StoredPackage) {
  return {
    id: input.transactionId,
    transaction_id: input.transactionId,
    kind: input.packageType,
    supplier: item.supplier,
    package_code: input.packageCode,
    volume_bytes: BigInt(item.volumeBytes),
    cost_usd_e4: BigInt(input.quote.costUsdE4),
    in_flight_grace_ms: input.timings.inFlightGraceMs,
  } as const;
}

function newEsim(purchase: Insertable<WorldDatabase['purchases']>, item: StoredPackage) {
  const { transaction_id, account_id, price_minor, currency, created_at } = purchase;
  return {
    id: purchase.esim_id,
    account_id,
    transaction_id,
    package_code: item.packageCode,
    package_name: item.name,
    status: purchase.status === 'FAILED' ? ('FAILED' as const) : ('PENDING' as const),
    price_minor,
    currency,
    snapshot: JSON.stringify(snapshotOf(item)),
    supplier: item.supplier,
    total_volume_bytes: BigInt(item.volumeBytes),
    total_duration: item.duration,
    duration_unit: item.durationUnit,
    data_type: item.dataType,
    created_at,
  };
}
