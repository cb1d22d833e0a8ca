/**
 * Money that a bank takes back: out of what it disputes first, then of what is free, then of what a delivery
 * or a wallet got.
 */
import { clearingAccount, exchangeEntries, type LedgerEntry } from '../../ledger/store/ledger.ts';
import { debitEntries } from '../../ledger/store/owed.ts';
import type { Money } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inPrice, moveMoney, takeFrom } from './account.ts';
import { findPayment, type PaymentRow } from './payments.ts';
import type { DisputeRow } from './tables.ts';

/** An amount of a payment, by where it was before it was taken. */
interface Taken {
  readonly free: bigint;
  readonly used: bigint;
  readonly credited: bigint;
  /** What a dispute has frozen of it in the wallet, in the price's currency. */
  readonly frozen?: bigint;
}

/**
 * Books on the payment's account that money was taken back, and returns the entries for the ledger. What a
 * wallet got is taken from the wallet; what is not there any more is owed. The rest is missing in suspense
 * until a person has settled it. The caller has locked the payment.
 */
export async function takeBack(trx: WorldDb, reference: string, gone: Money): Promise<LedgerEntry[]> {
  const payment = await requirePayment(trx, reference);
  if (gone.currency !== payment.charge_currency) return missingEntries(payment, gone);
  const entries: LedgerEntry[] = [];
  let leftMinor = gone.amountMinor;
  for (const dispute of await findAtRisk(trx, reference)) {
    const riskMinor = riskOf(dispute);
    if (riskMinor > leftMinor) continue;
    leftMinor -= riskMinor;
    entries.push(...(await takeDisputed(trx, payment, dispute)));
  }
  const taken = takeFrom(await requirePayment(trx, reference), leftMinor);
  await moveMoney(trx, reference, { used: -taken.used, credited: -taken.credited, reversed: leftMinor });
  return [...entries, ...(await entriesOf(trx, payment, taken))];
}

/**
 * The bank has what it disputed. Books it on the account, marks the dispute, and returns the entries for the
 * ledger.
 */
export async function takeDisputed(
  trx: WorldDb,
  payment: PaymentRow,
  dispute: DisputeRow,
): Promise<LedgerEntry[]> {
  const { reference, dispute_id, free_minor: free, used_minor: used, credited_minor: credited } = dispute;
  await trx
    .updateTable('disputes')
    .set({ money: 'TAKEN' })
    .where('reference', '=', reference)
    .where('dispute_id', '=', dispute_id)
    .execute();
  await moveMoney(trx, reference, { disputed: -riskOf(dispute), reversed: riskOf(dispute) });
  return entriesOf(trx, payment, { free, used, credited, frozen: dispute.frozen_minor });
}

export const riskOf = ({ free_minor, used_minor, credited_minor }: DisputeRow): bigint =>
  free_minor + used_minor + credited_minor;

async function entriesOf(trx: WorldDb, payment: PaymentRow, taken: Taken): Promise<LedgerEntry[]> {
  const { charge_currency: charge, price_currency: price, account_id: accountId } = payment;
  const missingMinor = taken.free + taken.used;
  // A dispute has taken its part out of `credited_minor` already.
  const beforeMinor =
    taken.frozen === undefined ? payment.credited_minor : payment.credited_minor + taken.credited;
  const worthMinor = inPrice(payment, beforeMinor) - inPrice(payment, beforeMinor - taken.credited);
  const frozen = taken.frozen ?? 0n;
  const debitMinor = worthMinor > frozen ? worthMinor - frozen : 0n;
  return [
    ...missingEntries(payment, { amountMinor: missingMinor, currency: charge }),
    { account: clearingAccount(payment.gateway, charge), currency: charge, amountMinor: taken.credited },
    ...exchangeEntries(
      { amountMinor: frozen + debitMinor, currency: price },
      { amountMinor: taken.credited, currency: charge },
    ),
    { account: `suspense:${price}`, currency: price, amountMinor: -frozen },
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
    .execute();
}

async function requirePayment(trx: WorldDb, reference: string): Promise<PaymentRow> {
  const payment = await findPayment(trx, reference);
  if (!payment) throw new Error(`no payment ${reference}`);
  return payment;
}
