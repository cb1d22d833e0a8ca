/** The rows of a purchase or a funding, and the facts that decide which actions are available. Locks in the order of lock-order.ts. */
import { sql, type Selectable, type SelectQueryBuilder } from 'kysely';
import type { AccountCurrency, Money } from '../../domain/money.ts';
import { atLockedRate } from '../../payments/booking-rules.ts';
import { CLAIMS } from '../../payments/rules.ts';
import { type PaymentRow } from '../../payments/store/payments.ts';
import type { RefundRow } from '../../payments/store/refunds.ts';
import type { WorldDatabase, WorldDb } from '../../platform/database/tables.ts';
import type { PurchaseRow } from '../../purchases/store/reads.ts';
import type { ActionFacts, Ended, OpenRefund, ActionMoney } from '../rules.ts';
import type { ActionRow } from './tables.ts';

export interface ActionSubject extends Awaited<ReturnType<typeof readRows>> {
  readonly transactionId: string;
  readonly accountId: string;
  readonly attentionReason: string | null;
  /** What it costs, or what the wallet is to get. */
  readonly price: Money & { readonly currency: AccountCurrency };
  readonly facts: ActionFacts;
  /** The refunds that `facts.openRefund` stands for. */
  readonly openRefunds: readonly RefundRow[];
  /** The payment whose money lies in the wallet (`facts.inWallet`). */
  readonly walletPayment: PaymentRow | undefined;
}

/** Checks before it writes: a refused effect has written nothing. */
export type ActionEffect = (
  trx: WorldDb,
  action: ActionRow,
  subject: ActionSubject,
  now: Date,
) => Promise<Ended>;

/** `isLocked`: until the transaction ends. undefined: there is no such purchase or funding. */
export async function findActionSubject(
  db: WorldDb,
  transactionId: string,
  isLocked = false,
): Promise<ActionSubject | undefined> {
  const { payments, purchase, funding, refunds, hold } = await readRows(db, transactionId, isLocked);
  const row = purchase ?? funding;
  if (!row) return undefined;
  const open = Map.groupBy(
    refunds.filter((refund) => refund.closed_at === null),
    kindOf,
  );
  const openRefund = OPEN_REFUNDS.find((kind) => open.has(kind)) ?? null;
  const inWallet = payments
    .map((payment) => ({ payment, amountMinor: inWalletMinor(payment, refunds, hold?.status) }))
    .find(({ amountMinor }) => amountMinor > 0n);
  const amountMinor = purchase?.price_minor ?? funding?.amount_minor ?? 0n;
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
    walletPayment: inWallet?.payment,
    openRefunds: open.get(openRefund ?? 'due') ?? [],
    facts: {
      purpose: purchase ? 'purchase' : 'funding',
      status: row.status,
      isFromOutside: row.payment_method !== 'WALLET',
      isDelivered: purchase ? await isDelivered(db, purchase) : false,
      holdsMoney: hold?.status === 'HELD',
      openRefund,
      inWallet: inWallet
        ? { amountMinor: inWallet.amountMinor, currency: inWallet.payment.charge_currency }
        : null,
      earned: await findEarned(db, transactionId, payments, row.currency),
      isUnpaid: payments.length > 0 && payments.every((payment) => payment.booked_minor === 0n),
      hasClaim: CLAIMS.some((claim) => claim === row.attention_reason),
      isLeftOpen: row.attention_reason === 'PAYMENT_STILL_OPEN',
    },
  };
}

type Table = 'payments' | 'purchases' | 'fundings' | 'refunds';

/** Its rows in one table. */
export function rowsOf<T extends Table>(db: WorldDb, table: T, transactionId: string, isLocked = false) {
  const anyTable: Table = table;
  const rows = db.selectFrom(anyTable).selectAll().where('transaction_id', '=', transactionId);
  const query = isLocked ? rows.forNoKeyUpdate() : rows;
  return query as unknown as SelectQueryBuilder<WorldDatabase, T, Selectable<WorldDatabase[T]>>;
}

async function readRows(db: WorldDb, transactionId: string, isLocked: boolean) {
  const rows = <T extends Table>(table: T) => rowsOf(db, table, transactionId, isLocked);
  return {
    payments: await rows('payments').orderBy('attempt').execute(),
    purchase: await rows('purchases').executeTakeFirst(),
    funding: await rows('fundings').executeTakeFirst(),
    refunds: await rows('refunds').orderBy('created_at').execute(),
    hold: await db.selectFrom('holds').selectAll().where('id', '=', transactionId).executeTakeFirst(),
  };
}

async function isDelivered(db: WorldDb, purchase: PurchaseRow): Promise<boolean> {
  if (purchase.package_type === 'TOPUP') return purchase.top_up_total_volume_bytes !== null;
  const esim = await db
    .selectFrom('esims')
    .select('iccid')
    .where('id', '=', purchase.esim_id)
    .executeTakeFirst();
  return esim !== undefined && esim.iccid !== '';
}

/** The kind that needs a person most comes first. */
const OPEN_REFUNDS: readonly OpenRefund[] = ['stuck', 'waits', 'due', 'on-its-way'];

function kindOf({ status, asked_at, attempt }: RefundRow): OpenRefund {
  if (status === 'STUCK') return 'stuck';
  if (status === 'NEEDS_ATTENTION') return 'waits';
  // An earlier attempt was sent to the gateway and may have gone through.
  return status === 'DUE' && asked_at === null && attempt === 1 ? 'due' : 'on-its-way';
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
      ? payment.charge_minor - refundedMinor(payment, refunds, isGoodwill)
      : 0n;
  const leftMinor = sendableMinor(payment, refunds) - heldMinor;
  return leftMinor > 0n ? leftMinor : 0n;
}

/** What the gateway still holds of a payment, as far as it has said, and has not been asked to send back. */
function sendableMinor(payment: PaymentRow, refunds: readonly RefundRow[]): bigint {
  const isSent = ({ status }: RefundRow) => !['CREDITED', 'TAKEN_BACK'].includes(status);
  const { booked_minor, evidence_minor, reversed_minor } = payment;
  return booked_minor - evidence_minor - reversed_minor - refundedMinor(payment, refunds, isSent);
}

const isGoodwill = ({ reason }: RefundRow): boolean => reason.startsWith(GOODWILL);

/** The refunds of a payment, together. */
function refundedMinor(
  { reference }: PaymentRow,
  refunds: readonly RefundRow[],
  which: (refund: RefundRow) => boolean,
): bigint {
  return refunds
    .filter((refund) => refund.reference === reference && which(refund))
    .reduce((sum, refund) => sum + refund.amount_minor, 0n);
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
  const {
    price,
    facts,
    refunds,
    openRefunds: [refund],
  } = subject;
  const payment = payingPayment(subject);
  return {
    price,
    charge: payment ? { amountMinor: payment.charge_minor, currency: payment.charge_currency } : null,
    openRefund: refund
      ? {
          amount: { amountMinor: refund.amount_minor, currency: refund.currency },
          credit: creditFor(refund, subject),
        }
      : null,
    inWallet: facts.inWallet,
    earned: facts.earned,
    earnedAtSource: payment && facts.earned !== null ? earnedAtSource(payment, refunds) : null,
  };
}

/** The payment that paid the hold; before that, the newest try. */
export function payingPayment({ payments }: Pick<ActionSubject, 'payments'>): PaymentRow | undefined {
  return payments.find((payment) => payment.paid_hold) ?? payments.at(-1);
}

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
  const keptMinor = payment.charge_minor - refundedMinor(payment, refunds, isGoodwill);
  const sendable = sendableMinor(payment, refunds);
  const amountMinor = sendable < keptMinor ? sendable : keptMinor;
  return payment.paid_hold && amountMinor > 0n ? { amountMinor, currency: payment.charge_currency } : null;
}

export async function findEmail(trx: WorldDb, accountId: string): Promise<string | null> {
  const { rows } = await sql<{ email: string }>`
    select email from accounts.accounts where id = ${accountId}`.execute(trx);
  return rows[0]?.email ?? null;
}
