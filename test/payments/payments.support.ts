// Payments in a test's own Postgres: purchases and fundings that wait for money, and the gateway's answers
// about them. After every test the invariants of the books are checked.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { GatewayDispute } from '../../src/payments/port.ts';
import { findOpenDisputes, releaseRisk, saveDisputes } from '../../src/payments/store/disputes.ts';
import type { ChargeQuote } from '../../src/payments/rules.ts';
import { insertAccount, type NewAccount } from '../../src/accounts/store/accounts.ts';
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
import { findOpenRefunds } from '../../src/payments/store/refunds.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { auditBooks, openBooks, type Books } from '../support/world/books.ts';
import { newAccount, purchaseInput } from '../support/money/facts.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { stockCatalogue } from '../support/money/stock.ts';
import { entriesOf, paymentViolations } from '../support/money/payment-books.ts';
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

export type Payer = Awaited<ReturnType<typeof newPayer>>;

export interface PayerOptions {
  readonly purpose?: PaymentPurpose;
  readonly method?: GatewayMethod;
  readonly charge?: ChargeQuote;
  readonly accountId?: string;
  /** The gateway has said how to pay, unless false. */
  readonly isOpen?: boolean;
}

export type PaymentBooks = ReturnType<typeof usePaymentBooks>;

const PAID: SeenCharge = {
  state: 'paid',
  netMinor: CHARGE_MINOR,
  currency: 'NGN',
  gatewayId: '1',
  gatewayStatus: 'success',
};
export const REVERSED = { state: 'reversed', gatewayStatus: 'reversed' } as const;
const OUT_OF_STOCK = { reason: 'OUT_OF_STOCK', detail: '' } as const;

/** What the gateway says of a charge that was paid, as requested by default. */
export const paid = (netMinor = CHARGE_MINOR, currency = 'NGN'): Partial<SeenCharge> => ({
  netMinor,
  currency,
});

/** A database for the tests of one file. */
export function usePaymentBooks() {
  let books: Books;
  beforeAll(async () => {
    books = await openBooks({ maxConnections: 10 });
    await stockCatalogue(books.world, NOW);
  });
  afterEach(async () => {
    expect(await auditBooks(books.owner, { except: OF_WALLETS_ONLY })).toEqual([]);
    expect(await paymentViolations(books.owner)).toEqual([]);
  });
  afterAll(() => books.close());
  /** A purchase or funding that waits for a payment that can be paid. */
  const payer = (options?: PayerOptions): Promise<Payer> => newPayer(books.world, options);
  const checkNumber = (): Promise<bigint> => nextCheckNumber(books.world);
  /** Books the result of a check: of a payment as requested, and drawn now, by default. */
  const bookCheck = async ({ reference }: Payer, seen: Partial<SeenCharge> = {}, drawn?: bigint) =>
    bookSeen(books.world, reference, { ...PAID, ...seen }, drawn ?? (await checkNumber()));
  /** The same after that check. */
  const paidPayer = async (seen?: Partial<SeenCharge>, options?: PayerOptions): Promise<Payer> => {
    const made = await payer(options);
    await bookCheck(made, seen);
    return made;
  };
  const settle = ({ transactionId }: Payer) => settlePurchase(books.world, transactionId);
  /** It is not delivered, and its money goes back. */
  const giveUp = ({ transactionId }: Payer) => failPurchase(books.world, transactionId, OUT_OF_STOCK);
  const refunds = ({ transactionId }: Payer) => findOpenRefunds(books.world, transactionId);
  /** `status`, or `status, reason`. */
  const status = async (of: Payer): Promise<string> => {
    const order = await orderOf(books.world, of);
    return [order.status, order.reason].filter(Boolean).join(', ');
  };
  const attention = async (of: Payer): Promise<string | null> =>
    (await orderOf(books.world, of)).attention_reason;
  const balance = async ({ accountId }: Payer): Promise<bigint> =>
    (await findWallet(books.world, accountId))?.balance.amountMinor ?? 0n;
  const timeline = async ({ transactionId }: Payer): Promise<string[]> =>
    (await findTimeline(books.world, transactionId)).map((event) => event.what);
  const entries = (of: Payer): Promise<string[]> => entriesOf(books.owner, of);
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
    payer,
    paidPayer,
    deliveredPayer: async (seen?: Partial<SeenCharge>, options?: PayerOptions): Promise<Payer> => {
      const made = await paidPayer(seen, options);
      await settle(made);
      return made;
    },
    fundedPayer: () => paidPayer({}, { purpose: 'funding' }),
    /** Paid and given up, with the refund that is due. */
    refundedPayer: async (seen?: Partial<SeenCharge>) => {
      const made = await paidPayer(seen);
      await giveUp(made);
      const [refund] = await refunds(made);
      return { payer: made, refund: refund! };
    },
    settle,
    giveUp,
    /** Open ones. */
    refunds,
    /** Another account in accounts.accounts. */
    account: async (given: Partial<NewAccount>): Promise<string> => {
      const account = newAccount({ email: `${randomUUID()}@test.example`, ...given });
      await insertAccount(books.accounts, account);
      return account.id;
    },
    bookCheck,
    checkNumber,
    /** Books a dispute as the gateway tells it: of all that it has, by default. */
    dispute: async (
      { reference }: Payer,
      given: Partial<GatewayDispute> = {},
      drawn?: bigint,
    ): Promise<void> => {
      const open = {
        disputeId: `d-${reference}`,
        state: 'open',
        gatewayStatus: 'pending',
        amount: null,
      } as const;
      await saveDisputes(books.world, reference, [{ ...open, ...given }], drawn ?? (await checkNumber()));
    },
    /** The open dispute is won. */
    release: ({ transactionId }: Payer): Promise<void> =>
      books.world.transaction().execute(async (trx) => {
        const [dispute] = await findOpenDisputes(trx, transactionId);
        await releaseRisk(trx, dispute!);
      }),
    payment: async ({ reference }: Pick<Payer, 'reference'>): Promise<PaymentRow> =>
      (await findPayment(books.world, reference))!,
    status,
    attention,
    balance,
    timeline,
    entries,
    /** What tests of a booking look at. */
    state: async (of: Payer) => {
      const sent = await books.world
        .selectFrom('refunds')
        .selectAll()
        .where('transaction_id', '=', of.transactionId)
        .orderBy('created_at')
        .execute();
      return {
        status: await status(of),
        attention: await attention(of),
        balance: await balance(of),
        timeline: (await timeline(of)).slice(1),
        entries: await entries(of),
        refunds: sent.map((refund) => `${refund.status} ${refund.amount_minor} ${refund.currency}`),
      };
    },
  };
}

async function newPayer(world: WorldDb, options: PayerOptions = {}) {
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
  if (options.isOpen !== false) await saveInstructions(world, reference, page);
  return { transactionId, accountId, reference, input, purpose: options.purpose ?? 'purchase' };
}

async function nextCheckNumber(world: WorldDb): Promise<bigint> {
  const { rows } = await sql<{ next: bigint }>`select nextval('payment_checks') as next`.execute(world);
  return rows[0]!.next;
}

const orderOf = async (world: WorldDb, { transactionId }: Payer) =>
  ((await findPurchase(world, transactionId))?.purchase ?? (await findFunding(world, transactionId)))!;

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
