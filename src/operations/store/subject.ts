/** The rows of a purchase or a funding, and the facts that decide which actions are available. Locks in the order of lock-order.ts. */
import { sql, type Selectable } from 'kysely';
import type { AccountCurrency, Money } from '../../domain/money.ts';
import type { ActionFacts, ActionRefusal, OpenRefund, ActionMoney } from '../rules.ts';
import { atLockedRate } from '../../payments/rules.ts';
import { CLAIMS, type PaymentRow, type FundingRow } from '../../payments/store/payments.ts';
import type { PurchaseRow } from '../../purchases/store/reads.ts';
import type { RefundRow } from '../../payments/store/refunds.ts';
import type { ActionRow } from './tables.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { HoldsTable } from '../../ledger/store/tables.ts';

export interface ActionSubject {
  readonly transactionId: string;
  readonly accountId: string;
  readonly attentionReason: string | null;
  /** What it costs, or what the wallet is to get. */
  readonly price: Money & { readonly currency: AccountCurrency };
  readonly facts: ActionFacts;
  readonly purchase: PurchaseRow | undefined;
  readonly funding: FundingRow | undefined;
  readonly payments: readonly PaymentRow[];
  readonly refunds: readonly RefundRow[];
  readonly hold: Selectable<HoldsTable> | undefined;
  /** The payment whose money lies in the wallet (`facts.inWallet`). */
  readonly walletPayment: PaymentRow | undefined;
}

/** What was done, in a sentence, or why not; then nothing was written. */
export type Ended = { readonly did: string } | { readonly refusal: ActionRefusal; readonly detail?: string };

/** Checks before it writes: a refused effect has written nothing. */
export type ActionEffect = (
  trx: WorldDb,
  action: ActionRow,
  subject: ActionSubject,
  now: Date,
) => Promise<Ended>;

/** As it stands, or undefined where there is no such purchase or funding. */
export function findActionSubject(db: WorldDb, transactionId: string): Promise<ActionSubject | undefined> {
  return readSubject(db, transactionId, false);
}

/** The same, locked until the transaction ends. */
export function lockActionSubject(trx: WorldDb, transactionId: string): Promise<ActionSubject | undefined> {
  return readSubject(trx, transactionId, true);
}

async function readSubject(
  db: WorldDb,
  transactionId: string,
  isLocked: boolean,
): Promise<ActionSubject | undefined> {
  const { payments, purchase, funding, refunds, hold } = await readRows(db, transactionId, isLocked);
  const row = purchase ?? funding;
  if (!row) return undefined;
  const walletPayment = payments.find((payment) => inWalletMinor(payment, refunds, hold?.status) > 0n);
  const inWallet = walletPayment && {
    amountMinor: inWalletMinor(walletPayment, refunds, hold?.status),
    currency: walletPayment.charge_currency,
  };
  const amountMinor = purchase ? purchase.price_minor : (funding?.amount_minor ?? 0n);
  return {
    transactionId,
    accountId: row.account_id,
    attentionReason: row.attention_reason,
    price: { amountMinor, currency: row.currency },
    purchase,
    funding,
    payments,
    refunds,
    hold,
    walletPayment,
    facts: {
      purpose: purchase ? 'purchase' : 'funding',
      status: row.status,
      isFromOutside: row.payment_method !== 'WALLET',
      hasGoods: purchase ? await hasGoods(db, purchase) : false,
      holdsMoney: hold?.status === 'HELD',
      openRefund: openRefundOf(refunds),
      inWallet: inWallet ?? null,
      earned: await findEarned(db, transactionId, payments, row.currency),
      isUnpaid: payments.length > 0 && payments.every((payment) => payment.booked_minor === 0n),
      hasClaim: CLAIMS.some((claim) => claim === row.attention_reason),
      isLeftOpen: row.attention_reason === 'PAYMENT_STILL_OPEN',
    },
  };
}

type Rows = Pick<ActionSubject, 'payments' | 'purchase' | 'funding' | 'refunds' | 'hold'>;

async function readRows(db: WorldDb, transactionId: string, isLocked: boolean): Promise<Rows> {
  const payments = await db
    .selectFrom('payments')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .orderBy('attempt')
    .$if(isLocked, (query) => query.forNoKeyUpdate())
    .execute();
  const purchase = await db
    .selectFrom('purchases')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .$if(isLocked, (query) => query.forNoKeyUpdate())
    .executeTakeFirst();
  const funding = await db
    .selectFrom('fundings')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .$if(isLocked, (query) => query.forNoKeyUpdate())
    .executeTakeFirst();
  const refunds = await db
    .selectFrom('refunds')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .orderBy('created_at')
    .$if(isLocked, (query) => query.forNoKeyUpdate())
    .execute();
  const hold = await db.selectFrom('holds').selectAll().where('id', '=', transactionId).executeTakeFirst();
  return { payments, purchase, funding, refunds, hold };
}

async function hasGoods(db: WorldDb, purchase: PurchaseRow): Promise<boolean> {
  if (purchase.package_type === 'TOPUP') return purchase.top_up_total_volume_bytes !== null;
  const esim = await db
    .selectFrom('esims')
    .select('iccid')
    .where('id', '=', purchase.esim_id)
    .executeTakeFirst();
  return esim !== undefined && esim.iccid !== '';
}

/** The one that needs a person most. */
const OPEN_REFUNDS: readonly [OpenRefund, (refund: RefundRow) => boolean][] = [
  ['stuck', ({ status }) => status === 'STUCK'],
  ['waits', ({ status }) => status === 'NEEDS_ATTENTION'],
  // An earlier attempt was asked for at the gateway: what became of that decides, not who comes first.
  ['due', ({ status, asked_at, attempt }) => status === 'DUE' && asked_at === null && attempt === 1],
  ['on-its-way', () => true],
];

function openRefundOf(refunds: readonly RefundRow[]): OpenRefund | null {
  const open = refunds.filter((refund) => refund.closed_at === null);
  return OPEN_REFUNDS.find(([, is]) => open.some(is))?.[0] ?? null;
}

/** The open refunds of one kind. */
export function refundsThatAre(kind: OpenRefund, refunds: readonly RefundRow[]): RefundRow[] {
  return refunds.filter((refund) => refund.closed_at === null && openRefundOf([refund]) === kind);
}

/** The reason of refunds that give back what was earned. */
export const GOODWILL = 'goodwill';

/** What of a payment lies in the wallet and is still the gateway's to send back: all that the gateway proved, without what went another way. */
function inWalletMinor(
  payment: PaymentRow,
  refunds: readonly RefundRow[],
  hold: 'HELD' | 'POSTED' | 'VOIDED' | undefined,
): bigint {
  if (payment.booked_currency !== payment.charge_currency) return 0n;
  const heldMinor =
    payment.paid_hold && hold !== undefined && hold !== 'VOIDED'
      ? payment.charge_minor - sumOf(refundsFor(payment, refunds, needsGoodwill))
      : 0n;
  const leftMinor = sendableMinor(payment, refunds) - heldMinor;
  return leftMinor > 0n ? leftMinor : 0n;
}

/** What the gateway still holds of a payment, as far as it has said, and has not been asked to send back. */
export function sendableMinor(payment: PaymentRow, refunds: readonly RefundRow[]): bigint {
  const sent = refundsFor(payment, refunds, ({ status }) => !['CREDITED', 'TAKEN_BACK'].includes(status));
  return payment.booked_minor - payment.evidence_minor - payment.reversed_minor - sumOf(sent);
}

export function needsGoodwill({ reason }: Pick<RefundRow, 'reason'>): boolean {
  return reason.startsWith(GOODWILL);
}

function refundsFor(
  payment: PaymentRow,
  refunds: readonly RefundRow[],
  which: (refund: RefundRow) => boolean,
): RefundRow[] {
  return refunds.filter((refund) => refund.reference === payment.reference && which(refund));
}

function sumOf(refunds: readonly RefundRow[]): bigint {
  return refunds.reduce((sum, refund) => sum + refund.amount_minor, 0n);
}

/** What its delivery earned and still does. Nothing of what the bank has taken back. */
async function findEarned(
  db: WorldDb,
  transactionId: string,
  payments: readonly PaymentRow[],
  currency: AccountCurrency,
): Promise<Money | null> {
  if (payments.some((payment) => payment.paid_hold && payment.reversed_minor > 0n)) return null;
  const { earned } = await db
    .selectFrom('ledger_transactions as t')
    .innerJoin('ledger_entries as e', 'e.ledger_transaction_id', 't.id')
    .select(sql<bigint>`coalesce(sum(e.amount_minor), 0)::int8`.as('earned'))
    .where('t.transaction_id', '=', transactionId)
    .where('e.ledger_account_id', '=', `revenue:${currency}`)
    .executeTakeFirstOrThrow();
  return earned > 0n ? { amountMinor: earned, currency } : null;
}

/** Its money, by where it is. */
export function moneyOf(subject: ActionSubject): ActionMoney {
  const { price, facts, refunds } = subject;
  const payment = payingPayment(subject);
  const [refund] = facts.openRefund === null ? [] : refundsThatAre(facts.openRefund, refunds);
  return {
    price,
    charge: payment ? { amountMinor: payment.charge_minor, currency: payment.charge_currency } : null,
    openRefund: refund ? { amount: amountIn(refund), credit: creditFor(refund, subject) } : null,
    inWallet: facts.inWallet,
    earned: facts.earned,
    earnedAtSource: payment && facts.earned !== null ? earnedAtSource(payment, refunds) : null,
  };
}

/** The payment that paid the hold; before that, the newest try. */
export function payingPayment({ payments }: Pick<ActionSubject, 'payments'>): PaymentRow | undefined {
  return payments.find((payment) => payment.paid_hold) ?? payments.at(-1);
}

const amountIn = ({ amount_minor, currency }: RefundRow): Money => ({ amountMinor: amount_minor, currency });

/** A refund as money of the wallet; null where no rate was locked for its currency. */
function creditFor(refund: RefundRow, { payments }: ActionSubject): Money | null {
  const payment = payments.find(({ reference }) => reference === refund.reference);
  if (payment?.charge_currency !== refund.currency) return null;
  return { amountMinor: inPrice(payment, refund.amount_minor), currency: payment.price_currency };
}

/** An amount of the charge in the price's currency, at the locked rate. */
export function inPrice(payment: PaymentRow, amountMinor: bigint): bigint {
  return atLockedRate(amountMinor, {
    chargeMinor: payment.charge_minor,
    chargeCurrency: payment.charge_currency,
    priceMinor: payment.price_minor,
    priceCurrency: payment.price_currency,
  });
}

/** What paid for what was delivered, as far as the gateway has it and it was not given back before. */
function earnedAtSource(payment: PaymentRow, refunds: readonly RefundRow[]): Money | null {
  const keptMinor = payment.charge_minor - sumOf(refundsFor(payment, refunds, needsGoodwill));
  const sendable = sendableMinor(payment, refunds);
  const amountMinor = sendable < keptMinor ? sendable : keptMinor;
  return payment.paid_hold && amountMinor > 0n ? { amountMinor, currency: payment.charge_currency } : null;
}

export async function findEmail(trx: WorldDb, accountId: string): Promise<string | null> {
  const { rows } = await sql<{ email: string }>`
    select email from accounts.accounts where id = ${accountId}`.execute(trx);
  return rows[0]?.email ?? null;
}
