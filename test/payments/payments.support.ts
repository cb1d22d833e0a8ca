// Payments in a test's own Postgres: purchases and fundings that wait for money, and the gateway's answers
// about them. After every test the invariants of the books are checked.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { GatewayDispute } from '../../src/payments/port.ts';
import { saveDisputes } from '../../src/payments/store/disputes.ts';
import type { ChargeQuote } from '../../src/payments/rules.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { insertAccount } from '../../src/accounts/store/accounts.ts';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { findWallet } from '../../src/ledger/store/ledger.ts';
import { bookSeen, type SeenCharge } from '../../src/purchases/store/payment-bookings.ts';
import {
  findPayment,
  saveInstructions,
  findFunding,
  type PaymentRow,
} from '../../src/payments/store/payments.ts';
import { openFunding } from '../../src/payments/store/opening.ts';
import { findPurchase, findTimeline } from '../../src/purchases/store/reads.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { auditBooks, openBooks, type Books } from '../support/world/books.ts';
import { basePackage, newAccount, purchaseInput, region } from '../support/money/facts.ts';
import { paymentViolations } from '../support/money/payment-books.ts';
import type { GatewayMethod, PaymentPurpose } from '../../src/domain/states.ts';

export const NOW = new Date('2026-03-01T10:00:00.000Z');
/** USD 12.50 charged as NGN 20,000.00. */
export const PRICE_MINOR = 1_250n;
export const CHARGE_MINOR = 2_000_000n;
const CHARGE: ChargeQuote = {
  gateway: 'paystack',
  amountMinor: String(CHARGE_MINOR),
  currency: 'NGN',
  rateIds: [],
};

/** These two cover holds that a wallet placed; paymentViolations covers the others. */
const OF_WALLETS_ONLY = [
  'a hold was not booked once, or closed otherwise than its row says',
  'a hold moved another amount than its own',
];

export interface Payer {
  readonly transactionId: string;
  readonly accountId: string;
  readonly reference: string;
  readonly input: PurchaseInput;
  readonly purpose: PaymentPurpose;
}

export interface PayerOptions {
  readonly purpose?: PaymentPurpose;
  readonly method?: GatewayMethod;
  readonly charge?: ChargeQuote;
  readonly accountId?: string;
}

export interface PaymentBooks {
  readonly url: string;
  readonly world: WorldDb;
  readonly owner: WorldDb;
  /** A purchase or funding that waits for a payment that can be paid. */
  payer(options?: PayerOptions): Promise<Payer>;
  /** Another account in accounts.accounts, by its e-mail address. */
  account(email: string): Promise<string>;
  /** Books the result of a check. `checkNumber`: drawn before the gateway was asked, now by default. */
  bookCheck(payer: Payer, seen?: Partial<SeenCharge>, checkNumber?: bigint): ReturnType<typeof bookSeen>;
  checkNumber(): Promise<bigint>;
  /** Books a dispute as the gateway tells it: of all that it has, by default. */
  dispute(payer: Payer, dispute?: Partial<GatewayDispute>): Promise<void>;
  payment(payer: Payer): Promise<PaymentRow>;
  /** `status`, or `status, reason`. */
  status(payer: Payer): Promise<string>;
  balance(payer: Payer): Promise<bigint>;
  timeline(payer: Payer): Promise<string[]>;
}

/** The gateway's answer about a charge that was paid as requested. */
export const paid = (netMinor = CHARGE_MINOR, currency = 'NGN'): Partial<SeenCharge> => ({
  netMinor,
  currency,
});

/** A database for the tests of one file. */
export function usePaymentBooks(): PaymentBooks {
  let books: Books;
  beforeAll(async () => {
    books = await openBooks({ maxConnections: 10 });
    await replaceCatalogue(
      books.world,
      { supplier: 'esim-access', regions: [region()], packages: [basePackage()] },
      NOW,
    );
  });
  afterEach(async () => {
    expect(await auditBooks(books.owner, { except: OF_WALLETS_ONLY })).toEqual([]);
    expect(await paymentViolations(books.owner)).toEqual([]);
  });
  afterAll(() => books.close());
  return {
    get url() {
      return books.url;
    },
    get world() {
      return books.world;
    },
    get owner() {
      return books.owner;
    },
    payer: (options) => newPayer(books.world, options),
    account: async (email) => {
      const account = newAccount({ email });
      await insertAccount(books.accounts, account);
      return account.id;
    },
    bookCheck: (payer, seen, checkNumber) => bookCheck(books.world, payer, seen, checkNumber),
    checkNumber: () => nextCheckNumber(books.world),
    dispute: async ({ reference }, given = {}) => {
      const dispute = {
        disputeId: `d-${reference}`,
        state: 'open',
        gatewayStatus: 'pending',
        amount: null,
        ...given,
      } as const;
      await saveDisputes(books.world, reference, [dispute], await nextCheckNumber(books.world));
    },
    payment: async ({ reference }) => (await findPayment(books.world, reference))!,
    status: (payer) => statusOf(books.world, payer),
    balance: async ({ accountId }) => (await findWallet(books.world, accountId))?.balance.amountMinor ?? 0n,
    timeline: async ({ transactionId }) =>
      (await findTimeline(books.world, transactionId)).map((event) => event.what),
  };
}

async function newPayer(world: WorldDb, options: PayerOptions = {}): Promise<Payer> {
  const transactionId = `txn-${randomUUID()}`;
  const { timings } = purchaseInput({ transactionId });
  const { charge = CHARGE, method: paymentMethod = 'CARD' } = options;
  const input = purchaseInput({
    transactionId,
    accountId: options.accountId ?? `acc-${randomUUID()}`,
    paymentMethod,
    charge,
    timings: { ...timings, transferMs: timings.checkoutMs },
  });
  const { accountId } = input;
  if (options.purpose === 'funding') {
    const amount = { amountMinor: String(PRICE_MINOR), currency: 'USD' } as const;
    await openFunding(world, { ...input, ...amount, charge, paymentMethod }, NOW, {});
  } else {
    await openPurchase(world, input, { now: NOW, keepRefusal: () => false });
  }
  const reference = transactionId;
  const page = { kind: 'redirect', paymentUrl: 'https://checkout.example.com/1' } as const;
  await saveInstructions(world, reference, page);
  return { transactionId, accountId, reference, input, purpose: options.purpose ?? 'purchase' };
}

async function nextCheckNumber(world: WorldDb): Promise<bigint> {
  const { rows } = await sql<{ next: bigint }>`select nextval('payment_checks') as next`.execute(world);
  return rows[0]!.next;
}

async function bookCheck(
  world: WorldDb,
  { reference }: Payer,
  seen: Partial<SeenCharge> = {},
  checkNumber?: bigint,
): ReturnType<typeof bookSeen> {
  const charge: SeenCharge = {
    state: 'paid',
    netMinor: CHARGE_MINOR,
    currency: 'NGN',
    gatewayId: '1',
    gatewayStatus: 'success',
    ...seen,
  };
  return bookSeen(world, reference, charge, checkNumber ?? (await nextCheckNumber(world)));
}

async function statusOf(world: WorldDb, { transactionId }: Payer): Promise<string> {
  const row =
    (await findPurchase(world, transactionId))?.purchase ?? (await findFunding(world, transactionId));
  return [row?.status, row?.reason].filter(Boolean).join(', ');
}

/** Time passes for what was recorded of a refund's requests. */
export async function pastRefund(
  owner: WorldDb,
  { refund_key }: { readonly refund_key: string },
  ms: number,
): Promise<void> {
  const back = sql`${`${ms} milliseconds`}::interval`;
  await sql`
    update refunds set sent_at = sent_at - ${back}, send_before = send_before - ${back}, created_at = created_at - ${back}
     where refund_key = ${refund_key}`.execute(owner);
}
