/** Receipts of purchases and fundings. Guarantee: the total is what the ledger has booked for it. */
import { DomainError } from '../domain/errors.ts';
import { taxIncluded } from '../domain/money.ts';
import type { PaymentMethod, PurchaseStatus } from '../domain/states.ts';
import { explainEntry } from '../ledger/wallet-entry-rules.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { Buyer, Seller, Tax } from './invoice-rules.ts';
import { describeLine, linesOf } from './invoice-rules.ts';
import { findBuyer, findParties } from './store/details.ts';
import { findReceiptSubject, readReceiptBookings, type Booking, type Subject } from './store/receipts.ts';

export interface ReceiptLine {
  readonly at: Date;
  readonly description: string;
  readonly amountMinor: bigint;
}

export interface Receipt {
  readonly transactionId: string;
  readonly purpose: 'PURCHASE' | 'FUNDING';
  readonly status: PurchaseStatus;
  readonly paymentMethod: PaymentMethod;
  readonly packageName: string | null;
  readonly iccid: string | null;
  readonly currency: string;
  readonly createdAt: Date;
  readonly closedAt: Date | null;
  /** What was charged, and what was given back later, oldest first. None: nothing was charged. */
  readonly lines: readonly ReceiptLine[];
  readonly totalMinor: bigint;
  /** null: the operator has not said yet; of a funding, which is no sale. */
  readonly tax: Tax | null;
  /** Of the total. */
  readonly taxMinor: bigint;
  readonly seller: Seller | null;
  readonly buyer: Buyer;
}

/** As things now stand. TRANSACTION_NOT_FOUND, also for another account's. */
export async function getReceipt(
  { db }: { readonly db: WorldDb },
  { account }: { readonly account: { readonly id: string } },
  transactionId: string,
): Promise<Receipt> {
  const subject = await findReceiptSubject(db, transactionId);
  if (subject?.accountId !== account.id)
    throw new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found', {
      details: 'your account has no purchase or funding with this id',
    });
  const { accountId } = subject;
  const bookings = await readReceiptBookings(db, subject);
  const totalMinor = bookings.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const parties = await findParties(db, accountId);
  const tax =
    parties && subject.purpose === 'PURCHASE'
      ? { taxName: parties.taxName, taxRateBps: parties.taxRateBps }
      : null;
  return {
    ...subject,
    lines: bookings.map((booking) => ({
      at: booking.at,
      description: describeBooking(subject, booking),
      amountMinor: booking.amountMinor,
    })),
    totalMinor,
    tax,
    taxMinor: tax ? taxIncluded(totalMinor, tax.taxRateBps) : 0n,
    seller: parties?.seller ?? null,
    buyer: parties?.buyer ?? (await findBuyer(db, accountId)),
  };
}

function describeBooking(
  { purpose, packageName, packageType }: Subject,
  { kind, ledgerKind, amountMinor }: Booking,
): string {
  if (purpose === 'PURCHASE') {
    const movement = { ledgerKind, packageType, packageName, quantity: 1, grossMinor: amountMinor };
    const [line] = linesOf([movement]);
    return line ? describeLine(line) : '';
  }
  const isGain = amountMinor > 0n;
  const words = { kind, ledgerKind, isGain, holdStatus: null, packageName: null };
  return explainEntry({ ...words, isTopUp: false, isFunding: true });
}
