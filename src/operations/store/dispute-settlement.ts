/**
 * Money of a dispute, once a person knows its outcome. What lies in suspense for it becomes ours or our loss, in its own currency, and
 * needs-attention is cleared.
 */
import { sql } from 'kysely';
import { formatMinor, type Money } from '../../domain/money.ts';
import { transfer } from '../../ledger/store/ledger.ts';
import { CLAIMS, type Claim } from '../../payments/rules.ts';
import { outcomeRefusal } from '../../payments/rules.ts';
import { closeDispute, findNotWon, findOpenDisputes, releaseRisk } from '../../payments/store/disputes.ts';
import { findClaim } from '../../payments/store/payments.ts';
import type { DisputeRow } from '../../payments/store/tables.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { ActionRequest } from '../rules.ts';
import type { ActionEffect, ActionSubject } from './subject.ts';

/**
 * Settles a dispute with the outcome that a person stated and the gateway says too, or money that was taken back without a dispute. Won: what was
 * at risk is ours again. Lost: once the gateway has taken its money, what is left in suspense for it is our loss; until then it waits there.
 */
export const settleClaim: ActionEffect = async (trx, action, subject, now) => {
  const {
    outcome = 'lost',
    disputeId,
    overrides = false,
  } = JSON.parse(action.asked) as Partial<ActionRequest>;
  const open = await findOpenDisputes(trx, subject.transactionId);
  const named = disputeId === undefined ? open : open.filter((one) => one.dispute_id === disputeId);
  if (open.length > 0 && named.length !== 1) return { refusal: 'DISPUTE_NEEDED' };
  const [dispute] = named;
  if (!dispute && outcome === 'won') return { refusal: 'OUTCOME_DIFFERS' };
  const unfit = dispute && outcomeRefusal(outcome, dispute.gateway_state, overrides);
  if (unfit !== undefined) return { refusal: unfit };
  const isTaken = isTakenFrom(subject, dispute?.reference);
  if (dispute) {
    if (outcome === 'won') await releaseRisk(trx, dispute);
    await closeDispute(trx, dispute, { outcome: outcome === 'won' ? 'WON' : 'LOST', moveId: action.id, now });
  }
  const isLoss = outcome !== 'won' && isTaken;
  const stillAtRisk = isLoss ? await releaseTakenRisk(trx, subject) : [];
  const left = isLoss ? await findInSuspense(trx, subject, stillAtRisk) : [];
  for (const { currency } of left) await ensureAccount(trx, 'revenue', currency);
  if (left.length > 0)
    await transfer(trx, {
      operationKey: action.id,
      kind: 'claim-settled',
      transactionId: subject.transactionId,
      reason: action.reason,
      entries: left.flatMap(({ currency, amountMinor }) => [
        { account: `suspense:${currency}`, currency, amountMinor: -amountMinor },
        { account: `revenue:${currency}`, currency, amountMinor },
      ]),
    });
  const isLast = open.every((one) => one === dispute);
  if (isLast) await setAttention(trx, subject, CLAIMS, (await hasClaimLeft(trx, subject)) ? REVERSED : null);
  const what = dispute ? 'Dispute' : 'Claim';
  if (outcome === 'won') return { did: `${what} won: the money is ours again` };
  if (!isTaken) return { did: `${what} lost: the gateway has not taken the money yet` };
  const effect = left.map(formatMoney).join(', ');
  return { did: `${what} lost: ${effect === '' ? 'no revenue is gone' : `revenue ${effect}`}` };
};

/**
 * How many settlements came before the requested one. The next dispute is a new settlement; the same request again answers the last one, also
 * for a named dispute that is settled while others are still open.
 */
export async function countSettledBefore(
  db: WorldDb,
  { transactionId, disputeId }: Pick<ActionRequest, 'transactionId' | 'disputeId'>,
): Promise<number> {
  const { rows } = await sql<{ made: number }>`
    select count(*)::int4 as made from operator_moves
     where transaction_id = ${transactionId} and move = 'settle-claim' and status = 'DONE'`.execute(db);
  const open = await db
    .selectFrom('disputes')
    .select('dispute_id')
    .where('transaction_id', '=', transactionId)
    .where('settled_at', 'is', null)
    .execute();
  const isNamed =
    disputeId === undefined || open.length === 0 || open.some((one) => one.dispute_id === disputeId);
  const isThere = isNamed && (await findClaim(db, transactionId)) !== undefined;
  return Math.max(0, (rows[0]?.made ?? 0) - (isThere ? 0 : 1));
}

const REVERSED: Claim = 'PAYMENT_REVERSED';

/** Whether the gateway has taken money back: of this payment, or of any where no dispute is named. */
function isTakenFrom({ payments }: ActionSubject, reference: string | undefined): boolean {
  return payments.some(
    (payment) => payment.reversed_minor > 0n && (reference === undefined || payment.reference === reference),
  );
}

/** Ends the risk of lost disputes whose money the gateway has taken. Returns the disputes that still have money at risk. */
async function releaseTakenRisk(trx: WorldDb, subject: ActionSubject): Promise<DisputeRow[]> {
  const notWon = await findNotWon(trx, subject.transactionId);
  const isOver = (one: DisputeRow) => one.outcome === 'LOST' && isTakenFrom(subject, one.reference);
  for (const dispute of notWon.filter(isOver)) await releaseRisk(trx, dispute);
  return notWon.filter((one) => !isOver(one));
}

/** Whether money that was taken back from us is still missing in suspense. */
async function hasClaimLeft(trx: WorldDb, subject: ActionSubject): Promise<boolean> {
  const left = await findInSuspense(trx, subject, 'all disputes');
  return left.some(({ amountMinor }) => amountMinor < 0n);
}

/** What of it lies in suspense for no refund and for none of these disputes, by currency; nothing where that is zero. */
async function findInSuspense(
  trx: WorldDb,
  { transactionId, refunds }: Pick<ActionSubject, 'transactionId' | 'refunds'>,
  without: readonly DisputeRow[] | 'all disputes',
): Promise<Money[]> {
  const keys = without === 'all disputes' ? [] : without.flatMap((one) => one.operation_key ?? []);
  const rows = await trx
    .selectFrom('ledger_transactions as t')
    .innerJoin('ledger_entries as e', 'e.ledger_transaction_id', 't.id')
    .innerJoin('ledger_accounts as a', 'a.id', 'e.ledger_account_id')
    .select(['e.currency', sql<bigint>`sum(e.amount_minor)::int8`.as('total')])
    .where('t.transaction_id', '=', transactionId)
    .where('a.kind', '=', 'suspense')
    .$if(keys.length > 0, (query) => query.where('t.operation_key', 'not in', keys))
    .$if(without === 'all disputes', (query) =>
      query.where('t.kind', 'not in', ['disputed', 'dispute-settled']),
    )
    .groupBy('e.currency')
    .orderBy('e.currency')
    .execute();
  return rows
    .map(({ currency, total }) => {
      const onItsWay = refunds.filter((refund) => refund.closed_at === null && refund.currency === currency);
      const wayMinor = onItsWay.reduce((sum, refund) => sum + refund.amount_minor, 0n);
      return { currency, amountMinor: total - wayMinor };
    })
    .filter(({ amountMinor }) => amountMinor !== 0n);
}

/** Creates the account of a currency if there is none. `evidence`, below zero: manual payments. */
export async function ensureAccount(
  trx: WorldDb,
  kind: 'revenue' | 'evidence',
  currency: string,
): Promise<void> {
  await trx
    .insertInto('ledger_accounts')
    .values({ id: `${kind}:${currency}`, kind, currency, account_id: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

export const formatMoney = ({ amountMinor, currency }: Money): string =>
  `${currency} ${formatMinor(amountMinor)}`;

/** Clears needs-attention where it has one of these reasons. */
export function clearAttention(
  trx: WorldDb,
  transactionId: string,
  reasons: readonly string[],
): Promise<void> {
  return setAttention(trx, { transactionId }, reasons, null);
}

/** Replaces any of these reasons by another one, or by none. */
async function setAttention(
  trx: WorldDb,
  { transactionId }: Pick<ActionSubject, 'transactionId'>,
  reasons: readonly string[],
  reason: string | null,
): Promise<void> {
  for (const table of ['purchases', 'fundings'] as const) {
    await trx
      .updateTable(table)
      .set({
        ...(reason === null ? { needs_attention_since: null } : {}),
        attention_reason: reason,
        updated_at: sql`now()`,
      })
      .where('transaction_id', '=', transactionId)
      .where('attention_reason', 'in', reasons)
      .execute();
  }
}
