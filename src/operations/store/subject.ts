/** The rows behind the facts that decide on actions. Locks in the order of lock-order.ts. */
import type { Selectable, SelectQueryBuilder } from 'kysely';
import { type AccountCurrency, type Money, smaller } from '../../domain/money.ts';
import { partInPrice, sendableMinor } from '../../payments/store/account.ts';
import { DISPUTE_REASONS } from '../../domain/states.ts';
import { findOpenDisputes } from '../../payments/store/disputes.ts';
import { findEarnedMinor } from '../../payments/store/risk.ts';
import type { PaymentRow } from '../../payments/store/payments.ts';
import { creditMinorOf, type RefundRow } from '../../payments/store/refunds.ts';
import type { WorldDatabase, WorldDb } from '../../platform/database/tables.ts';
import type { PurchaseRow } from '../../purchases/store/reads.ts';
import { findReplacementInReview } from '../../purchases/store/replacements.ts';
import { findReturnInReview } from '../../purchases/store/returns.ts';
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
  const { payments, purchase, funding, refunds, hold, disputes } = await readRows(
    db,
    transactionId,
    isLocked,
  );
  const row = purchase ?? funding;
  if (!row) return undefined;
  const open = Map.groupBy(
    refunds.filter((refund) => refund.closed_at === null),
    kindOf,
  );
  const openRefund = OPEN_REFUNDS.find((kind) => open.has(kind)) ?? null;
  const inWallet = payments
    .map((payment) => ({ payment, amountMinor: smaller(payment.credited_minor, sendableMinor(payment)) }))
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
    disputes,
    walletPayment: inWallet?.payment,
    openRefunds: open.get(openRefund ?? 'due') ?? [],
    facts: {
      purpose: purchase ? 'purchase' : 'funding',
      status: row.status,
      isThroughGateway: row.payment_method !== 'WALLET',
      isDelivered: purchase ? await isDelivered(db, purchase) : false,
      holdsMoney: hold?.status === 'HELD',
      openRefund,
      inWallet: inWallet
        ? { amountMinor: inWallet.amountMinor, currency: inWallet.payment.charge_currency }
        : null,
      earned: await findEarned(db, transactionId, payments, row.currency),
      canGiveBack: payments.some(
        (payment) => payment.paid_hold && hold?.status === 'HELD' && payment.free_minor > 0n,
      ),
      isUnpaid: payments.length > 0 && payments.every((payment) => !payment.has_money),
      hasDispute: DISPUTE_REASONS.some((dispute) => dispute === row.attention_reason),
      isLeftOpen: row.attention_reason === 'PAYMENT_STILL_OPEN',
      inReview: await findReturnInReview(db, transactionId),
      replacement: await findReplacementInReview(db, transactionId),
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
    disputes: await findOpenDisputes(db, transactionId),
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

function kindOf({ status, sent_at, attempt }: RefundRow): OpenRefund {
  if (status === 'STUCK') return 'stuck';
  if (status === 'NEEDS_ATTENTION') return 'waits';
  // An earlier attempt was sent to the gateway and may have gone through.
  return status === 'DUE' && sent_at === null && attempt === 1 ? 'due' : 'on-its-way';
}

/** The reason of refunds that give back what was earned. */
export const GOODWILL = 'goodwill';

/** What its delivery earned and still does. null where nothing is left of what paid for it. */
async function findEarned(
  db: WorldDb,
  transactionId: string,
  payments: readonly PaymentRow[],
  currency: AccountCurrency,
): Promise<Money | null> {
  if (payments.length > 0 && payments.every(({ used_minor }) => used_minor === 0n)) return null;
  const amountMinor = await findEarnedMinor(db, transactionId, currency);
  return amountMinor > 0n ? { amountMinor, currency } : null;
}

/** Its money, by where it is. */
export function moneyOf(subject: ActionSubject): ActionMoney {
  const {
    price,
    facts,
    disputes,
    openRefunds: [refund],
  } = subject;
  const payment = payingPayment(subject);
  return {
    price,
    disputed: disputes.map(({ dispute_id: disputeId, amount_minor: amountMinor, currency }) => ({
      ...{ disputeId, amountMinor, currency },
    })),
    charge: payment ? { amountMinor: payment.charge_minor, currency: payment.charge_currency } : null,
    openRefund: refund
      ? {
          amount: { amountMinor: refund.amount_minor, currency: refund.currency },
          credit: creditFor(refund, subject),
        }
      : null,
    inWallet: facts.inWallet,
    earned: facts.earned,
    earnedAtSource: payment && facts.earned !== null ? earnedAtSource(payment) : null,
    onHold: payment?.paid_hold ? inHold(payment) : price,
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
  return { amountMinor: creditMinorOf(payment, refund), currency: payment.price_currency };
}

/** What paid for what was delivered, as far as the gateway has it and it was not given back before. */
function earnedAtSource(payment: PaymentRow): Money | null {
  const amountMinor = smaller(payment.used_minor, sendableMinor(payment));
  return amountMinor > 0n ? { amountMinor, currency: payment.charge_currency } : null;
}

/** What of the money on hold can go to the wallet: a bank has, or disputes, the rest. */
function inHold(payment: PaymentRow): Money {
  const amountMinor = partInPrice(
    payment,
    payment.charge_minor,
    smaller(payment.free_minor, payment.charge_minor),
  );
  return { amountMinor, currency: payment.price_currency };
}
