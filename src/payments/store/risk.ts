/**
 * What an open dispute puts at risk: what of its amount is still with us is taken from the payment's account,
 * out of revenue where a delivery earned it, and frozen in the wallet where it was credited. One function for
 * a dispute that is opened, and for one whose amount changes.
 */
import { sql } from 'kysely';
import { larger, smaller } from '../../domain/money.ts';
import { transfer, walletAccount, withoutZeros, type LedgerEntry } from '../../ledger/store/ledger.ts';
import { creditEntries, lockWallet } from '../../ledger/store/owed.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { moveMoney, partInPrice, takeFrom } from './account.ts';
import type { PaymentRow } from './payments.ts';
import type { DisputeRow } from './tables.ts';

export const riskOf = ({
  free_minor,
  used_minor,
  credited_minor,
}: Pick<DisputeRow, 'free_minor' | 'used_minor' | 'credited_minor'>): bigint =>
  free_minor + used_minor + credited_minor;

export const updateDispute = (
  trx: WorldDb,
  { reference, dispute_id }: Pick<DisputeRow, 'reference' | 'dispute_id'>,
) => trx.updateTable('disputes').where('reference', '=', reference).where('dispute_id', '=', dispute_id);

/**
 * Puts `wantedMinor` of a payment at risk for this dispute, or all that is left of it. Replaces what was at
 * risk before. Returns the amount that is free again. The caller has locked the payment and just read it.
 */
export async function putAtRisk(
  trx: WorldDb,
  payment: PaymentRow,
  dispute: DisputeRow,
  wantedMinor: bigint,
): Promise<{ readonly freedMinor: bigint }> {
  const { reference, transaction_id: transactionId } = dispute;
  // As if it had nothing at risk.
  const whole: PaymentRow = {
    ...payment,
    free_minor: payment.free_minor + dispute.free_minor,
    used_minor: payment.used_minor + dispute.used_minor,
    credited_minor: payment.credited_minor + dispute.credited_minor,
  };
  const { free, used, credited } = takeFrom(whole, wantedMinor);
  const revenueMinor = await earnedPart(trx, whole, used, dispute.revenue_minor);
  await updateDispute(trx, dispute)
    .set({ free_minor: free, used_minor: used, credited_minor: credited, revenue_minor: revenueMinor })
    .execute();
  await moveMoney(trx, reference, {
    used: dispute.used_minor - used,
    credited: dispute.credited_minor - credited,
    disputed: free + used + credited - riskOf(dispute),
  });
  // The wallet comes last (lock-order.ts).
  const worthMinor = partInPrice(payment, whole.credited_minor, credited);
  const frozenMinor = await frozenFor(trx, payment, dispute.frozen_minor, worthMinor);
  if (frozenMinor !== dispute.frozen_minor)
    await updateDispute(trx, dispute).set({ frozen_minor: frozenMinor }).execute();
  const back = { revenue: dispute.revenue_minor - revenueMinor, wallet: dispute.frozen_minor - frozenMinor };
  if (back.revenue !== 0n || back.wallet !== 0n)
    await transfer(trx, {
      operationKey: await nextKey(trx, dispute),
      kind: 'disputed',
      transactionId,
      entries: await entriesBack(trx, payment, back),
    });
  return { freedMinor: larger(dispute.free_minor - free, 0n) };
}

async function frozenFor(
  trx: WorldDb,
  { account_id }: PaymentRow,
  beforeMinor: bigint,
  worthMinor: bigint,
): Promise<bigint> {
  if (worthMinor <= beforeMinor) return worthMinor;
  const { balance_minor: balanceMinor } = await lockWallet(trx, account_id);
  return beforeMinor + smaller(balanceMinor, worthMinor - beforeMinor);
}

/** Entries of what is no longer at risk; below zero: of what is put at risk. May lock the wallet. */
export async function entriesBack(
  trx: WorldDb,
  { price_currency: currency, account_id: accountId }: PaymentRow,
  back: { readonly revenue: bigint; readonly wallet: bigint },
): Promise<LedgerEntry[]> {
  const toWallet =
    back.wallet > 0n
      ? await creditEntries(trx, accountId, { amountMinor: back.wallet, currency })
      : [{ account: walletAccount(accountId), currency, amountMinor: back.wallet }];
  return withoutZeros([
    { account: `revenue:${currency}`, currency, amountMinor: back.revenue },
    ...toWallet,
    { account: `suspense:${currency}`, currency, amountMinor: -back.revenue - back.wallet },
  ]);
}

/** The payment is locked, so that no other booking gets the same. */
async function nextKey(trx: WorldDb, { reference, dispute_id, transaction_id }: DisputeRow): Promise<string> {
  const key = `${reference}:disputed:${dispute_id}`;
  const { rows } = await sql<{ made: number }>`
    select count(*)::int4 as made from ledger_transactions
     where transaction_id = ${transaction_id}
       and (operation_key = ${key} or starts_with(operation_key, ${`${key}:`}))`.execute(trx);
  const made = rows[0]?.made ?? 0;
  return made === 0 ? key : `${key}:${made + 1}`;
}

/**
 * What a part of what a delivery used has earned, in the price's currency. The last part is all that is left.
 * `riskMinor`: what it has earned beside that, and a dispute has at risk.
 */
export async function earnedPart(
  trx: WorldDb,
  payment: PaymentRow,
  partMinor: bigint,
  riskMinor = 0n,
): Promise<bigint> {
  if (partMinor === 0n) return 0n;
  const earnedMinor =
    (await findEarnedMinor(trx, payment.transaction_id, payment.price_currency)) + riskMinor;
  if (partMinor === payment.used_minor) return earnedMinor;
  return smaller(partInPrice(payment, payment.used_minor, partMinor), earnedMinor);
}

/** What a delivery has earned and still does, without what a bank disputes or has taken back. */
export async function findEarnedMinor(db: WorldDb, transactionId: string, currency: string): Promise<bigint> {
  const { rows } = await sql<{ earned: bigint }>`
    select coalesce(sum(e.amount_minor), 0)::int8 as earned
      from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
     where t.transaction_id = ${transactionId} and e.ledger_account_id = ${`revenue:${currency}`}`.execute(
    db,
  );
  return larger(rows[0]?.earned ?? 0n, 0n);
}
