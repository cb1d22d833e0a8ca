/**
 * Money that is claimed back, once a person knows how that ended: what lies in suspense for it becomes ours or our loss, in its own currency,
 * and nobody is needed for it any more.
 */
import { sql } from 'kysely';
import { formatMinor, type Money } from '../domain/money.ts';
import { transfer } from './ledger.ts';
import type { MoveEffect, MoveSubject } from './move-subject.ts';
import { CLAIMS } from './payments.ts';
import type { WorldDb } from './tables.ts';

/** Takes back what a dispute had put at risk; what is left in suspense then is our gain, or below zero our loss. */
export const settleClaim: MoveEffect = async (trx, move, subject) => {
  for (const { reference } of subject.payments) await takeBackDispute(trx, reference, subject.transactionId);
  const left = await findInSuspense(trx, subject);
  for (const { currency } of left) await ensureRevenueAccount(trx, currency);
  if (left.length > 0)
    await transfer(trx, {
      operationKey: move.id,
      kind: 'claim-settled',
      transactionId: subject.transactionId,
      reason: move.reason,
      entries: left.flatMap(({ currency, amountMinor }) => [
        { account: `suspense:${currency}`, currency, amountMinor: -amountMinor },
        { account: `revenue:${currency}`, currency, amountMinor },
      ]),
    });
  await unflag(trx, subject.transactionId, CLAIMS);
  const effect = left
    .map(({ currency, amountMinor }) => `${currency} ${formatMinor(amountMinor)}`)
    .join(', ');
  return { did: `the claim is settled: ${effect === '' ? 'nothing is lost' : `revenue ${effect}`}` };
};

/** The entries of a dispute the other way round. Once a payment. */
async function takeBackDispute(trx: WorldDb, reference: string, transactionId: string): Promise<void> {
  const entries = await trx
    .selectFrom('ledger_transactions as t')
    .innerJoin('ledger_entries as e', 'e.ledger_transaction_id', 't.id')
    .select(['e.ledger_account_id as account', 'e.currency', 'e.amount_minor'])
    .where('t.operation_key', '=', `${reference}:disputed`)
    .execute();
  if (entries.length === 0) return;
  await transfer(trx, {
    operationKey: `${reference}:dispute-settled`,
    kind: 'dispute-settled',
    transactionId,
    entries: entries.map(({ account, currency, amount_minor }) => ({
      account,
      currency,
      amountMinor: -amount_minor,
    })),
  });
}

/** What of it lies in suspense for no refund, by currency; nothing where that is zero. */
async function findInSuspense(trx: WorldDb, { transactionId, refunds }: MoveSubject): Promise<Money[]> {
  const rows = await trx
    .selectFrom('ledger_transactions as t')
    .innerJoin('ledger_entries as e', 'e.ledger_transaction_id', 't.id')
    .innerJoin('ledger_accounts as a', 'a.id', 'e.ledger_account_id')
    .select(['e.currency', sql<bigint>`sum(e.amount_minor)::int8`.as('total')])
    .where('t.transaction_id', '=', transactionId)
    .where('a.kind', '=', 'suspense')
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

async function ensureRevenueAccount(trx: WorldDb, currency: string): Promise<void> {
  await trx
    .insertInto('ledger_accounts')
    .values({ id: `revenue:${currency}`, kind: 'revenue', currency, account_id: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Nobody is needed any more for what a person has settled. */
export async function unflag(trx: WorldDb, transactionId: string, reasons: readonly string[]): Promise<void> {
  for (const table of ['purchases', 'fundings'] as const) {
    await trx
      .updateTable(table)
      .set({ needs_attention_since: null, attention_reason: null, updated_at: sql`now()` })
      .where('transaction_id', '=', transactionId)
      .where('attention_reason', 'in', reasons)
      .execute();
  }
}
