/** Opens fundings, and ends what cannot be opened: the part that purchases and fundings share. */
import { sql, type RawBuilder } from 'kysely';
import type { Metadata, OwnDetails } from '../../domain/own-details.ts';
import { asFailureReason, refusalOf, type Refusal } from '../../domain/refusals.ts';
import type { PurchaseStatus } from '../../domain/states.ts';
import { constraintOf, isDuplicate, refusedRowOf } from '../../platform/database/errors.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import {
  insertKey,
  isKeyOfAnother,
  KEY_TAKEN,
  keepRefusedId,
  refuseKey,
  type Sent,
} from '../../platform/idempotency/store.ts';
import { openedAs, type FailedOpening, type Opened, type OpenedFunding } from '../opened.ts';
import type { FundingInput, UnpaidLimits } from '../rules.ts';
import { buyerDetailsOf } from './buyer-details.ts';
import { mayOpenUnpaid, newPayment, TOO_MANY_UNPAID } from './payments.ts';

export interface OpeningOptions {
  /** The defaults where it is absent. */
  readonly unpaidLimits?: UnpaidLimits;
  /** True if the caller may have an answer already: the refusal is then kept as a FAILED row for reads. */
  readonly keepRefusal?: () => boolean;
  /** Why it may not be opened, whatever the rows say. */
  readonly refusal?: Refusal | undefined;
  /** What the caller says for themselves. */
  readonly ownDetails?: OwnDetails;
  /** Called with the time of an earlier refusal: by an earlier run of this step, or for a refused caller. */
  readonly onRefusedBefore?: (at: Date) => void;
  /** Called where the database refuses the row for good. */
  readonly onNotRecorded?: (why: string) => void;
}

/** What the rows say before something is opened. */
export interface BeforeOpening<Stage extends Opened> {
  /** What an earlier run has opened, or refused for good. */
  readonly opened?: Stage | FailedOpening;
  /** When it was refused, if that left no other row. */
  readonly refusedAt?: Date;
}

/**
 * Opens what is not opened yet. A duplicate means that something else was first: it is read, and then opening
 * is tried once more. What the database refuses for good ends with a reason.
 */
export async function openOnce<Stage extends Opened, Found extends BeforeOpening<Stage>>(
  db: WorldDb,
  sent: Sent,
  options: OpeningOptions,
  {
    find,
    open,
  }: { readonly find: () => Promise<Found>; readonly open: (found: Found) => Promise<Stage | FailedOpening> },
): Promise<Stage | FailedOpening> {
  for (let isAgain = false; ; isAgain = true) {
    const found = await find();
    if (found.refusedAt) options.onRefusedBefore?.(found.refusedAt);
    if (found.opened) return found.opened;
    try {
      return await open(found);
    } catch (error) {
      const why = refusedRowOf(error, 'refused');
      if (why === undefined) throw error;
      if (!isAgain && isDuplicate(error)) continue;
      return await refuseRow(db, sent, error, why, options);
    }
  }
}

/** Ends a purchase or funding whose row the database refuses for good. Keeps only its id. */
async function refuseRow(
  db: WorldDb,
  sent: Sent,
  error: unknown,
  why: string,
  { onNotRecorded }: OpeningOptions,
): Promise<FailedOpening> {
  const isKeyTaken = constraintOf(error) === KEY_TAKEN;
  // The key's row was written a moment ago, for this very request: the step is retried.
  if (isKeyTaken && !(await isKeyOfAnother(db, sent))) throw error;
  const refusal: Refusal = { reason: isKeyTaken ? 'SUPERSEDED' : 'NOT_RECORDED', detail: why };
  if (!isKeyTaken) onNotRecorded?.(why);
  await db.transaction().execute(async (trx) => {
    await refuseKey(trx, sent, refusal);
    await keepRefusedId(trx, sent.transactionId, refusal);
  });
  return { stage: 'failed', refusal };
}

/** Writes funding, payment and idempotency row, or refuses and leaves the key free. Idempotent. */
export function openFunding(
  db: WorldDb,
  input: FundingInput,
  now: Date,
  options: OpeningOptions,
): Promise<OpenedFunding> {
  return openOnce<OpenedFunding, BeforeOpening<OpenedFunding>>(db, input, options, {
    find: () => findOpening(db, input.transactionId),
    open: () => db.transaction().execute((trx) => openOrRefuse(trx, input, now, options)),
  });
}

async function openOrRefuse(
  trx: WorldDb,
  input: FundingInput,
  now: Date,
  { unpaidLimits, keepRefusal = () => false, refusal, ownDetails = {} }: OpeningOptions,
): Promise<OpenedFunding> {
  const { transactionId, accountId, paymentMethod: method } = input;
  const taken = refusal ? undefined : await findReferenceHolder(trx, input, ownDetails);
  const mayOpen = mayOpenUnpaid(accountId, unpaidLimits);
  if (!refusal && !taken && (await insertFunding(trx, input, now, { only: mayOpen, ownDetails }))) {
    const buyer = buyerDetailsOf(transactionId, ownDetails);
    if (buyer) await trx.insertInto('buyer_details').values(buyer).execute();
    const { amountMinor: priceMinor, currency: priceCurrency } = input;
    const payment = newPayment(input, { purpose: 'funding', method, priceMinor, priceCurrency });
    await trx.insertInto('payments').values(payment).execute();
    await insertKey(trx, input);
    return { stage: 'awaiting-payment', vendors: { gateway: input.charge.gateway } };
  }
  const given = refusal ?? taken ?? TOO_MANY_UNPAID;
  const isAnswered = await refuseKey(trx, input, given);
  // Another run of this step may have opened it meanwhile.
  const { opened } = await findOpening(trx, transactionId);
  if (opened) return opened;
  if (isAnswered || keepRefusal())
    await insertFunding(trx, input, now, { only: sql<boolean>`true`, ownDetails, refusal: given });
  else await keepRefusedId(trx, transactionId, given);
  return { stage: 'failed', refusal: given };
}

/**
 * Why it may not be opened: another purchase or funding has the reference that was to be unique. Holds the
 * reference until the transaction ends.
 */
async function findReferenceHolder(
  trx: WorldDb,
  { accountId, transactionId }: Pick<FundingInput, 'accountId' | 'transactionId'>,
  { reference, uniqueReference = false }: OwnDetails,
): Promise<Refusal | undefined> {
  if (!uniqueReference || reference === undefined) return undefined;
  const { rows } = await sql<{ holder: string | null }>`
    select reference_holder(${accountId}, ${reference}, ${transactionId}) as holder`.execute(trx);
  return referenceTaken(rows[0]?.holder ?? null);
}

/** undefined: nothing has the reference. */
export const referenceTaken = (holder: string | null): Refusal | undefined =>
  holder === null ? undefined : refusalOf('REFERENCE_ALREADY_USED', `used by ${holder}`);

/** As webhooks show it: the keys in the order in which they were sent. Null: there is none. */
export const metadataText = (metadata: Metadata | undefined): string | null =>
  metadata === undefined || Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata);

/** What an earlier run has left: a funding, or a refusal without one. */
async function findOpening(db: WorldDb, transactionId: string): Promise<BeforeOpening<OpenedFunding>> {
  const { rows } = await sql<{
    status: Exclude<PurchaseStatus, 'PROCESSING'> | null;
    reason: string | null;
    detail: string;
    at: Date;
  }>`
    select status, reason, '' as detail, created_at as at from fundings where transaction_id = ${transactionId}
    union all
    select null, reason, detail, refused_at from refused_transaction_ids where transaction_id = ${transactionId}
    order by 1 nulls last limit 1`.execute(db);
  const [row] = rows;
  if (!row) return {};
  const { status, reason, detail, at } = row;
  if (status !== null) return { opened: openedAs(status, reason) };
  const refusal = refusalOf(asFailureReason(reason ?? ''), detail);
  return { opened: { stage: 'failed', refusal }, refusedAt: at };
}

async function insertFunding(
  trx: WorldDb,
  input: FundingInput,
  now: Date,
  {
    only,
    ownDetails: { reference, metadata },
    refusal,
  }: {
    readonly only: RawBuilder<boolean>;
    readonly ownDetails: OwnDetails;
    readonly refusal?: Refusal;
  },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into fundings (transaction_id, account_id, payment_method, status, reason, amount_minor, currency, request_id, reference, metadata,
                          created_at, closed_at)
    select ${input.transactionId}, ${input.accountId}, ${input.paymentMethod}, ${refusal ? 'FAILED' : 'PENDING'}, ${refusal?.reason ?? null},
           ${BigInt(input.amountMinor)}, ${input.currency}, ${input.requestId}, ${reference ?? null}, ${metadataText(metadata)}::json,
           ${now}, ${refusal ? now : null}
     where ${only}
    on conflict (transaction_id) do nothing`.execute(trx);
  return numAffectedRows === 1n;
}
