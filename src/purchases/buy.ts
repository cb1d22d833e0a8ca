/**
 * Buying: price and freeze the quote, hand it to the engine, tell what the caller should know. Nothing is written here: the purchase's
 * own first step writes, so there is no gap between a row and its workflow.
 */
import type { Principal } from '../domain/account.ts';
import type { CataloguePackage } from '../catalogue/rules.ts';
import { DomainError } from '../domain/errors.ts';
import type { FrozenQuote, PurchaseInput } from './purchase.ts';
import { asFailureReason } from '../domain/refusals.ts';
import { findEsim } from '../esims/store/esims.ts';
import { beginKey, type IdempotencyRecord } from '../platform/idempotency/store.ts';
import { findPurchase } from './store/reads.ts';
import { packageNotFound } from '../catalogue/browse.ts';
import { quoteCharge } from '../payments/quote-charge.ts';
import { esimView } from '../esims/esim-view.ts';
import { checkAgain } from '../esims/read-esims.ts';
import { identifyRequest } from '../platform/idempotency/identify-request.ts';
import { createPricer } from '../catalogue/prices.ts';
import { paymentStatusView } from './purchase-view.ts';
import type { TopUps } from '../catalogue/top-ups.ts';
import { newEsimId } from '../platform/idempotency/transaction-id.ts';
import type { RequestContext } from '../platform/http/request-context.ts';
import type { PurchaseDeps } from './deps.ts';
import type { PricedPackage } from '../catalogue/views.ts';
import type { PurchaseView, BuyCommand } from './views.ts';
import { askEngine, ifReachable, refused, requireAccepted } from '../payments/engine.ts';

export type BuyDeps = PurchaseDeps & { readonly topUps: TopUps };

/** Buys or tops up and answers SUCCESS, PROCESSING or, paid from outside, PENDING with how to pay; a refusal is thrown as DomainError. */
export async function buy(
  deps: BuyDeps,
  principal: Principal,
  command: BuyCommand,
  context: RequestContext,
): Promise<PurchaseView> {
  const askedAtMs = deps.clock.now().getTime();
  const { transactionId, earlier } = await identifyRequest(deps, principal, command.idempotency);
  const answered = earlier && (await answerEarlier(deps, earlier));
  if (answered) return answered;
  const goods =
    command.packageType === 'BASE' ? chooseBase(deps, command) : await chooseTopUp(deps, principal, command);
  const input = freeze(deps, principal, command, context, { ...goods, transactionId, askedAtMs });
  const startedAtMs = deps.clock.now().getTime();
  const answer = await askEngine(
    input.transactionId,
    (deadlineMs) => deps.engine.purchase(input, deadlineMs, titleOf(principal, command, goods.item)),
    input.timings.answerWithinMs,
    async () => (await ifReachable(() => findPurchase(deps.db, input.transactionId))) !== undefined,
  );
  const status = answer === 'no-answer-yet' ? 'PROCESSING' : answer.status;
  deps.events.purchaseAnswered({
    transactionId: input.transactionId,
    requestId: context.requestId,
    answer: status,
    ...(answer !== 'no-answer-yet' && answer.status === 'REFUSED' ? { reason: answer.refusal.reason } : {}),
    ms: deps.clock.now().getTime() - startedAtMs,
  });
  requireAccepted(answer, command.idempotency);
  if (answer === 'no-answer-yet') await ifReachable(() => beginKey(deps.db, input));
  return readBack(deps, input, goods.item, status === 'SUCCESS');
}

/** What operations read: the package and, where a company buys, its name. A person's name stays out of Temporal. */
function titleOf({ account }: Principal, { packageType }: BuyCommand, { name }: CataloguePackage): string {
  const buyer = account.type === 'MERCHANT' ? account.name : 'a user';
  return `${packageType === 'BASE' ? 'eSIM' : 'Top-up'} ${name} for ${buyer}`;
}

/** A retry whose first request got far enough to leave a row is answered from Postgres, whatever has changed since. */
async function answerEarlier(deps: BuyDeps, record: IdempotencyRecord): Promise<PurchaseView | undefined> {
  if (record.refusal) throw refused(record.refusal);
  const purchase = await findPurchase(deps.db, record.transactionId);
  if (purchase?.purchase.reason)
    throw refused({ reason: asFailureReason(purchase.purchase.reason), detail: '' });
  return purchase && paymentStatusView(deps, purchase);
}

interface Goods {
  readonly item: CataloguePackage;
  readonly esimId: string;
}

/** What looking at the eSIM took is part of the buyer's wait; this much is left for the purchase itself, whatever came before. */
const LEAST_ANSWER_WITHIN_MS = 1_000;

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
    throw new DomainError('INVALID_TOPUP', 'This top-up package does not fit the package of the eSIM');
  }
  const fresh = row.esim_tran_no === '' ? row : await checkAgain(deps, row);
  if (fresh.status !== 'ACTIVE')
    throw new DomainError(
      'INVALID_TOPUP',
      `Only an ACTIVE eSIM can be topped up, this one is ${fresh.status}`,
    );
  return { item, esimId: row.id };
}

function freeze(
  deps: BuyDeps,
  principal: Principal,
  command: BuyCommand,
  context: RequestContext,
  goods: Goods & { readonly transactionId: string; readonly askedAtMs: number },
): PurchaseInput {
  const { account } = principal;
  const catalogue = deps.catalogue.current();
  const { price, rate } = createPricer(deps, catalogue, account, account.currency);
  const priced = price(goods.item);
  const method = command.paymentMethod;
  const tag = command.idempotency;
  return {
    transactionId: goods.transactionId,
    accountId: account.id,
    packageType: command.packageType,
    packageCode: goods.item.packageCode,
    paymentMethod: method,
    esimId: goods.esimId,
    quote: freezeQuote(priced, account.currency, catalogue.settings.id, rate?.id),
    ...(method === 'WALLET' ? {} : { charge: quoteCharge(deps, catalogue, method, priced.price) }),
    requestId: context.requestId,
    timings: { ...deps.settings.timings, answerWithinMs: leftOfWait(deps, goods.askedAtMs) },
    ...(tag ? { idempotency: tag } : {}),
  };
}

function leftOfWait({ clock, settings }: BuyDeps, askedAtMs: number): number {
  const leftMs = settings.timings.answerWithinMs - (clock.now().getTime() - askedAtMs);
  return Math.max(Math.min(LEAST_ANSWER_WITHIN_MS, settings.timings.answerWithinMs), leftMs);
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

/**
 * The rows say how it stands; before there are any, the purchase is told as PROCESSING from what was frozen. Of a delivered one, only the eSIM
 * is not known here already.
 */
async function readBack(
  deps: BuyDeps,
  input: PurchaseInput,
  item: CataloguePackage,
  isDelivered: boolean,
): Promise<PurchaseView> {
  if (isDelivered && input.packageType === 'BASE') {
    const esim = await ifReachable(() => findEsim(deps.db, input.esimId));
    // A retry that joined its first try froze another eSIM's id.
    if (esim) return { ...frozenView(input, item), status: 'SUCCESS', esim: esimView(esim) };
  }
  const record = await ifReachable(() => findPurchase(deps.db, input.transactionId));
  if (record?.purchase.reason) throw refused({ reason: asFailureReason(record.purchase.reason), detail: '' });
  return record ? paymentStatusView(deps, record) : frozenView(input, item);
}

function frozenView(input: PurchaseInput, item: CataloguePackage): PurchaseView {
  return {
    transactionId: input.transactionId,
    packageType: input.packageType,
    paymentMethod: input.paymentMethod,
    status: input.charge === undefined ? 'PROCESSING' : 'PENDING',
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
    payment: null,
    timeline: [],
  };
}
