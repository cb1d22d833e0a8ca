/**
 * What a move would do, found out by doing it: the very effect that the workflow's step has, in a transaction that is taken back. So a preview
 * cannot say anything else than what the move then does to these rows.
 */
import { sql } from 'kysely';
import { creditOf, sidesOf } from '../../ledger/chart-of-accounts.ts';
import type { Money } from '../../domain/money.ts';
import { CHECK_ACTIONS, type ActionOutcome, type ActionRequest } from '../rules.ts';
import { effectOf } from './effects.ts';
import { lockActionSubject } from './subject.ts';
import { insertBegun, judgeRequest, refusedAs } from './actions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** One entry that would be booked. */
export interface PreviewEntry {
  readonly account: string;
  readonly currency: string;
  readonly debitMinor: bigint;
  readonly creditMinor: bigint;
}

export type EffectPreview =
  | {
      readonly outcome: 'would-do';
      /** In a sentence. */
      readonly did: string;
      readonly amount: Money | null;
      /** Whose purchase or funding it is. */
      readonly accountId: string;
      readonly email: string | null;
      readonly entries: readonly PreviewEntry[];
      /** Refunds that would be asked for at the gateway. */
      readonly refunds: readonly Money[];
      /** Whether another person must approve it: always, or where the amount is above the limit. */
      readonly secondPerson: 'always' | 'above-limit' | 'never';
    }
  /** Refused, made before, or kept for a second person. */
  | Exclude<ActionOutcome, { readonly outcome: 'unknown' }>;

/** Thrown to take everything back. */
class RolledBack extends Error {
  readonly foresight: EffectPreview;
  constructor(foresight: EffectPreview) {
    super('a preview');
    this.name = 'TakenBack';
    this.foresight = foresight;
  }
}

/** Foresees a move. Nothing is written, not even a refusal. */
export async function previewEffect(db: WorldDb, wish: ActionRequest, now: Date): Promise<EffectPreview> {
  try {
    return await db.transaction().execute(async (trx) => {
      throw new RolledBack(await tryEffect(trx, wish, now));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.foresight;
    throw error;
  }
}

async function tryEffect(trx: WorldDb, wish: ActionRequest, now: Date): Promise<EffectPreview> {
  const judged = await judgeRequest(trx, wish, now);
  if (judged.outcome === 'go')
    return { outcome: 'done', moveId: judged.moveId, did: 'begun before', again: true };
  if (judged.outcome !== 'fits') return judged;
  const { amount } = judged;
  const row = await insertBegun(trx, wish, judged, now);
  const before = await lastBooked(trx);
  const subject = await lockActionSubject(trx, wish.transactionId);
  if (!row || !subject) return refusedAs('NOT_FOUND', 'it is being made right now', subject);
  const about = {
    amount,
    accountId: subject.accountId,
    email: await findEmail(trx, subject.accountId),
    secondPerson: secondPersonFor(wish, amount),
  };
  if (CHECK_ACTIONS.includes(wish.move))
    return { outcome: 'would-do', did: 'asks, and books what is found', ...about, entries: [], refunds: [] };
  const ended = await effectOf(wish.move)(trx, row, subject, now);
  if ('refusal' in ended) return refusedAs(ended.refusal, ended.detail ?? '', subject);
  const known = new Set(subject.refunds.map((refund) => refund.refund_key));
  return {
    outcome: 'would-do',
    did: ended.did,
    ...about,
    entries: await entriesSince(trx, wish.transactionId, before),
    refunds: await newRefunds(trx, wish.transactionId, known),
  };
}

function secondPersonFor(wish: ActionRequest, amount: Money | null): 'always' | 'above-limit' | 'never' {
  if (wish.overrides === true) return 'always';
  return amount === null ? 'never' : 'above-limit';
}

async function lastBooked(trx: WorldDb): Promise<bigint> {
  const { rows } = await sql<{
    id: bigint;
  }>`select coalesce(max(id), 0)::int8 as id from ledger_transactions`.execute(trx);
  return rows[0]?.id ?? 0n;
}

async function entriesSince(trx: WorldDb, transactionId: string, before: bigint): Promise<PreviewEntry[]> {
  const rows = await trx
    .selectFrom('ledger_transactions as t')
    .innerJoin('ledger_entries as e', 'e.ledger_transaction_id', 't.id')
    .select(['e.ledger_account_id as account', 'e.currency', 'e.amount_minor'])
    .where('t.transaction_id', '=', transactionId)
    .where('t.id', '>', before)
    .orderBy('e.id')
    .execute();
  return rows.map(({ account, currency, amount_minor: storedMinor }) => ({
    account,
    currency,
    ...sidesOf(creditOf(storedMinor, currency)),
  }));
}

async function newRefunds(trx: WorldDb, transactionId: string, known: ReadonlySet<string>): Promise<Money[]> {
  const rows = await trx
    .selectFrom('refunds')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .where('closed_at', 'is', null)
    .execute();
  return rows
    .filter((row) => row.status === 'DUE' || !known.has(row.refund_key))
    .map((row) => ({ amountMinor: row.amount_minor, currency: row.currency }));
}

async function findEmail(trx: WorldDb, accountId: string): Promise<string | null> {
  const { rows } = await sql<{ email: string }>`
    select email from accounts.accounts where id = ${accountId}`.execute(trx);
  return rows[0]?.email ?? null;
}
