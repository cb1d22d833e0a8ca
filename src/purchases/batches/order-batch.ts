/**
 * Orders many eSIMs at once: checks and prices every row, writes all of them in one transaction, and has them
 * bought one by one.
 */
import { randomBytes } from 'node:crypto';
import type { Account, Principal } from '../../domain/account.ts';
import { DomainError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { formatAmount, larger, type Money } from '../../domain/money.ts';
import type { OwnDetails } from '../../domain/own-details.ts';
import type { Page, PageQuery } from '../../domain/page.ts';
import { countriesOf, type CataloguePackage } from '../../catalogue/rules.ts';
import { createPricer, isOnSale } from '../../catalogue/prices.ts';
import { findJob, listJobs, type Job, type JobFields } from '../../jobs/store/jobs.ts';
import { getWallet } from '../../ledger/wallet.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import { writeOnce } from '../../platform/idempotency/keyed-writes.ts';
import type { IdempotencyContext } from '../../platform/idempotency/tag.ts';
import { newEsimId, newTransactionId } from '../../platform/idempotency/identify-request.ts';
import type { RequestContext } from '../../platform/telemetry/subject.ts';
import { buildInput } from '../buy.ts';
import type { BatchDeps } from '../deps.ts';
import type { PurchaseInput } from '../purchase.ts';
import { countRows, insertBatch, listBatchRows } from '../store/batches.ts';
import { currentTerms, requireWithinBudget } from '../terms.ts';
import {
  MAX_BEGINNING_BATCHES,
  MAX_SCHEDULED_BATCHES,
  MAX_START_AHEAD_MS,
  batchStatus,
  rowProblems,
  type BatchCounts,
  type BatchRowCommand,
  type BatchRowView,
} from './rules.ts';

export interface BatchCommand {
  readonly rows: readonly BatchRowCommand[];
  /** If the rows cost more, nothing is ordered. */
  readonly maxTotalPrice?: Money | undefined;
  /** Bought then, at the prices of then; now without it. */
  readonly startAt?: Date | undefined;
  readonly idempotency?: IdempotencyContext | undefined;
}

export type BatchView = ReturnType<typeof viewOf>;

/**
 * Accepts all rows or none. Prices are frozen now, and each row is bought from the wallet soon; or both at
 * `startAt`, which the wallet need not cover before. Throws
 * VALIDATION_ERROR with every wrong row, EMAIL_UNAVAILABLE, INSUFFICIENT_BALANCE, KEY_BUDGET_EXCEEDED,
 * TOO_MANY_BATCHES,
 * RATE_LIMIT_EXCEEDED and EXCHANGE_RATE_UNAVAILABLE.
 */
export async function orderBatch(
  deps: BatchDeps,
  principal: Principal,
  { rows, maxTotalPrice, startAt, idempotency }: BatchCommand,
  context: RequestContext,
): Promise<BatchView> {
  const { account } = principal;
  const accepted = await writeOnce(deps, principal, idempotency, {
    prepare: () => {
      requireStart(startAt, deps.clock.now());
      requireOrderable(deps, principal, rows, startAt);
      const priced = rows.map((row) => ({
        ...row,
        terms: termsOf(deps, principal, row.packageCode, {
          ...{ ...context, transactionId: newTransactionId() },
          ownDetails: { reference: row.reference, metadata: row.metadata },
        }),
      }));
      const total = totalOf(account, priced);
      requireWithin(maxTotalPrice, total);
      return { priced, total };
    },
    write: (db, { priced, total }) =>
      inTransaction(db, async (trx) => {
        if (!startAt) await requirePayable({ ...deps, db: trx }, principal, priced, total);
        const id = makeId('batch', randomBytes(16).toString('hex'));
        const batch = await insertBatch(trx, {
          id,
          accountId: account.id,
          senderName: account.name,
          currency: account.currency,
          totalMinor: total.amountMinor,
          rows: priced,
          now: deps.clock.now(),
          maxBeginning: MAX_BEGINNING_BATCHES,
          maxScheduled: MAX_SCHEDULED_BATCHES,
          ...(startAt && {
            later: {
              startAt,
              caller: principal.keyId,
              maxTotalMinor: maxTotalPrice?.amountMinor ?? null,
            },
          }),
          maxEmailsADay: deps.settings.travellerEmails.maxADay,
        });
        if (batch === 'too-many-batches') throw tooManyBatches(startAt);
        if (batch === 'too-many-emails') throw tooManyEmails(deps);
        return { resultId: id, value: acceptedView(batch) };
      }),
    // As it was accepted: a repeat gets the same bytes, whatever has happened since.
    readEarlier: async (batchId) => acceptedView(await requireBatch(deps, principal, batchId)),
  });
  if (!startAt) await deps.jobEngine.begin({ id: accepted.batchId, kind: 'order', accountId: account.id });
  return accepted;
}

export type RowTerms = { readonly terms: PurchaseInput };

export const totalOf = ({ currency }: Account, rows: readonly RowTerms[]): Money => ({
  amountMinor: rows.reduce((sum, { terms }) => sum + BigInt(terms.quote.priceMinor), 0n),
  currency,
});

/**
 * INSUFFICIENT_BALANCE, KEY_BUDGET_EXCEEDED. Other purchases may still spend it first: rows are refused then.
 */
export async function requirePayable(
  deps: Pick<BatchDeps, 'db' | 'catalogue' | 'clock'>,
  principal: Principal,
  rows: readonly RowTerms[],
  total: Money,
): Promise<void> {
  const { balance } = await getWallet(deps, principal);
  if (balance.amountMinor < total.amountMinor) throw balanceTooLow(total);
  await requireWithinBudget(deps, principal, orderOf(deps, rows, total));
}

function requireStart(startAt: Date | undefined, now: Date): void {
  if (!startAt) return;
  const refuse = (why: string) =>
    new DomainError('VALIDATION_ERROR', 'Invalid request', { details: `startAt: ${why}` });
  if (startAt <= now) throw refuse('must be in the future');
  if (startAt.getTime() > now.getTime() + MAX_START_AHEAD_MS) throw refuse('must be at most 90 days ahead');
}

function requireOrderable(
  deps: BatchDeps,
  { account }: Principal,
  rows: readonly BatchRowCommand[],
  startAt: Date | undefined,
): void {
  const problems = rowProblems(rows, { now: deps.clock.now(), startAt }, (packageCode) =>
    findOnSale(deps, account, packageCode),
  );
  if (problems.length > 0)
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: problems });
  if (!deps.settings.travellerEmails.isAvailable && rows.some(({ email }) => email !== undefined))
    throw new DomainError('EMAIL_UNAVAILABLE', 'E-mails to travellers are not available: leave email out');
}

/** At this moment, to this account. */
export function findOnSale(
  deps: Pick<BatchDeps, 'catalogue' | 'clock' | 'settings'>,
  account: Account,
  packageCode: string,
): CataloguePackage | undefined {
  const catalogue = deps.catalogue.current();
  const item = catalogue.byCode.get(packageCode);
  if (item?.withdrawn !== false) return undefined;
  return isOnSale(createPricer(deps, catalogue, account, account.currency).price(item)) ? item : undefined;
}

/**
 * What a purchase of this row alone would be opened with, under an id of its own that is written before
 * anything begins.
 */
export function termsOf(
  deps: BatchDeps,
  principal: Principal,
  packageCode: string,
  {
    transactionId,
    ownDetails,
    ...context
  }: RequestContext & { readonly transactionId: string; readonly ownDetails: OwnDetails },
): PurchaseInput {
  const item = deps.catalogue.current().byCode.get(packageCode);
  if (!item) throw new Error(`${packageCode} was on sale a moment ago`);
  const command = { packageCode, packageType: 'BASE', paymentMethod: 'WALLET' } as const;
  return buildInput(deps, principal, command, context, {
    item,
    esimId: newEsimId(),
    terms: currentTerms(deps, principal, command, item),
    transactionId,
    ownDetails,
    askedAtMs: deps.clock.now().getTime(),
  });
}

/** As one order of the key's budget. */
function orderOf(
  deps: Pick<BatchDeps, 'catalogue'>,
  rows: readonly RowTerms[],
  { amountMinor: totalMinor }: Money,
): Parameters<typeof requireWithinBudget>[2] {
  const { byCode } = deps.catalogue.current();
  const prices = rows.map(({ terms }) => BigInt(terms.quote.priceMinor));
  const items = rows.flatMap(({ terms }) => byCode.get(terms.packageCode) ?? []);
  return {
    totalMinor,
    dearestMinor: prices.reduce(larger, 0n),
    // Of a row whose package left the catalogue just now, the hold decides.
    countries: [...new Set(items.flatMap(countriesOf))],
    purchases: rows.length,
  };
}

function requireWithin(maxTotalPrice: Money | undefined, total: Money): void {
  if (maxTotalPrice === undefined) return;
  const refuse = (details: string) => new DomainError('VALIDATION_ERROR', 'Invalid request', { details });
  if (maxTotalPrice.currency !== total.currency)
    throw refuse(`maxTotalPrice.currency: must be the account's, ${total.currency}`);
  if (total.amountMinor > maxTotalPrice.amountMinor)
    throw refuse(`maxTotalPrice.amount: the rows cost ${formatAmount(total)} ${total.currency}`);
}

function balanceTooLow(total: Money): DomainError {
  return new DomainError(
    'INSUFFICIENT_BALANCE',
    `The rows cost ${formatAmount(total)} ${total.currency}, more than the wallet has`,
  );
}

function tooManyBatches(startAt: Date | undefined): DomainError {
  return new DomainError(
    'TOO_MANY_BATCHES',
    startAt
      ? `${MAX_SCHEDULED_BATCHES} batches of this account wait for their start`
      : `${MAX_BEGINNING_BATCHES} batches of this account have not begun all their rows yet`,
  );
}

function tooManyEmails({ settings }: BatchDeps): DomainError {
  const message = `At most ${settings.travellerEmails.maxADay} e-mails to travellers a day in this environment`;
  return new DomainError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: 3_600 });
}

export async function listBatches(
  { db }: Pick<BatchDeps, 'db'>,
  { account }: Principal,
  query: PageQuery,
): Promise<Page<BatchView>> {
  const page = await listJobs(db, { kind: 'order', accountId: account.id }, query);
  const counts = await countRows(db, page.items);
  return { ...page, items: page.items.map((batch) => viewOf(batch, counts)) };
}

/**
 * The batch with one page of its rows, in the order of the request. BATCH_NOT_FOUND, also for another
 * account's.
 */
export async function getBatch(
  deps: Pick<BatchDeps, 'db'>,
  principal: Principal,
  batchId: string,
  { page, limit }: PageQuery,
): Promise<{ readonly batch: BatchView; readonly rows: Page<BatchRowView> }> {
  const batch = await requireBatch(deps, principal, batchId);
  const counts = await countRows(deps.db, [batch]);
  const items = await listBatchRows(deps.db, batchId, { from: (page - 1) * limit, limit });
  return { batch: viewOf(batch, counts), rows: { items, total: batch.row_count, page, limit } };
}

/** Without its rows. BATCH_NOT_FOUND. */
export async function getBatchView(
  deps: Pick<BatchDeps, 'db'>,
  principal: Principal,
  batchId: string,
): Promise<BatchView> {
  const batch = await requireBatch(deps, principal, batchId);
  return viewOf(batch, await countRows(deps.db, [batch]));
}

/** BATCH_NOT_FOUND, also for another account's. */
export async function requireBatch(
  { db }: Pick<BatchDeps, 'db'>,
  { account }: Principal,
  batchId: string,
): Promise<Job> {
  const batch = await findJob(db, batchId, 'order');
  if (batch?.account_id !== account.id) throw new DomainError('BATCH_NOT_FOUND', 'Batch not found');
  return batch;
}

function viewOf(batch: JobFields, countsOf: ReadonlyMap<string, BatchCounts>) {
  const counts = countsOf.get(batch.id);
  if (!counts) throw new Error(`${batch.id} was not counted`);
  return {
    batchId: batch.id,
    status: batchStatus(batch.status, counts),
    counts,
    totalPrice: {
      amountMinor: batch.started_total_minor ?? batch.total_minor,
      currency: batch.currency,
    } satisfies Money,
    createdAt: batch.created_at,
    /** Null for one that was ordered to begin at once. */
    startAt: batch.start_at,
    cancelReason: batch.cancel_reason,
    /** Null while it is not completed. */
    completedAt: batch.closed_at,
  };
}

function acceptedView(batch: JobFields): BatchView {
  const rows = batch.row_count;
  const counts = { rows, queued: rows, processing: 0, succeeded: 0, failed: 0 };
  const status = batch.start_at === null ? ('RUNNING' as const) : ('SCHEDULED' as const);
  const asAccepted = { ...batch, status, started_total_minor: null, cancel_reason: null, closed_at: null };
  return viewOf(asAccepted, new Map([[batch.id, counts]]));
}
