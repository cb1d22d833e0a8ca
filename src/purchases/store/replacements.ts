/**
 * Replacements of eSIMs. Their rows say how far each is; what is sent to the supplier is on its row before.
 * Rows are locked in the order of src/payments/store/lock-order.ts.
 */
import { sql, type Selectable } from 'kysely';
import { COST_UNITS_PER_CENT } from '../../catalogue/pricing.ts';
import type { FailureReason, Refusal } from '../../domain/refusals.ts';
import { larger } from '../../domain/money.ts';
import type { Page } from '../../domain/page.ts';
import type { ReplacementRefusal, ReplacementState } from '../../domain/states.ts';
import { cancelEsim } from '../../esims/store/esims.ts';
import type { Opened } from '../../payments/opened.ts';
import { lockPurchase } from '../../payments/store/lock-order.ts';
import { callFunction } from '../../platform/database/functions.ts';
import { readPage } from '../../platform/database/page.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { enqueueWebhook, subscribers } from '../../webhooks/store/messages.ts';
import type { PurchaseInput, PurchaseTimings } from '../purchase.ts';
import { sameShare, type ReplacementPolicy } from '../replacements/rules.ts';
import { addEvent, requested, unflag, type RequestedQuery } from './followed-rows.ts';
import { openPurchase, type OpenOptions } from './opening.ts';
import type { ReplacementsTable } from './tables.ts';

export type ReplacementRow = Selectable<ReplacementsTable>;

/** What counts for an account: what was agreed with it, or what the installation has. */
export async function findReplacementPolicy(
  db: WorldDb,
  accountId: string,
  installation: ReplacementPolicy,
): Promise<ReplacementPolicy> {
  const { rows } = await sql<ReplacementPolicy>`
    select replacements_allowed as "isAllowed", replacement_window_days as "windowDays",
           replacement_share_bps as "shareBps", replacement_max as "maxCount"
      from accounts.accounts where id = ${accountId} and replacements_allowed is not null`.execute(db);
  return rows[0] ?? installation;
}

/**
 * Why our rows do not allow a replacement; null: the supplier decides. With the first price, and until when
 * one can be asked for.
 */
export async function findReplacementTerms(
  db: WorldDb,
  esimId: string,
  { windowDays, maxCount }: ReplacementPolicy,
) {
  const { rows } = await sql<{
    refusal: ReplacementRefusal | null;
    until: Date | null;
    fullPriceMinor: bigint;
    replacementId: string | null;
  }>`
    select replacement_refusal(esims, ${windowDays}, ${maxCount}) as refusal,
           purchases.closed_at + ${windowDays} * interval '1 day' as until,
           (select price_minor from esims first where first.id = first_esim(esims.id)) as "fullPriceMinor",
           (select id from replacements where esim_id = esims.id order by created_at desc limit 1) as "replacementId"
      from esims join purchases on purchases.transaction_id = esims.transaction_id
     where esims.id = ${esimId}`.execute(db);
  if (!rows[0]) throw new Error(`no eSIM ${esimId}`);
  return rows[0];
}

export interface NewReplacement {
  readonly id: string;
  readonly accountId: string;
  readonly esimId: string;
  readonly policy: ReplacementPolicy;
  readonly priceMinor: bigint;
  readonly newTransactionId: string;
  readonly newEsimId: string;
  readonly reason: string | null;
  readonly requestedBy: string;
  readonly keyId: string | null;
  readonly requestId: string;
  readonly inFlightGraceMs: number;
}

/** Writes a replacement, unless our rows do not allow it: then why. */
export async function insertReplacement(
  db: WorldDb,
  { policy, ...given }: NewReplacement,
): Promise<ReplacementRefusal | null> {
  const { refusal } = await callFunction<{ refusal: ReplacementRefusal | null }>(db, 'request_replacement', {
    replacement_id: given.id,
    account_id: given.accountId,
    esim_id: given.esimId,
    window_days: policy.windowDays,
    max_count: policy.maxCount,
    price_minor: given.priceMinor,
    new_transaction_id: given.newTransactionId,
    new_esim_id: given.newEsimId,
    reason: given.reason,
    requested_by: given.requestedBy,
    key_id: given.keyId,
    request_id: given.requestId,
    in_flight_grace_ms: given.inFlightGraceMs,
  });
  return refusal;
}

export const findReplacement = (db: WorldDb, id: string): Promise<ReplacementRow | undefined> =>
  db.selectFrom('replacements').selectAll().where('id', '=', id).executeTakeFirst();

export const findOpenReplacement = (
  db: WorldDb,
  transactionId: string,
): Promise<ReplacementRow | undefined> =>
  db
    .selectFrom('replacements')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .where('closed_at', 'is', null)
    .executeTakeFirst();

/** `esimId`: the old or the new one. */
export type ReplacementQuery = RequestedQuery<ReplacementState>;

/** Newest first. */
export const listReplacements = (
  db: WorldDb,
  accountId: string,
  query: ReplacementQuery,
): Promise<Page<ReplacementRow>> =>
  readPage(
    db
      .selectFrom('replacements')
      .selectAll()
      .where(requested(accountId, query, ['esim_id', 'new_esim_id']))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc'),
    query,
  );

/** Of a purchase: those in whose place its eSIM is, and in its place. */
export async function findReplacementLinks(db: WorldDb, transactionId: string) {
  const { rows } = await sql<{ replaces: string | null; replacedBy: string | null }>`
    select (select transaction_id from replacements where new_transaction_id = ${transactionId}) as replaces,
           (select new_transaction_id from replacements
             where transaction_id = ${transactionId} and delivered_at is not null) as "replacedBy"`.execute(
    db,
  );
  return rows[0] ?? { replaces: null, replacedBy: null };
}

/** Of a purchase: the replacement that a person decides, and what of it we pay. Null: none. */
export async function findReplacementInReview(db: WorldDb, transactionId: string) {
  const { rows } = await sql<{
    replacementId: string;
    amountMinor: bigint;
    currency: string;
    isDelivered: boolean;
  }>`
    select id as "replacementId", full_price_minor - replacements.price_minor as "amountMinor", replacements.currency,
           delivered_at is not null as "isDelivered"
      from replacements join purchases using (transaction_id)
     where transaction_id = ${transactionId}
       and (state = 'NEEDS_REVIEW' or state = 'RETIRING' and attention_reason = 'REPLACEMENT_NEEDS_REVIEW')`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** A replacement as its step needs it. */
export async function loadReplacement(db: WorldDb, id: string) {
  const { rows } = await sql<ReplacementRow & { readonly esimTranNo: string; readonly ageMs: number }>`
    select replacements.*, esims.esim_tran_no as "esimTranNo",
           (extract(epoch from clock_timestamp() - coalesce(delivered_at, replacements.created_at)) * 1000)::float8 as "ageMs"
      from replacements join esims on esims.id = replacements.esim_id where replacements.id = ${id}`.execute(
    db,
  );
  return rows[0];
}

type Which = Pick<ReplacementRow, 'id' | 'transaction_id'>;

export type Begun = 'BEGUN' | 'ENDED' | 'BEYOND_LIMIT' | ReplacementRefusal;

/**
 * The new eSIM is to be bought, unless it must not be. `mostMinor`: what we pay at most on one account within
 * a day where no person decides. `by`: a person has granted it, and its step is due at once.
 */
export function beginOrdering(
  db: WorldDb,
  { id, transaction_id }: Which,
  { by, mostMinor }: { readonly by: 'operator' | 'supplier'; readonly mostMinor?: bigint | undefined },
): Promise<Begun> {
  return inTransaction(db, async (trx) => {
    await lockPurchase(trx, transaction_id);
    const isByOperator = by === 'operator';
    const { rows } = await sql<{ begun: Begun }>`
      select begin_ordering(${id}, ${isByOperator}, ${mostMinor ?? null}) as begun`.execute(trx);
    const begun = rows[0]?.begun ?? 'ENDED';
    if (begun !== 'BEGUN') return begun;
    if (isByOperator) await addEvent(trx, transaction_id, 'replacement-granted', id);
    await unflag(trx, 'replacements', transaction_id);
    return begun;
  });
}

/** Ends a replacement that has retired nothing. false: it has ended, or the new eSIM is delivered. */
export function refuseReplacement(
  db: WorldDb,
  { id, transaction_id }: Which,
  refusal: ReplacementRefusal,
  failure: FailureReason | null = null,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await lockPurchase(trx, transaction_id);
    const { numAffectedRows } = await sql`
      update replacements set state = 'REFUSED', refusal = ${refusal}, failure = ${failure}, closed_at = clock_timestamp()
       where id = ${id} and state in ('PENDING', 'NEEDS_REVIEW', 'ORDERING')
         and (state = 'ORDERING') = ${refusal === 'PURCHASE_FAILED'}`.execute(trx);
    if (numAffectedRows === 0n) return false;
    await addEvent(trx, transaction_id, 'replacement-refused', refusal);
    await unflag(trx, 'replacements', transaction_id);
    return true;
  });
}

const DEARER: Refusal = {
  reason: 'PRICE_CHANGED',
  detail: 'the supplier asks for more now than was paid for the first eSIM',
};

/**
 * Opens the purchase of the new eSIM, for the price on the row and at the present cost: the same package,
 * from the wallet. Opened before, it is found.
 */
export async function openReplacement(
  db: WorldDb,
  row: ReplacementRow,
  { timings, ...options }: Pick<OpenOptions, 'now' | 'onNotRecorded'> & { readonly timings: PurchaseTimings },
): Promise<{ readonly input: PurchaseInput; readonly opened: Opened }> {
  const { rows } = await sql<{
    packageCode: string;
    costUsdE4: string;
    fullUsdMinor: bigint;
    firstCostUsdE4: bigint;
    settingsId: string;
    rateId: string | null;
  }>`
    select e.package_code as "packageCode", p.price_usd_minor as "fullUsdMinor", p.cost_usd_e4 as "firstCostUsdE4", p.settings_id as "settingsId",
           p.rate_id as "rateId", coalesce(sold.cost_usd_e4, p.cost_usd_e4)::text as "costUsdE4"
      from esims e join purchases p on p.transaction_id = e.transaction_id
      left join packages sold on sold.package_code = e.package_code
     where e.id = ${row.first_esim_id}`.execute(db);
  const [first] = rows;
  if (!first) throw new Error(`no eSIM ${row.first_esim_id}`);
  const priceUsdMinor = sameShare(first.fullUsdMinor, row.price_minor, row.full_price_minor);
  const input: PurchaseInput = {
    transactionId: row.new_transaction_id,
    accountId: row.account_id,
    packageType: 'BASE',
    packageCode: first.packageCode,
    paymentMethod: 'WALLET',
    esimId: row.new_esim_id,
    quote: {
      priceMinor: String(row.price_minor),
      currency: row.currency,
      priceUsdMinor: String(priceUsdMinor),
      costUsdE4: first.costUsdE4,
      settingsId: first.settingsId,
      ...(first.rateId === null ? {} : { rateId: first.rateId }),
    },
    requestId: row.request_id,
    timings,
    ...(row.key_id === null ? {} : { keyId: row.key_id }),
  };
  // It is sold for what was paid at first: the supplier may ask for more than that by now.
  const mostE4 = larger(first.fullUsdMinor * COST_UNITS_PER_CENT, first.firstCostUsdE4);
  const isDearer = BigInt(first.costUsdE4) > mostE4;
  const refusal = isDearer ? DEARER : undefined;
  const opening = { ...options, refusal, keepRefusal: () => true, replaces: row.esim_id };
  return { input, opened: await openPurchase(db, input, opening) };
}

/** The new eSIM is delivered: the old one is marked, and never installed from now on. false: it was. */
export function recordReplacementDelivered(db: WorldDb, row: ReplacementRow): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await lockPurchase(trx, row.transaction_id);
    const { numAffectedRows } = await sql`
      update replacements set state = 'RETIRING', delivered_at = clock_timestamp()
       where id = ${row.id} and state = 'ORDERING'`.execute(trx);
    if (numAffectedRows === 0n) return false;
    await sql`update esims set replaced_by = ${row.new_esim_id}, updated_at = now() where id = ${row.esim_id}`.execute(
      trx,
    );
    await addEvent(trx, row.transaction_id, 'replacement-delivered', row.new_esim_id);
    return true;
  });
}

/** Writes that a revocation is about to be sent. false: it must not be, since nothing is retired now. */
export async function beginRevoke(db: WorldDb, id: string): Promise<boolean> {
  const begun = await sql`
    update replacements
       set revoke_attempts = revoke_attempts + 1
     where id = ${id} and state = 'RETIRING'`.execute(db);
  return begun.numAffectedRows === 1n;
}

/** The old eSIM is revoked. undefined: the replacement has ended, or nothing is delivered. */
export function recordReplaced(
  db: WorldDb,
  { id, transaction_id: transactionId }: Which,
): Promise<ReplacementRow | undefined> {
  return inTransaction(db, async (trx) => {
    await lockPurchase(trx, transactionId);
    const closed = await trx
      .updateTable('replacements')
      .set({ state: 'REPLACED', closed_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', id)
      .where('state', '=', 'RETIRING')
      .returningAll()
      .returning(subscribers('esim.replaced', sql.ref('replacements.account_id')).as('subscribers'))
      .executeTakeFirst();
    if (!closed) return undefined;
    const at = closed.closed_at ?? new Date();
    const { iccid } = await cancelEsim(trx, closed.esim_id, at);
    await addEvent(trx, transactionId, 'replaced', closed.new_esim_id);
    await unflag(trx, 'replacements', transactionId);
    const facts = {
      ...{ replacementId: id, esimId: closed.esim_id, transactionId, iccid },
      ...{ replacedBy: closed.new_esim_id, newTransactionId: closed.new_transaction_id },
      ...{ priceMinor: closed.price_minor, currency: closed.currency },
    };
    const who = { accountId: closed.account_id, subscribers: closed.subscribers };
    await enqueueWebhook(trx, { event: 'esim.replaced', key: id, subject: transactionId, ...who, at, facts });
    return closed;
  });
}
