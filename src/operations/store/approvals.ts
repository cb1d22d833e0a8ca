/** Moves that wait for a second person, and what is on record of a purchase's moves. Who asked for one cannot approve it, here or in the database. */
import { sql } from 'kysely';
import { isSamePerson, requestRefusal, type ActionRefusal, type ActionRequest } from '../rules.ts';
import { findActionSubject } from './subject.ts';
import { expireAction, isExpired, recordRefusal, refusedAs, type Refused } from './actions.ts';
import type { ActionRow } from './tables.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** What a second person says of a move that waits. `go`: it may be made now. */
export async function decideApproval(
  db: WorldDb,
  moveId: string,
  word: { readonly by: string; readonly isApproved: boolean; readonly tryId: string },
  now: Date,
): Promise<
  { readonly outcome: 'go'; readonly move: ActionRow } | Refused | { readonly outcome: 'declined' }
> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('operator_moves')
      .selectAll()
      .where('id', '=', moveId)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return refusedAs('NOT_FOUND', `there is no move ${moveId}`, undefined);
    const refuse = async (refusal: ActionRefusal): Promise<Refused> => {
      const wish = { ...requestOf(row), moveId: word.tryId, by: word.by };
      const reason = `${word.isApproved ? 'approval' : 'refusal'} of ${moveId}`;
      const subject = await findActionSubject(trx, row.transaction_id);
      return recordRefusal(trx, { ...wish, reason }, refusal, now, subject);
    };
    if (requestRefusal({ ...requestOf(row), by: word.by }) === 'PERSON_NEEDED')
      return refuse('PERSON_NEEDED');
    if (isExpired(row, now)) {
      await expireAction(trx, row, now);
      return refuse('APPROVAL_EXPIRED');
    }
    // Approved before, and perhaps not made: whoever approved it may send it again.
    const isAgain = row.status === 'APPROVED' && isSamePerson(row.approved_by ?? '', word.by);
    if (isAgain && word.isApproved) return { outcome: 'go', move: row };
    if (row.status !== 'WAITS_FOR_APPROVAL') return refuse('NOT_WAITING');
    if (isSamePerson(row.by_person, word.by)) return refuse('SAME_PERSON');
    const status = word.isApproved ? 'APPROVED' : 'DECLINED';
    const move = await trx
      .updateTable('operator_moves')
      .set({
        status,
        approved_by: word.by.trim(),
        ...(word.isApproved ? {} : { closed_at: now, detail: `declined by ${word.by.trim()}` }),
      })
      .where('id', '=', moveId)
      .returningAll()
      .executeTakeFirstOrThrow();
    return word.isApproved ? { outcome: 'go', move } : { outcome: 'declined' };
  });
}

/** The wish that a line tells of. */
export function requestOf(row: ActionRow): ActionRequest {
  return {
    moveId: row.id,
    transactionId: row.transaction_id,
    by: row.by_person,
    reason: row.reason,
    moveKey: row.move_key,
    ...(row.evidence === null ? {} : { evidence: row.evidence }),
    ...(JSON.parse(row.asked) as Pick<ActionRequest, 'move'>),
  };
}

/** Every try on a purchase or a funding, oldest first. */
export function listActions(db: WorldDb, transactionId: string): Promise<ActionRow[]> {
  return db
    .selectFrom('operator_moves')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .orderBy('created_at')
    .execute();
}

/** A move that `approve` would make: it waits for a second person, or was approved and is not made yet. */
export function findApprovable(db: WorldDb, moveId: string, now: Date): Promise<ActionRow | undefined> {
  return db
    .selectFrom('operator_moves')
    .selectAll()
    .where('id', '=', moveId)
    .where(sql<boolean>`(status = 'APPROVED' or (status = 'WAITS_FOR_APPROVAL' and expires_at > ${now}))`)
    .executeTakeFirst();
}

/** Moves that wait for a second person, oldest first. */
export function listPendingApprovals(db: WorldDb, now: Date): Promise<ActionRow[]> {
  return db
    .selectFrom('operator_moves')
    .selectAll()
    .where('status', '=', 'WAITS_FOR_APPROVAL')
    .where(sql<boolean>`expires_at > ${now}`)
    .orderBy('created_at')
    .limit(1_000)
    .execute();
}
