/** Money in suspense for a dispute becomes ours or our loss once a person knows its outcome. */
import { sql } from 'kysely';
import { formatMinor, type Money } from '../../domain/money.ts';
import { transfer } from '../../ledger/store/ledger.ts';
import { DISPUTE_REASONS, type DisputeReason } from '../../domain/states.ts';
import { outcomeRefusal } from '../../payments/rules.ts';
import {
  bookTaken,
  closeDispute,
  findOpenDisputes,
  releaseRevenue,
  releaseRisk,
} from '../../payments/store/disputes.ts';
import { findDisputeReason } from '../../payments/store/payments.ts';
import type { DisputeRow } from '../../payments/store/tables.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { ActionRequest } from '../rules.ts';
import type { ActionEffect, ActionSubject } from './subject.ts';

/**
 * Won: what was at risk is where it was before. Lost: the bank has it, and what is missing in suspense is our
 * loss. What a wallet had got is not: the wallet paid it, or its account owes it.
 */
export const settleDispute: ActionEffect = async (trx, action, subject) => {
  const {
    outcome = 'lost',
    disputeId,
    overrides = false,
  } = JSON.parse(action.asked) as Partial<ActionRequest>;
  const open = await findOpenDisputes(trx, subject.transactionId);
  const named = disputeId === undefined ? open : open.filter((one) => one.dispute_id === disputeId);
  if (open.length > 0 && named.length !== 1) return { refusal: 'DISPUTE_NEEDED' };
  const [dispute] = named;
  // A second person may have approved it days later: it is about what was open when it was asked for.
  if (dispute && overrides && disputeId === undefined && dispute.opened_at > action.created_at)
    return { refusal: 'DISPUTE_NEEDED', detail: 'it was opened after this was asked for: name it' };
  if (!dispute && outcome === 'won') return { refusal: 'OUTCOME_DIFFERS' };
  const unfit = dispute && outcomeRefusal(outcome, dispute.gateway_state, overrides);
  if (unfit !== undefined) return { refusal: unfit };
  const others = open.filter((one) => one !== dispute);
  if (dispute) {
    const isAtRisk = dispute.money === 'AT_RISK';
    if (isAtRisk) await (outcome === 'won' ? releaseRisk : bookTaken)(trx, dispute);
    if (outcome === 'lost') await releaseRevenue(trx, dispute);
    await closeDispute(trx, dispute, { outcome: outcome === 'won' ? 'WON' : 'LOST', actionId: action.id });
  }
  // What is on hold for a purchase that is not delivered is given up by ending the purchase, not by revenue.
  const isLoss = outcome === 'lost' && !isOnHold(subject.hold);
  const left = isLoss ? await findMissing(trx, subject, others) : [];
  for (const { currency } of left) await ensureAccount(trx, 'revenue', currency);
  if (left.length > 0)
    await transfer(trx, {
      operationKey: action.id,
      kind: 'reversal-settled',
      transactionId: subject.transactionId,
      reason: action.reason,
      entries: left.flatMap(({ currency, amountMinor }) => [
        { account: `suspense:${currency}`, currency, amountMinor: -amountMinor },
        { account: `revenue:${currency}`, currency, amountMinor },
      ]),
    });
  if (others.length === 0) {
    const isMissing = (await findMissing(trx, subject, [])).length > 0;
    await setAttention(trx, subject.transactionId, DISPUTE_REASONS, isMissing ? REVERSED : null);
  }
  const what = dispute ? 'Dispute' : 'Reversal';
  const against = overrides ? ' against what the gateway reports' : '';
  if (outcome === 'won')
    return dispute?.money === 'TAKEN'
      ? { did: `${what} won${against}, but the gateway has taken the money` }
      : { did: `${what} won${against}: the money is ours again` };
  const loss = left.map((one) => formatMoney({ ...one, amountMinor: -one.amountMinor })).join(', ');
  const wallet = (dispute?.credited_minor ?? 0n) > 0n ? '; the wallet pays, and owes what it lacks' : '';
  return {
    did: `${what} lost${against}: our loss is ${loss || 'nothing'}${wallet}`,
  };
};

/**
 * How many settlements came before the requested one. The next dispute is a new settlement; the same request
 * again answers the last one, also while other disputes are open.
 */
export async function countSettledBefore(
  db: WorldDb,
  { transactionId, disputeId }: Pick<ActionRequest, 'transactionId' | 'disputeId'>,
): Promise<number> {
  const { rows } = await sql<{ made: number }>`
    select count(*)::int4 as made from operator_actions
     where transaction_id = ${transactionId} and action = 'settle-dispute' and status = 'DONE'`.execute(db);
  const open = await db
    .selectFrom('disputes')
    .select('dispute_id')
    .where('transaction_id', '=', transactionId)
    .where('settled_at', 'is', null)
    .execute();
  const isNamed =
    disputeId === undefined || open.length === 0 || open.some((one) => one.dispute_id === disputeId);
  const isThere = isNamed && (await findDisputeReason(db, transactionId)) !== undefined;
  return Math.max(0, (rows[0]?.made ?? 0) - (isThere ? 0 : 1));
}

const REVERSED: DisputeReason = 'PAYMENT_REVERSED';

/** Suspense by currency where it is below zero, without open refunds and these open disputes. */
async function findMissing(
  trx: WorldDb,
  { transactionId, hold }: Pick<ActionSubject, 'transactionId' | 'hold'>,
  without: readonly DisputeRow[],
): Promise<Money[]> {
  const { rows } = await sql<Money>`
    select currency, sum(minor)::int8 as "amountMinor"
      from (
        select e.currency, e.amount_minor as minor
          from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
          join ledger_accounts a on a.id = e.ledger_account_id and a.kind = 'suspense'
         where t.transaction_id = ${transactionId}
        union all
        select currency, -amount_minor from refunds where transaction_id = ${transactionId} and closed_at is null
        union all
        select y.price_currency, -d.revenue_minor - case d.money when 'AT_RISK' then d.frozen_minor else 0 end
          from disputes d join payments y using (reference)
         where d.transaction_id = ${transactionId} and d.dispute_id = any(${without.map((one) => one.dispute_id)})
        union all
        select y.charge_currency, d.free_minor * case d.money when 'AT_RISK' then ${isOnHold(hold) ? 0 : -1}::int else 0 end
                 + case d.money when 'TAKEN' then d.used_minor + d.free_minor * ${isOnHold(hold) ? 1 : 0}::int else 0 end
          from disputes d join payments y using (reference)
         where d.transaction_id = ${transactionId} and d.dispute_id = any(${without.map((one) => one.dispute_id)})
      ) part
     group by currency having sum(minor) < 0 order by currency`.execute(trx);
  return rows;
}

const isOnHold = (hold: ActionSubject['hold']): boolean => hold?.status === 'HELD';

/** Creates the account of a currency if there is none. `evidence`, below zero: manual payments. */
export async function ensureAccount(trx: WorldDb, kind: 'revenue' | 'evidence', currency: string) {
  await trx
    .insertInto('ledger_accounts')
    .values({ id: `${kind}:${currency}`, kind, currency, account_id: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

export const formatMoney = ({ amountMinor, currency }: Money): string =>
  `${currency} ${formatMinor(amountMinor)}`;

/** Replaces any of these reasons by another one; without one, clears needs-attention. */
export async function setAttention(
  trx: WorldDb,
  transactionId: string,
  reasons: readonly string[],
  reason: string | null = null,
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
