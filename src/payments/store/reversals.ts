/**
 * Money that a bank takes back: out of what it disputes first, then of what is free, then of what a delivery
 * or a wallet got.
 */
import { clearingAccount, exchangeEntries, type LedgerEntry } from '../../ledger/store/ledger.ts';
import { debitEntries } from '../../ledger/store/owed.ts';
import { larger, type Money } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { moveMoney, partInPrice, takeFrom } from './account.ts';
import { findPayment, type PaymentRow } from './payments.ts';
import { putAtRisk, riskOf, updateDispute } from './risk.ts';
import type { DisputeRow } from './tables.ts';

/** An amount of a payment, by where it was before it was taken. */
interface Taken {
  readonly free: bigint;
  readonly used: bigint;
  readonly credited: bigint;
  /** What disputes have frozen of it in the wallet, in the price's currency. */
  readonly frozen: bigint;
}

/**
 * Books on the payment's account that money was taken back, and returns the entries for the ledger. What a
 * wallet got is taken from the wallet; what is not there any more is owed. The rest is missing in suspense
 * until a person has settled it. The caller has locked the payment.
 */
export async function takeBack(trx: WorldDb, reference: string, gone: Money): Promise<LedgerEntry[]> {
  const before = await requirePayment(trx, reference);
  if (gone.currency !== before.charge_currency) return missingEntries(before, gone);
  let leftMinor = gone.amountMinor;
  const disputes: DisputeRow[] = [];
  const tooLarge: DisputeRow[] = [];
  for (const dispute of await findAtRisk(trx, reference)) {
    if (riskOf(dispute) > leftMinor) {
      tooLarge.push(dispute);
      continue;
    }
    leftMinor -= riskOf(dispute);
    disputes.push(dispute);
    await markTaken(trx, dispute);
  }
  const payment = await withoutRisk(trx, reference, tooLarge, leftMinor);
  const rest = takeFrom(payment, leftMinor);
  await moveMoney(trx, reference, { used: -rest.used, credited: -rest.credited, reversed: leftMinor });
  return entriesOf(trx, payment, disputes, rest);
}

/**
 * Reduces what these disputes have at risk until the payment has `wantedMinor` beside them: what is gone is
 * not at risk any more. Returns the payment as it is then.
 */
async function withoutRisk(
  trx: WorldDb,
  reference: string,
  disputes: readonly DisputeRow[],
  wantedMinor: bigint,
): Promise<PaymentRow> {
  let payment = await requirePayment(trx, reference);
  for (const dispute of disputes) {
    const lackingMinor = wantedMinor - riskOf(payment);
    if (lackingMinor <= 0n) break;
    const leftMinor = riskOf(dispute) - lackingMinor;
    await putAtRisk(trx, payment, dispute, larger(leftMinor, 0n));
    payment = await requirePayment(trx, reference);
  }
  return payment;
}

/** The bank has the disputed money. Books it on the payment and the dispute; returns the ledger entries. */
export async function takeDisputed(
  trx: WorldDb,
  payment: PaymentRow,
  dispute: DisputeRow,
): Promise<LedgerEntry[]> {
  await markTaken(trx, dispute);
  return entriesOf(trx, payment, [dispute], { free: 0n, used: 0n, credited: 0n });
}

async function markTaken(trx: WorldDb, dispute: DisputeRow): Promise<void> {
  await updateDispute(trx, dispute).set({ money: 'TAKEN' }).execute();
  await moveMoney(trx, dispute.reference, { disputed: -riskOf(dispute), reversed: riskOf(dispute) });
}

/** One debit of the wallet for all of it: each would see the same balance. */
async function entriesOf(
  trx: WorldDb,
  payment: PaymentRow,
  disputes: readonly DisputeRow[],
  rest: Omit<Taken, 'frozen'>,
): Promise<LedgerEntry[]> {
  const { charge_currency: charge, price_currency: price, account_id: accountId } = payment;
  const disputed = disputes.reduce((sum, dispute) => sum + dispute.credited_minor, 0n);
  const taken = disputes.reduce<Taken>(
    (sum, dispute) => ({
      free: sum.free + dispute.free_minor,
      used: sum.used + dispute.used_minor,
      credited: sum.credited + dispute.credited_minor,
      frozen: sum.frozen + dispute.frozen_minor,
    }),
    { ...rest, frozen: 0n },
  );
  // Disputes have taken their part out of `credited_minor` already.
  const worthMinor = partInPrice(payment, payment.credited_minor + disputed, taken.credited);
  const debitMinor = worthMinor > taken.frozen ? worthMinor - taken.frozen : 0n;
  return [
    ...missingEntries(payment, { amountMinor: taken.free + taken.used, currency: charge }),
    { account: clearingAccount(payment.gateway, charge), currency: charge, amountMinor: taken.credited },
    ...exchangeEntries(
      { amountMinor: taken.frozen + debitMinor, currency: price },
      { amountMinor: taken.credited, currency: charge },
    ),
    { account: `suspense:${price}`, currency: price, amountMinor: -taken.frozen },
    ...(await debitEntries(trx, accountId, { amountMinor: debitMinor, currency: price })),
  ];
}

/** What a bank has of money that no wallet got: missing in suspense. */
export const missingEntries = (
  { gateway }: Pick<PaymentRow, 'gateway'>,
  { amountMinor, currency }: Money,
): LedgerEntry[] => [
  { account: clearingAccount(gateway, currency), currency, amountMinor },
  { account: `suspense:${currency}`, currency, amountMinor: -amountMinor },
];

/** Disputes whose money is at risk, oldest first. */
export function findAtRisk(trx: WorldDb, reference: string): Promise<DisputeRow[]> {
  return trx
    .selectFrom('disputes')
    .selectAll()
    .where('reference', '=', reference)
    .where('money', '=', 'AT_RISK')
    .orderBy('opened_at')
    .forNoKeyUpdate()
    .execute();
}

async function requirePayment(trx: WorldDb, reference: string): Promise<PaymentRow> {
  const payment = await findPayment(trx, reference);
  if (!payment) throw new Error(`no payment ${reference}`);
  return payment;
}
