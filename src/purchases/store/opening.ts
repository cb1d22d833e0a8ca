/**
 * Opens a purchase in one statement: wallet hold, purchase, eSIM order, idempotency key and first event. Only a refusal, or a low-balance webhook, needs
 * a transaction around it.
 */
import { sql, type Insertable, type RawBuilder } from 'kysely';
import { snapshotOf } from '../../catalogue/rules.ts';
import type { Opened, PurchaseInput } from '../purchase.ts';
import { asFailureReason, type Refusal } from '../../domain/refusals.ts';
import { toPackage, type StoredPackage } from '../../catalogue/store/catalogue.ts';
import { insertKey, keepingKey } from '../../platform/idempotency/store.ts';
import { placeHoldQuery } from '../../ledger/store/ledger.ts';
import {
  CROSSING,
  NOT_LOW,
  enqueueLowBalance,
  NO_SUBSCRIBERS,
  type ThresholdCrossing,
} from '../../ledger/store/low-balance.ts';
import { enqueueStatus } from './messages.ts';
import type { WorldDatabase, WorldDb } from '../../platform/database/tables.ts';
import { newPendingMessages, type PendingMessages } from '../../webhooks/store/messages.ts';

export interface OpenOptions {
  readonly now: Date;
  readonly supplier: string;
  /** Called at a refusal: may the caller have been answered PROCESSING? The refusal is then kept as a FAILED purchase, so that reads show it. */
  readonly keepRefusal: () => boolean;
}

const OPENED: Opened = { opened: true };
const INSUFFICIENT: Refusal = { reason: 'INSUFFICIENT_BALANCE', detail: 'wallet balance below the price' };

/** Writes purchase, eSIM order, wallet hold and idempotency row together, or refuses and writes no purchase at all. */
export async function openPurchase(
  db: WorldDb,
  input: PurchaseInput,
  options: OpenOptions,
  written: PendingMessages = newPendingMessages(),
): Promise<Opened> {
  const found = await readBeforeOpening(db, input);
  if (found.already) return OPENED;
  const opening = found.refusal ? undefined : openingOf(input, options, found.item);
  if (opening && (await write(db, input, opening, NO_SUBSCRIBERS))) return OPENED;
  return db.transaction().execute(async (trx) => {
    const opened = opening && (await write(trx, input, opening));
    if (opened) {
      const { transactionId, accountId, quote } = input;
      const because = { key: transactionId, subject: transactionId, accountId, currency: quote.currency };
      await enqueueLowBalance(trx, because, opened, written);
      return OPENED;
    }
    return refuse(trx, input, options, found.refusal ?? INSUFFICIENT, written);
  });
}

/** Keeps the refusal, unless another run has opened or finally refused the purchase in the meantime. */
async function refuse(
  trx: WorldDb,
  input: PurchaseInput,
  options: OpenOptions,
  given: Refusal,
  written: PendingMessages,
): Promise<Opened> {
  const { already, isKept, item, refusal = given } = await readBeforeOpening(trx, input);
  if (already) return OPENED;
  if (!isKept && options.keepRefusal()) {
    await sql`with opened as (select), ${openingOf(input, options, item, refusal)} select`.execute(trx);
  } else if (!isKept) {
    await insertKey(trx, input, refusal);
  }
  await enqueueStatus(trx, input.transactionId, 'FAILED', written);
  return { opened: false, refusal };
}

interface Found {
  readonly item: StoredPackage | undefined;
  /** An earlier run has opened the purchase. */
  readonly already?: true;
  readonly refusal?: Refusal;
  /** An earlier run has kept the refusal. */
  readonly isKept?: true;
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
    .selectAll('packages')
    .select([
      'purchases.transaction_id as opened_id',
      'purchases.reason as opened_reason',
      'esims.status as esim_status',
      'keys.refusal_reason as refusal_reason',
      'keys.refusal_detail as refusal_detail',
    ])
    .executeTakeFirstOrThrow();
  const item = row.package_code === null ? undefined : toPackage(row as Parameters<typeof toPackage>[0]);
  const kept = row.refusal_reason ?? row.opened_reason;
  if (kept !== null) {
    const detail = row.refusal_reason === null ? '' : (row.refusal_detail ?? '');
    return { item, isKept: true, refusal: { reason: asFailureReason(kept), detail } };
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

/** Writes nothing and returns undefined if the balance is too low, another run has placed the hold, or `only` is false. */
async function write(
  db: WorldDb,
  input: PurchaseInput,
  opening: RawBuilder<unknown>,
  only?: RawBuilder<boolean>,
): Promise<ThresholdCrossing | undefined> {
  const { quote, transactionId: id, accountId } = input;
  const amount = { amountMinor: BigInt(quote.priceMinor), currency: quote.currency };
  const opened =
    input.paymentMethod === 'WALLET'
      ? sql`${placeHoldQuery({ id, accountId, amount }, only)}, opened as (select from hold)`
      : sql`${NOT_LOW}, opened as (select)`;
  const { rows } =
    await sql<ThresholdCrossing>`with ${opened}, ${opening} select ${CROSSING} from opened`.execute(db);
  return rows[0];
}

/** CTEs that write only if the CTE `opened` has a row. With a refusal, the purchase is closed at once. */
function openingOf(
  input: PurchaseInput,
  { now, supplier }: OpenOptions,
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
    ...(input.packageType === 'BASE' && item
      ? [sql`esim as (${insertWhereOpened('esims', newEsim(purchase, item, supplier))})`]
      : []),
    sql`event as (${insertWhereOpened('purchase_events', event)})`,
  ]);
}

function insertWhereOpened<Table extends 'purchases' | 'esims' | 'purchase_events'>(
  table: Table,
  row: Insertable<WorldDatabase[Table]>,
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

function newEsim(purchase: Insertable<WorldDatabase['purchases']>, item: StoredPackage, supplier: string) {
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
    supplier,
    total_volume_bytes: BigInt(item.volumeBytes),
    total_duration: item.duration,
    duration_unit: item.durationUnit,
    data_type: item.dataType,
    created_at,
  };
}
