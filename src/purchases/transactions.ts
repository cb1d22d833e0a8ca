import { READS_ALL, type Environment, type Principal } from '../domain/account.ts';
import { DAY_MS } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import type { PurchaseStatus } from '../domain/states.ts';
import { installUrl } from '../esims/install-links.ts';
import type { PaymentSubject } from '../payments/engine.ts';
import { engineUnavailable } from '../payments/first-answer.ts';
import { fundingView } from '../payments/fund-wallet.ts';
import type { ReturnKeys } from '../payments/return-keys.ts';
import { allowedReturnUrl } from '../accounts/return-urls.ts';
import { findBuyer } from '../payments/store/buyer-details.ts';
import {
  takeCheckSlot,
  findPayment,
  releaseCheckSlot,
  findFunding,
  type PaymentRow,
} from '../payments/store/payments.ts';
import type { PaymentStatusView } from '../payments/views.ts';
import { noteTransaction } from '../platform/telemetry/subject.ts';
import type { Page, PageQuery } from '../domain/page.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { PurchaseDeps } from './deps.ts';
import { findPurchase, findTimeline, type PurchaseRow } from './store/reads.ts';
import { purchaseView, type TransactionView, type WhichPayment } from './views.ts';
import {
  countTransactions,
  isOwnTransaction,
  readTransactions,
  type ListedTransaction,
  type TransactionFilters,
} from './store/list-transactions.ts';

type ConfirmDeps = Pick<PurchaseDeps, 'db' | 'clock' | 'engine' | 'installData' | 'settings'>;

/**
 * Checks the payment at the gateway and returns the transaction. TRANSACTION_NOT_FOUND, also for another
 * account's; SERVICE_UNAVAILABLE if the check could not be started. A gateway that does not answer is no
 * error.
 */
export async function confirmPayment(
  deps: ConfirmDeps,
  principal: Principal,
  which: WhichPayment,
): Promise<TransactionView> {
  const payment = await findOwn(deps, principal, which);
  const { transactionId, isThroughGateway, isClosed } = payment;
  const slot = { now: deps.clock.now(), freshMs: deps.settings.closedPaymentFreshMs };
  // Callers may check a closed payment only once in that time: each check is a workflow and a call to the
  // gateway.
  if (isThroughGateway && (!isClosed || (await takeCheckSlot(deps.db, transactionId, slot))))
    await checkPayment(deps, payment);
  return getTransaction(deps, principal, transactionId);
}

interface OwnPayment extends PaymentSubject {
  readonly isThroughGateway: boolean;
  readonly isClosed: boolean;
}

async function checkPayment({ db, engine, settings }: ConfirmDeps, payment: OwnPayment): Promise<void> {
  try {
    await engine.check(payment, settings.timings.answerWithinMs);
  } catch (error) {
    if (payment.isClosed) await releaseCheckSlot(db, payment.transactionId);
    if (error instanceof EngineUnavailable)
      throw engineUnavailable(
        'The payment cannot be checked right now; we keep checking automatically',
        error,
      );
    throw error;
  }
}

async function findOwn({ db }: ConfirmDeps, principal: Principal, which: WhichPayment): Promise<OwnPayment> {
  const transactionId =
    'transactionId' in which ? which.transactionId : (await findPayment(db, which.reference))?.transaction_id;
  if (transactionId === undefined) throw notFound();
  const purchase = (await findPurchase(db, transactionId))?.purchase;
  const row = purchase ?? (await findFunding(db, transactionId));
  if (row?.account_id !== principal.account.id) throw notFound();
  noteTransaction(transactionId);
  return {
    transactionId,
    purpose: purchase ? 'purchase' : 'funding',
    isThroughGateway: row.payment_method !== 'WALLET',
    isClosed: row.status === 'SUCCESS' || row.status === 'FAILED',
  };
}

function notFound(details = 'no payment of yours has this id or reference'): DomainError {
  return new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found', { details });
}

/** How long the page of a delivered eSIM offers to install it: whoever pays does so at once. */
const OFFERS_INSTALLING_MS = DAY_MS;

type StatusDeps = Pick<PurchaseDeps, 'db' | 'clock' | 'installTokens'> & {
  readonly environment: Environment;
  readonly returnKeys: Pick<ReturnKeys, 'isKeyOf'>;
};

/**
 * A payment's status for anyone with its reference. Holds no secrets, but for who has the key of the page as
 * well: how to install the eSIM.
 */
export async function findPaymentStatus(
  deps: StatusDeps,
  reference: string,
  key?: string,
): Promise<PaymentStatusView | undefined> {
  const { db } = deps;
  const payment = await findPayment(db, reference);
  if (!payment) return undefined;
  const purchase =
    payment.purpose === 'purchase' ? (await findPurchase(db, payment.transaction_id))?.purchase : undefined;
  const row = purchase ?? (await findFunding(db, payment.transaction_id));
  if (!row) return undefined;
  const isPayer = deps.returnKeys.isKeyOf(reference, key);
  return {
    reference,
    purpose: payment.purpose,
    status: row.status,
    reason: row.reason,
    packageName: purchase?.package_name ?? null,
    charge: { amountMinor: payment.charge_minor, currency: payment.charge_currency },
    receivedMinor: payment.received_minor + payment.vouched_minor,
    ...(await wayBack(deps, payment, row.status)),
    installUrl: isPayer && purchase ? await installUrlOf(deps, purchase) : undefined,
  };
}

/** Each stored address is checked again: a host may have left the account's list since. */
async function wayBack(
  { db, environment }: StatusDeps,
  payment: PaymentRow,
  status: PurchaseStatus,
): Promise<Pick<PaymentStatusView, 'shop' | 'brand' | 'backUrl'>> {
  const { shop, brand, successUrl, cancelUrl, returnHosts: hosts } = await findBuyer(db, payment);
  const isPaid = status === 'SUCCESS' || status === 'PROCESSING';
  const where = { transactionId: payment.transaction_id, environment, hosts };
  const backUrl = allowedReturnUrl(isPaid ? successUrl : cancelUrl, where);
  return { shop: shop ?? undefined, brand, backUrl };
}

async function installUrlOf(
  deps: StatusDeps,
  { status, package_type, closed_at, esim_id }: PurchaseRow,
): Promise<string | undefined> {
  if (status !== 'SUCCESS' || package_type !== 'BASE' || closed_at === null) return undefined;
  const isOver = deps.clock.now().getTime() > closed_at.getTime() + OFFERS_INSTALLING_MS;
  return isOver ? undefined : installUrl(deps, esim_id, READS_ALL);
}

/**
 * One purchase or funding as it now stands, with its public timeline. TRANSACTION_NOT_FOUND, also for another
 * account's.
 */
export async function getTransaction(
  deps: Pick<PurchaseDeps, 'db' | 'installData'>,
  principal: Principal,
  transactionId: string,
): Promise<TransactionView> {
  const record = await findPurchase(deps.db, transactionId);
  const funding = record ? undefined : await findFunding(deps.db, transactionId);
  const owner = record?.purchase.account_id ?? funding?.account_id;
  if (owner !== principal.account.id) throw notFound('your account has no purchase or funding with this id');
  noteTransaction(transactionId);
  if (funding) return { funding: await fundingView(deps, funding) };
  if (!record) throw new Error(`${transactionId} has an owner and no row`);
  return {
    purchase: await purchaseView(deps, principal, record, await findTimeline(deps.db, transactionId)),
  };
}

/**
 * Transactions that are counted and reached by page number, at most: nobody pages further. A cursor has no
 * such limit.
 */
export const MAX_COUNTED = 10_000;

interface TransactionsCommand extends Omit<TransactionFilters, 'accountId'>, PageQuery {
  readonly after?: string | undefined;
}

export interface TransactionPage extends Page<ListedTransaction> {
  /** There are more than `total`: not all were counted. */
  readonly totalIsMinimum: boolean;
  readonly next: string | undefined;
}

/** Purchases and fundings of the account, newest first. Throws VALIDATION_ERROR. */
export async function listTransactions(
  { db }: { readonly db: WorldDb },
  { account }: Principal,
  { page, limit, after, ...filters }: TransactionsCommand,
): Promise<TransactionPage> {
  const { from, to } = filters;
  if (from !== undefined && to !== undefined && from >= to) throw invalid('from: must be before to');
  const offset = (page - 1) * limit;
  if (offset + limit > MAX_COUNTED)
    throw invalid(`page: reaches the newest ${MAX_COUNTED}; go on with after and nextCursor`);
  if (after !== undefined && !(await isOwnTransaction(db, account.id, after)))
    throw invalid('after: must be the nextCursor of a page');
  const mine = { ...filters, accountId: account.id };
  const [{ items, next }, { total, isMinimum }] = await Promise.all([
    readTransactions(db, { ...mine, offset, limit, after }),
    countTransactions(db, mine, MAX_COUNTED),
  ]);
  return { items, total, page, limit, totalIsMinimum: isMinimum, next };
}

function invalid(details: string): DomainError {
  return new DomainError('VALIDATION_ERROR', 'Invalid request', { details });
}
