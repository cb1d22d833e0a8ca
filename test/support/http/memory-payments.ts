/**
 * Payments from outside, kept in memory: how to pay, asking again, funding, standings and the gateway's events. Money comes only when a
 * test says so (`settle`), so every stage can be looked at.
 */
import type { Environment, Principal } from '../../../src/domain/account.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { makeId } from '../../../src/domain/ids.ts';
import type { Money } from '../../../src/domain/money.ts';
import type { PaymentMethod } from '../../../src/domain/states.ts';
import type { WorldUseCases } from '../../../src/platform/composition/use-cases.ts';
import type { IdempotencyTag, StoredAnswer } from '../../../src/platform/idempotency/tag.ts';
import { NOW } from './goods.ts';
import type {
  FundingView,
  PaymentStatusView,
  PaymentView,
  FundCommand,
} from '../../../src/payments/views.ts';
import type { PurchaseView, WhichPayment } from '../../../src/purchases/views.ts';

/** The signature that the memory gateway takes for its own. */
export const GOOD_SIGNATURE = 'a-good-signature';
export const TRANSFER_EXPIRES_AT = new Date(NOW.getTime() + 30 * 60_000);

export interface TakenEvent {
  readonly environment: Environment;
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface MemoryPayments {
  readonly fundings: FundingView[];
  readonly standings: Map<string, PaymentStatusView & { readonly environment: Environment }>;
  /** Whatever came to the gateway's doors, kept or refused. */
  readonly events: TakenEvent[];
  /** Account ids by transaction id. */
  readonly owners: Map<string, string>;
  /** Whether the gateway has answered how to pay. */
  gatewayAnswers: boolean;
}

/** The part of the shop that payments are about. */
export interface PaymentShop {
  readonly purchases: PurchaseView[];
  readonly payments: MemoryPayments;
  readonly answers: Map<string, { tag: IdempotencyTag; answer?: StoredAnswer }>;
}

export function createMemoryPayments(): MemoryPayments {
  return { fundings: [], standings: new Map(), events: [], owners: new Map(), gatewayAnswers: true };
}

/** How a price is asked for from outside: transfers in naira, mobile money in cedis, the rest as it is. */
export function openPayment(
  { payments }: PaymentShop,
  opened: {
    readonly transactionId: string;
    readonly method: PaymentMethod;
    readonly price: Money;
    readonly owner: string;
  },
): PaymentView | null {
  const { transactionId, method, price, owner } = opened;
  payments.owners.set(transactionId, owner);
  if (method === 'WALLET') return null;
  const charge = chargeOf(method, price);
  if (!payments.gatewayAnswers) return { reference: transactionId, charge, instructions: null };
  return {
    reference: transactionId,
    charge,
    instructions:
      method === 'BANK_TRANSFER'
        ? {
            kind: 'bank-transfer',
            bankName: 'Example Bank',
            accountNumber: '0000000001',
            accountName: 'SIMWAY / EXAMPLE',
            expiresAt: TRANSFER_EXPIRES_AT,
          }
        : { kind: 'redirect', paymentUrl: `https://checkout.example.com/${transactionId}` },
  };
}

function chargeOf(method: PaymentMethod, { amountMinor, currency }: Money): Money {
  if (method === 'MOBILE_MONEY') return { amountMinor: amountMinor / 100n, currency: 'GHS' };
  if (method !== 'BANK_TRANSFER' || currency === 'NGN') return { amountMinor, currency };
  return { amountMinor: (amountMinor * 153_425n) / 100n, currency: 'NGN' };
}

/** Moves a purchase or a funding on: to SUCCESS and FAILED it is no longer waited for. */
export function settle(
  shop: PaymentShop,
  transactionId: string,
  changes: Pick<PurchaseView, 'status'> & Partial<PurchaseView>,
): void {
  const all: readonly { readonly transactionId: string }[] = [...shop.purchases, ...shop.payments.fundings];
  const found = all.find((one) => one.transactionId === transactionId);
  Object.assign(found ?? {}, { payment: null, ...changes });
}

type PaymentVerbs = Pick<
  WorldUseCases,
  'confirmPayment' | 'fundWallet' | 'findPaymentStatus' | 'takeGatewayEvent'
>;

/** `begin` notes a call, and throws what the test wants thrown. */
export function paymentVerbs(environment: Environment, begin: (name: string) => PaymentShop): PaymentVerbs {
  return {
    confirmPayment: async (principal, which) => {
      const shop = begin('confirmPayment');
      await Promise.resolve();
      return confirm(shop, principal, which);
    },
    fundWallet: async (principal, command) => {
      const shop = begin('fundWallet');
      await Promise.resolve();
      return fund(shop, principal, command);
    },
    findPaymentStatus: async (reference) => {
      const { payments } = begin('findPaymentStatus');
      await Promise.resolve();
      const found = payments.standings.get(reference);
      return found?.environment === environment ? found : undefined;
    },
    takeGatewayEvent: async (rawBody, headers) => {
      const { payments } = begin('takeGatewayEvent');
      await Promise.resolve();
      payments.events.push({ environment, bytes: Buffer.from(rawBody), headers });
      return headers['x-paystack-signature'] === GOOD_SIGNATURE ? 'kept' : 'refused';
    },
  };
}

function confirm(
  { purchases, payments }: PaymentShop,
  principal: Principal,
  which: WhichPayment,
): { readonly purchase: PurchaseView } | { readonly funding: FundingView } {
  const wanted = 'transactionId' in which ? which.transactionId : which.reference;
  const isMine = payments.owners.get(wanted) === principal.account.id;
  const timeline = [{ at: NOW, what: 'Payment opened' }];
  const purchase = purchases.find((one) => one.transactionId === wanted);
  if (isMine && purchase) return { purchase: { ...purchase, timeline } };
  const funding = payments.fundings.find((one) => one.transactionId === wanted);
  if (isMine && funding) return { funding: { ...funding, timeline } };
  throw new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found');
}

function fund(shop: PaymentShop, principal: Principal, command: FundCommand): FundingView {
  const { amountMinor, paymentMethod: method, idempotency } = command;
  const { id: owner, currency } = principal.account;
  if (idempotency) shop.answers.set(`${owner} ${idempotency.key}`, { tag: idempotency });
  if (amountMinor < 10_000n) {
    throw new DomainError('PAYMENT_METHOD_UNAVAILABLE', `${method} takes no less than 100.00`);
  }
  const { fundings } = shop.payments;
  const transactionId = makeId('transaction', `f${String(fundings.length + 1).padStart(31, '0')}`);
  const amount = { amountMinor, currency };
  const funding: FundingView = {
    transactionId,
    paymentMethod: method,
    status: 'PENDING',
    reason: null,
    amount,
    payment: openPayment(shop, { transactionId, method, price: amount, owner }),
    timeline: [],
  };
  fundings.push(funding);
  return funding;
}
