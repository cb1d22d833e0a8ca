/**
 * Buying: price and freeze the quote, hand it to the engine, tell what the caller should know. Nothing is written here: the purchase's
 * own first step writes, so there is no gap between a row and its workflow.
 */
import type { Principal } from '../domain/account.ts';
import type { CataloguePackage } from '../domain/catalogue.ts';
import { DomainError } from '../domain/errors.ts';
import {
  asFailureReason,
  FAILURE_REASONS,
  type FrozenQuote,
  type PurchaseAnswer,
  type PurchaseInput,
  type Refusal,
} from '../domain/purchase.ts';
import { EngineUnavailable } from '../ports/purchase-engine.ts';
import { isPassing } from '../store/constraint-errors.ts';
import { findEsim } from '../store/esims.ts';
import { findIdempotencyKey } from '../store/idempotency.ts';
import { findPurchase, type PurchaseRecord } from '../store/purchase-reads.ts';
import { packageNotFound } from './browse.ts';
import { lookAgain } from './esims.ts';
import { isStillRunning, keyInUse, keyReused } from './idempotency-refusals.ts';
import { createPricer } from './prices.ts';
import { purchaseView } from './purchase-view.ts';
import type { TopUps } from './top-ups.ts';
import { newEsimId, newTransactionId } from './transaction-id.ts';
import type { BuyCommand, RequestContext } from './use-cases.ts';
import type { PricedPackage, PurchaseView } from './views.ts';
import type { WorldDeps } from './world-deps.ts';

export type BuyDeps = WorldDeps & { readonly topUps: TopUps };

/** Buys or tops up and answers SUCCESS or PROCESSING; a refusal is thrown as DomainError. */
export async function buy(
  deps: BuyDeps,
  principal: Principal,
  command: BuyCommand,
  context: RequestContext,
): Promise<PurchaseView> {
  const earlier = await findEarlier(deps, principal, command);
  if (earlier) return earlier;
  if (command.paymentMethod !== 'WALLET') throw methodUnavailable(command.paymentMethod);
  const goods =
    command.packageType === 'BASE' ? chooseBase(deps, command) : await chooseTopUp(deps, principal, command);
  const input = freeze(deps, principal, command, context, goods);
  const startedAtMs = deps.clock.now().getTime();
  const answer = await ask(deps, input);
  const status = answer === 'no-answer-yet' ? 'PROCESSING' : answer.status;
  deps.events.purchaseAnswered({
    transactionId: input.transactionId,
    requestId: context.requestId,
    answer: status,
    ...(answer !== 'no-answer-yet' && answer.status === 'REFUSED' ? { reason: answer.refusal.reason } : {}),
    ms: deps.clock.now().getTime() - startedAtMs,
  });
  if (answer !== 'no-answer-yet') {
    if (answer.fingerprint !== command.idempotency?.fingerprint) throw keyReused();
    if (answer.status === 'REFUSED') throw refused(answer.refusal);
  }
  return readBack(deps, input, goods.item);
}

/** A retry whose first request got far enough to leave a row is answered from Postgres, whatever has changed since. */
async function findEarlier(
  deps: BuyDeps,
  principal: Principal,
  command: BuyCommand,
): Promise<PurchaseView | undefined> {
  if (!command.idempotency) return undefined;
  const record = await findIdempotencyKey(deps.db, principal.account.id, command.idempotency.key);
  if (!record) return undefined;
  // It was not there a moment ago: the first request is running, and its answer is the one that counts.
  if (isStillRunning(record, deps.clock.now())) throw keyInUse();
  if (record.refusal) throw refused(record.refusal);
  const purchase = await findPurchase(deps.db, record.transactionId);
  if (purchase?.purchase.reason)
    throw refused({ reason: asFailureReason(purchase.purchase.reason), detail: '' });
  return purchase && purchaseView(purchase);
}

interface Goods {
  readonly item: CataloguePackage;
  readonly esimId: string;
}

function chooseBase(deps: BuyDeps, command: BuyCommand): Goods {
  const item = deps.catalogue.current().byCode.get(command.packageCode);
  if (!item) throw packageNotFound();
  if (item.withdrawn) throw refused({ reason: 'PACKAGE_WITHDRAWN', detail: '' });
  return { item, esimId: newEsimId() };
}

async function chooseTopUp(deps: BuyDeps, principal: Principal, command: BuyCommand): Promise<Goods> {
  const row = await findEsim(deps.db, command.esimId ?? '');
  if (row?.account_id !== principal.account.id) {
    throw new DomainError('ESIM_NOT_FOUND', 'eSIM not found or does not belong to your account');
  }
  const base = deps.catalogue.current().byCode.get(row.package_code);
  const fitting = base ? await deps.topUps.of(base) : [];
  const item =
    fitting.find((topUp) => topUp.packageCode === command.packageCode) ??
    fitting.find((topUp) => topUp.packageCode === `TOPUP_${command.packageCode}`);
  if (!item) {
    if (!(await deps.topUps.find(command.packageCode))) throw packageNotFound();
    throw invalidTopUp('this top-up package does not fit the package of the eSIM');
  }
  const fresh = row.esim_tran_no === '' ? row : await lookAgain(deps, row);
  if (fresh.status !== 'ACTIVE')
    throw invalidTopUp(`the eSIM is ${fresh.status}, only an ACTIVE one can be topped up`);
  return { item, esimId: row.id };
}

function freeze(
  deps: BuyDeps,
  principal: Principal,
  command: BuyCommand,
  context: RequestContext,
  goods: Goods,
): PurchaseInput {
  const { account, environment } = principal;
  const catalogue = deps.catalogue.current();
  const { price, rate } = createPricer(deps, catalogue, account, account.currency);
  const tag = command.idempotency;
  return {
    transactionId: newTransactionId(deps.idSecret, {
      environment,
      accountId: account.id,
      ...(tag ? { idempotencyKey: tag.key } : {}),
    }),
    accountId: account.id,
    packageType: command.packageType,
    packageCode: goods.item.packageCode,
    paymentMethod: command.paymentMethod,
    esimId: goods.esimId,
    quote: freezeQuote(price(goods.item), account.currency, catalogue.settings.id, rate?.id),
    requestId: context.requestId,
    timings: deps.settings.timings,
    ...(tag ? { idempotency: tag } : {}),
  };
}

function freezeQuote(
  priced: PricedPackage,
  currency: FrozenQuote['currency'],
  settingsId: string,
  rateId: string | undefined,
): FrozenQuote {
  return {
    priceMinor: String(priced.price.amountMinor),
    currency,
    priceUsdMinor: String(priced.priceUsdMinor),
    costUsdE4: String(priced.item.cost),
    settingsId,
    ...(rateId === undefined ? {} : { rateId }),
  };
}

async function ask(deps: BuyDeps, input: PurchaseInput): Promise<PurchaseAnswer | 'no-answer-yet'> {
  try {
    const answer = await deps.engine.purchase(input, input.timings.answerWithinMs);
    if (answer !== 'in-doubt') return answer;
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
    throw unavailable('Purchases cannot be started right now, nothing was charged', error);
  }
  // Its row proves that the purchase runs. Without one PROCESSING would promise what may never have begun.
  if (await findWhereItStands(deps, input.transactionId)) return 'no-answer-yet';
  throw unavailable(
    `It is not known yet whether purchase ${input.transactionId} was started: repeat the request with the same Idempotency-Key, or read that transaction, before buying again`,
  );
}

function unavailable(message: string, cause?: unknown): DomainError {
  const error = new DomainError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 5 });
  error.cause = cause;
  return error;
}

/** The purchase's rows, or undefined where there are none yet or the database is away for a moment. */
async function findWhereItStands(deps: BuyDeps, transactionId: string): Promise<PurchaseRecord | undefined> {
  try {
    return await findPurchase(deps.db, transactionId);
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw error;
  }
}

/** The rows say how it stands; before there are any, the purchase is told as PROCESSING from what was frozen. */
async function readBack(deps: BuyDeps, input: PurchaseInput, item: CataloguePackage): Promise<PurchaseView> {
  // The purchase runs: its caller needs its id more than an error.
  const record = await findWhereItStands(deps, input.transactionId);
  if (record?.purchase.reason) throw refused({ reason: asFailureReason(record.purchase.reason), detail: '' });
  if (record) return purchaseView(record);
  return {
    transactionId: input.transactionId,
    packageType: input.packageType,
    paymentMethod: input.paymentMethod,
    status: 'PROCESSING',
    reason: null,
    package: {
      packageCode: item.packageCode,
      packageName: item.name,
      price: { amountMinor: BigInt(input.quote.priceMinor), currency: input.quote.currency },
      volumeBytes: item.volumeBytes,
      duration: item.duration,
    },
    esim: null,
    topUp: null,
    timeline: [],
  };
}

const REFUSAL_MESSAGES: Record<(typeof FAILURE_REASONS)[keyof typeof FAILURE_REASONS], string> = {
  INSUFFICIENT_BALANCE: 'Insufficient wallet balance',
  PACKAGE_UNAVAILABLE: 'This package is not available right now',
  INVALID_TOPUP: 'This eSIM cannot be topped up with this package',
};

/** What a caller may know of a refusal: our detail is for logs and operators. */
function refused(refusal: Refusal): DomainError {
  const code = FAILURE_REASONS[refusal.reason];
  const message = REFUSAL_MESSAGES[code];
  return new DomainError(code, message, { details: `${refusal.reason}: no money was taken` });
}

function invalidTopUp(details: string): DomainError {
  return new DomainError('INVALID_TOPUP', 'This eSIM cannot be topped up with this package', { details });
}

function methodUnavailable(method: string): DomainError {
  return new DomainError('PAYMENT_METHOD_UNAVAILABLE', `Payment method ${method} is not available`, {
    details: `${method} is not configured here; pay with WALLET`,
  });
}
