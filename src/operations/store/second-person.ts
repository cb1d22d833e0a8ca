/** Decides whether an action needs a second person. From the rows, in the caller's transaction. */
import { sql } from 'kysely';
import { personKey } from '../../accounts/operators/two-person-rules.ts';
import type { Money } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { lockByName } from '../../platform/database/transactions.ts';
import {
  isAboveLimits,
  LIMITED_OVER_MS,
  worthMoved,
  type ActionRequest,
  type ApprovalLimits,
} from '../rules.ts';
import { moneyOf, type ActionSubject } from './subject.ts';

/** What a request is judged by, besides the rows. */
export interface Judging {
  readonly limits: ApprovalLimits;
  readonly now: Date;
}

/**
 * Whether the action waits for a second person, and what its record keeps for the sums of later ones. Actions
 * of one person, and on one account, wait for each other: several at once cannot all find the same sum.
 */
export async function checkLimits(
  trx: WorldDb,
  { action, by, overrides = false }: Pick<ActionRequest, 'action' | 'by' | 'overrides'>,
  { subject, amount }: { readonly subject: ActionSubject; readonly amount: Money | null },
  { limits, now }: Judging,
) {
  const worth = worthMoved(action, subject.facts, amount, moneyOf(subject));
  if (!worth) return { waits: overrides, fields: {} };
  const author = { personKey: personKey(by), accountId: subject.accountId };
  const moved = await lockUnapprovedTotals(trx, author, worth.currency, now);
  const fields = {
    person_key: author.personKey,
    account_id: author.accountId,
    worth_minor: worth.amountMinor,
    worth_currency: worth.currency,
  };
  return { waits: overrides || isAboveLimits(worth, moved, limits), fields };
}

/** What was moved without a second person. First the person, then the account (lock-order.ts). */
async function lockUnapprovedTotals(
  trx: WorldDb,
  { personKey: person, accountId }: Readonly<Record<'personKey' | 'accountId', string>>,
  currency: string,
  now: Date,
) {
  for (const whose of [`actions of ${person}`, `actions on ${accountId}`]) await lockByName(trx, whose);
  const since = new Date(now.getTime() - LIMITED_OVER_MS);
  // A statement of its own, which sees what was committed before the locks were got.
  const { rows } = await sql<{ by_person: bigint; on_account: bigint }>`
    select coalesce(sum(worth_minor) filter (where person_key = ${person}), 0)::int8 as by_person,
           coalesce(sum(worth_minor) filter (where account_id = ${accountId}), 0)::int8 as on_account
      from operator_actions
     where (person_key = ${person} or account_id = ${accountId}) and worth_minor is not null
       and worth_currency = ${currency} and created_at > ${since}
       and approved_by is null and status in ('ASKED', 'BEGUN', 'DONE')`.execute(trx);
  return { byPersonMinor: rows[0]?.by_person ?? 0n, onAccountMinor: rows[0]?.on_account ?? 0n };
}
