/**
 * What goes back for a returned eSIM: out of what its delivery has earned, to where it was paid from, or to
 * the wallet where the gateway cannot send it. The supplier's cost goes back to our balance there.
 */
import { sql, type Selectable } from 'kysely';
import { larger, smaller, type Money } from '../../domain/money.ts';
import type { RefundTarget } from '../../domain/states.ts';
import { exchangeEntries, transfer, withoutZeros, type LedgerEntry } from '../../ledger/store/ledger.ts';
import { creditEntries } from '../../ledger/store/owed.ts';
import { WITHOUT_FRACTION } from '../../payments/rules.ts';
import { inPrice, moveMoney, sendableMinor } from '../../payments/store/account.ts';
import type { PaymentRow } from '../../payments/store/payments.ts';
import { createRefund } from '../../payments/store/refunds.ts';
import { earnedPart, findEarnedMinor } from '../../payments/store/risk.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { ReturnsTable } from './tables.ts';

interface GivenBack {
  /** In the price's currency: less than agreed where a bank has some of it, or some was given back before. */
  readonly amountMinor: bigint;
  readonly to: RefundTarget;
  /** Of a refund that the gateway is to send. */
  readonly refundKey: string | null;
}

/** The caller has locked the payments and the purchase, and calls it once for a return. */
export async function giveBack(
  trx: WorldDb,
  row: Selectable<ReturnsTable>,
  payments: readonly PaymentRow[],
): Promise<GivenBack> {
  const { transaction_id: transactionId, currency, account_id: accountId } = row;
  const payment = payments.find(({ paid_hold }) => paid_hold);
  const earnedMinor = await findLeftMinor(trx, row, payment);
  const afterFeeMinor = larger(earnedMinor - row.fee_minor, 0n);
  const wanted: Money = { amountMinor: smaller(row.amount_minor, afterFeeMinor), currency };
  const costs = await costBack(trx, transactionId);
  const sent = payment && (await sendBack(trx, payment, wanted, earnedMinor));
  const back = sent?.back ?? wanted;
  const entries = withoutZeros([
    { account: `revenue:${currency}`, currency, amountMinor: -back.amountMinor },
    ...(sent?.entries ?? (await creditEntries(trx, accountId, back))),
    ...costs,
  ]);
  if (entries.length > 0)
    await transfer(trx, { operationKey: `${row.id}:returned`, kind: 'return', transactionId, entries });
  const { amountMinor } = back;
  return { amountMinor, to: sent ? 'SOURCE' : 'WALLET', refundKey: sent?.refundKey ?? null };
}

/**
 * What the delivery has earned, and is still paid for: what a bank or the gateway has taken back stays
 * revenue until a person settles it, and afterwards where the price is in another currency.
 */
async function findLeftMinor(
  trx: WorldDb,
  { transaction_id, currency }: Selectable<ReturnsTable>,
  payment: PaymentRow | undefined,
): Promise<bigint> {
  const earnedMinor = await findEarnedMinor(trx, transaction_id, currency);
  return payment ? smaller(earnedMinor, inPrice(payment, payment.used_minor)) : earnedMinor;
}

/** By a refund of its payment; undefined where the gateway cannot send it: it is credited to the wallet. */
async function sendBack(trx: WorldDb, payment: PaymentRow, wanted: Money, earnedMinor: bigint) {
  const part = partOf(payment, wanted.amountMinor, earnedMinor);
  const isSendable = part.amountMinor > 0n && part.amountMinor <= sendableMinor(payment);
  const amountMinor = isSendable
    ? smaller(await earnedPart(trx, payment, part.amountMinor), earnedMinor)
    : 0n;
  const credited = isSendable ? {} : { credited: part.amountMinor };
  await moveMoney(trx, payment.reference, { used: -part.amountMinor, ...credited });
  if (!isSendable) return undefined;
  const { refund_key: refundKey } = await createRefund(trx, payment, part, 'return');
  const back = { amountMinor, currency: wanted.currency };
  return {
    ...{ back, refundKey },
    entries: [...exchangeEntries(back, part), { account: `suspense:${part.currency}`, ...part }],
  };
}

/** What of a payment stands for a part of what it earned, as the gateway can send it. */
function partOf(payment: PaymentRow, wantedMinor: bigint, earnedMinor: bigint): Money {
  const { used_minor: usedMinor, charge_currency: currency } = payment;
  if (wantedMinor === 0n) return { amountMinor: 0n, currency };
  const exactMinor = wantedMinor >= earnedMinor ? usedMinor : (usedMinor * wantedMinor) / earnedMinor;
  const amountMinor = WITHOUT_FRACTION.has(currency) ? exactMinor - (exactMinor % 100n) : exactMinor;
  return { amountMinor, currency };
}

/** What was booked for the supplier's order of this purchase, the other way round. */
async function costBack(trx: WorldDb, transactionId: string): Promise<LedgerEntry[]> {
  const { rows } = await sql<LedgerEntry>`
    select e.ledger_account_id as account, e.currency, (-sum(e.amount_minor))::int8 as "amountMinor"
      from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
     where t.transaction_id = ${transactionId}
       and (e.ledger_account_id = 'supplier-cost:USD4' or starts_with(e.ledger_account_id, 'supplier-prepaid:'))
     group by e.ledger_account_id, e.currency`.execute(trx);
  return rows;
}
