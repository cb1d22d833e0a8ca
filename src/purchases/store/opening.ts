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
import {
  mayOpenUnpaid,
  TOO_MANY_UNPAID,
  newPayment,
  type OpenFundingOptions,
} from '../../payments/store/payments.ts';
import type { WorldDatabase, WorldDb } from '../../platform/database/tables.ts';
import { insertKey, keepingKey, keepRefusedId, releaseKey } from '../../platform/idempotency/store.ts';
import { newPendingMessages, type PendingMessages } from '../../webhooks/store/messages.ts';
import type { Opened, PurchaseInput } from '../purchase.ts';
import { enqueueStatus } from './messages.ts';
import { lockQuote, useQuote } from './quotes.ts';

export interface OpenOptions extends OpenFundingOptions {
  readonly now: Date;
  /** Called at a refusal: may the caller have been answered PROCESSING? The refusal is then kept as a FAILED purchase, so that reads show it. */
  readonly keepRefusal: () => boolean;
}

const OPENED: Opened = { opened: true };
const INSUFFICIENT: Refusal = { reason: 'INSUFFICIENT_BALANCE', detail: 'wallet balance below the price' };

/**
 * Writes purchase, eSIM order, wallet hold or payment, and idempotency row together, or refuses and writes no purchase at all. Where the purchase is
 * written already, nothing of `input` changes it.
 */
export async function openPurchase(
  db: WorldDb,
  input: PurchaseInput,
  options: OpenOptions,
  pending: PendingMessages = newPendingMessages(),
): Promise<Opened> {
  const found = await readBeforeOpening(db, input);
  if (found.already) return OPENED;
  if (found.refusedAt) options.onRefusedBefore?.(found.refusedAt);
  const refusal = found.refusal ?? options.refusal;
  const opening = refusal ? undefined : openingOf(input, options, found.item);
  const { unpaidLimits } = options;
  // A quote is used up in the same transaction.
  const isOneStatement = opening && input.quoteId === undefined;
  if (isOneStatement && (await write(db, input, { opening, unpaidLimits, unlessLow: true }))) return OPENED;
  return db.transaction().execute(async (trx) => {
    const unusable = opening && (await lockQuote(trx, input));
    const opened = opening && !unusable && (await write(trx, input, { opening, unpaidLimits }));
    if (opened) {
      await useQuote(trx, input, options.now);
      const { transactionId, accountId, quote } = input;
      const because = { key: transactionId, subject: transactionId, accountId, currency: quote.currency };
      await enqueueLowBalance(trx, because, opened, pending);
      return OPENED;
    }
    const lacking = input.paymentMethod === 'WALLET' ? INSUFFICIENT : TOO_MANY_UNPAID;
    return refuse(trx, input, options, refusal ?? unusable ?? lacking, pending);
  });
}

/** Keeps the refusal, unless another run has opened or finally refused the purchase in the meantime. */
async function refuse(
  trx: WorldDb,
  input: PurchaseInput,
  options: OpenOptions,
  given: Refusal,
  pending: PendingMessages,
): Promise<Opened> {
  const { already, isKept, item, refusal = given } = await readBeforeOpening(trx, input);
  if (already) return OPENED;
  // There may be room a moment later, so the key stays free for the same request.
  const isTemporary = refusal.reason === 'TOO_MANY_UNPAID_PAYMENTS';
  if (isTemporary) await releaseKey(trx, input);
  const kept = isTemporary ? { ...input, idempotency: undefined } : input;
  if (!isKept && options.keepRefusal())
    await sql`with opened as (select), ${openingOf(kept, options, item, refusal)} select`.execute(trx);
  else if (!isKept && kept.idempotency) await insertKey(trx, kept, refusal);
  else if (!isKept) await keepRefusedId(trx, input.transactionId, refusal);
  await enqueueStatus(trx, input.transactionId, 'FAILED', pending);
  return { opened: false, refusal };
}

interface Found {
  readonly item: StoredPackage | undefined;
  /** An earlier run has opened the purchase. */
  readonly already?: true;
  readonly refusal?: Refusal;
  /** An earlier run has kept the refusal. */
  readonly isKept?: true;
  /** When, if it left no purchase. */
  readonly refusedAt?: Date | undefined;
}

async function readBeforeOpening(db: WorldDb, input: PurchaseInput): Promise<Found> {
  const row = await db
    .selectFrom(sql<{ one: number }>`(select 1 as one)`.as('here'))
    .leftJoin('packages', (join) => join.on('packages.package_code', '=', input.packageCode))
    .leftJoin('purchases', (join) => join.on('purchases.transaction_id', '=', input.transactionId))
    .leftJoin('esims', (join) =>
      join.on('esims.id', '=', input.esimId).on('esims.account_id', '=', input.accountId),
    )
    .leftJoin('idempotency_keys as keys', (join) =>
      join.on('keys.account_id', '=', input.accountId).on('keys.key', '=', input.idempotency?.key ?? ''),
    )
    .leftJoin('refused_transaction_ids as refused', (join) =>
      join.on('refused.transaction_id', '=', input.transactionId),
    )
    .selectAll('packages')
    .select([
      'purchases.transaction_id as opened_id',
      'purchases.reason as opened_reason',
      'esims.status as esim_status',
      'keys.refusal_reason as refusal_reason',
      'keys.refusal_detail as refusal_detail',
      'keys.created_at as key_created_at',
      'refused.reason as refused_reason',
      'refused.detail as refused_detail',
      'refused.refused_at as refused_at',
    ])
    .executeTakeFirstOrThrow();
  const item = row.package_code === null ? undefined : toPackage(row as Parameters<typeof toPackage>[0]);
  const kept = row.refusal_reason ?? row.opened_reason ?? row.refused_reason;
  if (kept !== null) {
    const detail = (row.refusal_reason === null ? row.refused_detail : row.refusal_detail) ?? '';
    const refusedAt = (row.refusal_reason === null ? row.refused_at : row.key_created_at) ?? undefined;
    return { item, isKept: true, refusedAt, refusal: { reason: asFailureReason(kept), detail } };
  }
  if (row.opened_id !== null) return { item, already: true };
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
    ...keepingKey(input, refusal, sql<boolean>`exists (select from opened)`),
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

function insertWhereOpened<Table extends 'purchases' | 'supplier_orders' | 'payments' | 'esims' | 'purchase_events'>(
  table: Table,
  row: InsertObject<WorldDatabase, Table>,
): RawBuilder<unknown> {
  const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)));
  return sql`insert into ${sql.table(table)} (${columns}) select ${sql.join(Object.values(row))} from opened`;
}

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
    status: refusal ? 'FAILED' : input.paymentMethod === 'WALLET' ? 'PROCESSING' : 'PENDING',
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
    in_flight_grace_ms: input.timings.doubtMs,
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
