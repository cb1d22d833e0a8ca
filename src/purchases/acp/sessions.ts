/**
 * Checkout sessions of the Agentic Commerce Protocol: a quote that an agent shows, and the one purchase that
 * is bought with it. The quote decides between buying and taking it back (store/quotes.ts), and the key of
 * the session makes every completion the same purchase.
 */
import { hash, randomBytes } from 'node:crypto';
import { findBudget } from '../../accounts/store/budgets.ts';
import type { Principal } from '../../domain/account.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId, makeId } from '../../domain/ids.ts';
import type { Money } from '../../domain/money.ts';
import type { PaymentMethod } from '../../domain/states.ts';
import { installUrl, type InstallLinkDeps } from '../../esims/install-links.ts';
import { quoteCharge } from '../../payments/gateway-payments.ts';
import { findPaymentView, type PaymentView } from '../../payments/views.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { writeOnce } from '../../platform/idempotency/keyed-writes.ts';
import { keyInUse } from '../../platform/idempotency/refusals.ts';
import type { IdempotencyContext } from '../../platform/idempotency/tag.ts';
import type { RequestContext } from '../../platform/telemetry/subject.ts';
import { buy } from '../buy.ts';
import {
  changeCheckoutSession,
  findCheckoutSession,
  insertCheckoutSession,
  lockCheckoutSession,
  purchaseKeyOf,
  type SessionRecord,
} from '../store/checkout-sessions.ts';
import { withdrawQuote } from '../store/quotes.ts';
import { keepQuote, newQuote, type ChooseDeps } from '../terms.ts';
import { methodOf, PAGE_INSTRUMENTS, sessionStatus, type SessionStatus } from './rules.ts';

type SessionDeps = ChooseDeps & InstallLinkDeps;

export interface CheckoutSession extends SessionRecord {
  readonly status: SessionStatus;
  /** While the buyer can pay on a page of the gateway. */
  readonly payment: (Pick<PaymentView, 'charge'> & { readonly paymentUrl: string }) | undefined;
  /**
   * The page that installs the eSIM, a secret; for a caller who may not read it, the dashboard. Empty before
   * there is a purchase.
   */
  readonly permalinkUrl: string;
  /** Instruments that the page of the gateway takes for this price. Empty unless the session can be paid. */
  readonly pageInstruments: readonly string[];
  readonly gateway: string;
  /** Of the API. */
  readonly publicUrl: string;
}

interface ItemCommand {
  readonly packageCode: string;
  readonly currency: string;
}

/** CURRENCY_MISMATCH, and the refusals of a quote. */
export function createCheckoutSession(
  deps: SessionDeps,
  principal: Principal,
  { packageCode, currency }: ItemCommand,
  idempotency: IdempotencyContext | undefined,
): Promise<CheckoutSession> {
  const { account } = principal;
  if (currency.toUpperCase() !== account.currency)
    throw new DomainError('CURRENCY_MISMATCH', `Prices of this account are in ${account.currency}`);
  return writeOnce(deps, principal, idempotency, {
    prepare: () => newQuote(deps, principal, { packageCode, packageType: 'BASE' }),
    write: async (trx, quote) => {
      const id = makeId('checkout', randomBytes(16).toString('hex'));
      const { created_at: now, id: quote_id } = quote;
      await keepQuote(trx, quote);
      await insertCheckoutSession(trx, {
        id,
        account_id: account.id,
        quote_id,
        created_at: now,
        updated_at: now,
        canceled_at: null,
      });
      return { resultId: id, value: await readSession({ ...deps, db: trx }, principal, id) };
    },
    readEarlier: (id) => readSession(deps, principal, id),
  });
}

/** CHECKOUT_SESSION_NOT_FOUND, also for another account's. */
export function getCheckoutSession(
  deps: SessionDeps,
  principal: Principal,
  sessionId: string,
): Promise<CheckoutSession> {
  return readSession(deps, principal, sessionId);
}

/**
 * Another item has a new price, and the earlier price can no longer be bought at. CHECKOUT_SESSION_CLOSED
 * unless the session can still be paid.
 */
export function updateCheckoutSession(
  deps: SessionDeps,
  principal: Principal,
  sessionId: string,
  { packageCode }: { readonly packageCode?: string | undefined },
  idempotency: IdempotencyContext | undefined,
): Promise<CheckoutSession> {
  return change(deps, principal, sessionId, idempotency, {
    prepare: () =>
      packageCode === undefined ? undefined : newQuote(deps, principal, { packageCode, packageType: 'BASE' }),
    refuse: closed,
    apply: async (trx, session, now, quote) => {
      if (!quote) return changeCheckoutSession(trx, sessionId, { updated_at: now });
      if (!(await withdrawQuote(trx, session.quote_id, { by: sessionId, now }))) throw closed(session);
      await keepQuote(trx, quote);
      return changeCheckoutSession(trx, sessionId, { quote_id: quote.id, updated_at: now });
    },
  });
}

/** CHECKOUT_SESSION_NOT_CANCELABLE once a purchase has begun, and of a session that has ended. */
export function cancelCheckoutSession(
  deps: SessionDeps,
  principal: Principal,
  sessionId: string,
  idempotency: IdempotencyContext | undefined,
): Promise<CheckoutSession> {
  return change(deps, principal, sessionId, idempotency, {
    prepare: () => undefined,
    refuse: notCancelable,
    apply: async (trx, session, now) => {
      if (!(await withdrawQuote(trx, session.quote_id, { by: sessionId, now }))) throw notCancelable(session);
      return changeCheckoutSession(trx, sessionId, { canceled_at: now, updated_at: now });
    },
  });
}

interface Change<Prepared> {
  readonly prepare: () => Prepared | Promise<Prepared>;
  readonly refuse: (session: CheckoutSession) => DomainError;
  readonly apply: (trx: WorldDb, session: CheckoutSession, now: Date, prepared: Prepared) => Promise<void>;
}

/** Changes a session that can be paid, and nothing has been bought with. */
function change<Prepared>(
  deps: SessionDeps,
  principal: Principal,
  sessionId: string,
  idempotency: IdempotencyContext | undefined,
  { prepare, refuse, apply }: Change<Prepared>,
): Promise<CheckoutSession> {
  return writeOnce(deps, principal, idempotency, {
    prepare: async () => {
      requireReady(await readSession(deps, principal, sessionId), refuse);
      return prepare();
    },
    write: async (trx, prepared: Prepared) => {
      await lockCheckoutSession(trx, sessionId);
      const session = await readSession({ ...deps, db: trx }, principal, sessionId);
      requireReady(session, refuse);
      await apply(trx, session, deps.clock.now(), prepared);
      return { resultId: sessionId, value: await readSession({ ...deps, db: trx }, principal, sessionId) };
    },
    readEarlier: () => readSession(deps, principal, sessionId),
  });
}

function requireReady(session: CheckoutSession, refuse: Change<unknown>['refuse']): void {
  if (session.status !== 'ready_for_payment') throw refuse(session);
}

interface CompleteCommand {
  readonly handlerId: string;
  readonly instrument: string;
}

/**
 * Buys at the price of the session, once, however often and in how many processes this is called. The wallet
 * delivers now; a page of the gateway waits for the buyer. CHECKOUT_SESSION_CLOSED,
 * PAYMENT_HANDLER_UNSUPPORTED, and the refusals of a purchase.
 */
export function completeCheckoutSession(
  deps: SessionDeps,
  principal: Principal,
  sessionId: string,
  { handlerId, instrument }: CompleteCommand,
  idempotency: IdempotencyContext | undefined,
  context: RequestContext,
): Promise<CheckoutSession> {
  return writeOnce(deps, principal, idempotency, {
    prepare: async () => {
      const session = await readSession(deps, principal, sessionId);
      const method = methodOf(handlerId, instrument);
      if (!method) throw unsupported(session);
      return pay(deps, principal, session, method, context);
    },
    write: (_trx, session) => Promise.resolve({ resultId: sessionId, value: session }),
    readEarlier: () => readSession(deps, principal, sessionId),
  });
}

/** About the key or the quote of the session: another request was first, or the price has expired. */
const WAS_CHANGED: ReadonlySet<string> = new Set([
  'IDEMPOTENCY_KEY_IN_USE',
  'IDEMPOTENCY_KEY_REUSED',
  'QUOTE_USED',
  'QUOTE_EXPIRED',
]);

async function pay(
  deps: SessionDeps,
  principal: Principal,
  session: CheckoutSession,
  paymentMethod: PaymentMethod,
  context: RequestContext,
): Promise<CheckoutSession> {
  const { id, quote_id: quoteId, quote } = session;
  if (isBought(session)) return session;
  requireReady(session, closed);
  const fingerprint = hash('sha256', `${id} ${quoteId} ${paymentMethod}`);
  const command = { packageCode: quote.package_code, packageType: 'BASE', paymentMethod, quoteId } as const;
  const key = { key: purchaseKeyOf(id), path: 'acp', fingerprint };
  try {
    await buy(deps, principal, { ...command, idempotency: key }, context);
  } catch (error) {
    if (!(error instanceof DomainError) || !WAS_CHANGED.has(error.code)) throw error;
    const now = await readSession(deps, principal, id);
    if (isBought(now)) return now;
    if (error.code === 'IDEMPOTENCY_KEY_IN_USE') throw error;
    // Another completion, by another handler, has not opened its purchase yet.
    throw error.code === 'IDEMPOTENCY_KEY_REUSED' ? keyInUse() : closed(now);
  }
  return readSession(deps, principal, id);
}

/**
 * Its purchase was asked for, and has not failed: however it is to be paid, it is the one purchase of the
 * session, and a refusal could make an agent buy again.
 */
const isBought = ({ transaction_id, status }: CheckoutSession): boolean =>
  transaction_id !== null && status !== 'canceled';

async function readSession(
  deps: SessionDeps,
  principal: Principal,
  sessionId: string,
): Promise<CheckoutSession> {
  const found = await findCheckoutSession(deps.db, principal.account.id, sessionId);
  if (!found) throw new DomainError('CHECKOUT_SESSION_NOT_FOUND', 'Checkout session not found');
  const { transaction_id, purchase_status, quote } = found;
  const payment =
    purchase_status === 'PENDING' ? await findPage(deps.db, found.transaction_id ?? '') : undefined;
  const facts = {
    isCanceled: found.canceled_at !== null,
    expiresAt: quote.expires_at,
    isBegun: transaction_id !== null,
    purchaseStatus: purchase_status ?? undefined,
    hasPaymentPage: payment !== undefined,
  };
  const status = sessionStatus(facts, deps.clock.now());
  const price = { amountMinor: quote.price_minor, currency: quote.currency };
  return {
    ...found,
    status,
    payment,
    permalinkUrl: transaction_id === null ? '' : await permalinkUrl(deps, principal, found),
    pageInstruments:
      status === 'ready_for_payment' && !(await hasBudget(deps, principal))
        ? pageInstruments(deps, price)
        : [],
    gateway: deps.gateway.name,
    publicUrl: deps.installTokens.publicUrl,
  };
}

async function findPage(db: WorldDb, transactionId: string): Promise<CheckoutSession['payment']> {
  const payment = await findPaymentView(db, transactionId);
  if (payment?.instructions?.kind !== 'redirect') return undefined;
  return { charge: payment.charge, paymentUrl: payment.instructions.paymentUrl };
}

/** The page that installs the eSIM; for a caller who may not read that, the dashboard, where others can. */
export async function permalinkUrl(
  deps: InstallLinkDeps,
  principal: Principal,
  { esim_id }: Pick<SessionRecord, 'esim_id'>,
): Promise<string> {
  const link = esim_id === null ? '' : await installUrl(deps, esim_id, principal);
  return link === '' ? `${deps.installTokens.publicUrl}/dashboard` : link;
}

/** Such a key pays from the wallet alone. */
const hasBudget = async ({ db }: SessionDeps, { keyId }: Principal): Promise<boolean> =>
  isId('key', keyId) && (await findBudget(db, keyId)) !== undefined;

/** Without those that the gateway does not take for this amount. */
function pageInstruments(deps: SessionDeps, price: Money): string[] {
  const isTaken = ([, method]: [string, Exclude<PaymentMethod, 'WALLET'>]): boolean => {
    try {
      return BigInt(quoteCharge(deps, deps.catalogue.current(), method, price).amountMinor) > 0n;
    } catch (error) {
      if (error instanceof DomainError) return false;
      throw error;
    }
  };
  return [...PAGE_INSTRUMENTS].filter(isTaken).map(([instrument]) => instrument);
}

const WORDS: Readonly<Record<SessionStatus, string>> = {
  ready_for_payment: 'was changed at the same time',
  requires_escalation: 'waits for the payment of the buyer',
  complete_in_progress: 'is being paid for or delivered',
  completed: 'is completed',
  canceled: 'is canceled',
  expired: 'has expired',
};

/** Only a session that sells nothing any more is worth another one: an agent that obeys would buy twice. */
const NEXT: Readonly<Partial<Record<SessionStatus, string>>> = {
  canceled: 'create another one',
  expired: 'create another one',
};

function closed({ status }: CheckoutSession): DomainError {
  const next = NEXT[status] ?? 'read it again';
  return new DomainError('CHECKOUT_SESSION_CLOSED', `This session ${WORDS[status]}: ${next}`);
}

function notCancelable({ status }: CheckoutSession): DomainError {
  const words = `This session ${WORDS[status]}: it cannot be canceled`;
  return new DomainError('CHECKOUT_SESSION_NOT_CANCELABLE', words);
}

function unsupported({ pageInstruments }: CheckoutSession): DomainError {
  const ways = ['wallet (instrument wallet)', `hosted_page (instrument ${pageInstruments.join(', ')})`];
  return new DomainError(
    'PAYMENT_HANDLER_UNSUPPORTED',
    `Pay with one of these handlers: ${(pageInstruments.length > 0 ? ways : ways.slice(0, 1)).join(', ')}`,
    { fields: [{ field: 'payment_data.handler_id', problem: 'is none of these handlers' }] },
  );
}

/** Where agents find the checkout. */
export function describeAgenticCheckout({ installTokens }: Pick<InstallLinkDeps, 'installTokens'>): string {
  return installTokens.publicUrl;
}
