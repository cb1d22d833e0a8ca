/** A second factor that is lost, with its recovery codes: two people remove it, none of them its owner. */
import type { Member, Session } from '../../domain/callers.ts';
import type { Clock } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { AuditFacts } from '../audit-facts.ts';
import { writeAudit } from '../store/audit.ts';
import { findPerson } from '../store/people.ts';
import * as store from '../store/users.ts';
import { limitRemovals, requireTwo, type RemovalDeps } from './removals.ts';
import { INDEPENDENT_AFTER_MS, refuseOneself } from './two-person-rules.ts';

interface RecoveryDeps {
  readonly db: AccountsDb;
  readonly clock: Clock;
}

export interface Evidence {
  /** Where can be seen that the user themselves asked. */
  readonly evidence: string;
}

/** `not-independent`: it waits, too, for somebody who is independent of one who asked. */
interface Recovery {
  readonly outcome: 'done' | 'waits' | 'not-independent';
}

const CHANGE = 'second-factor';

/**
 * The second of two who ask within 24 hours removes it, and ends every session of the user, who then signs in
 * with the password alone. `waits`: this was the first. `done` also where there is none.
 */
async function removeByTwo(
  trx: AccountsDb,
  user: store.UserRow,
  asked: { readonly by: string; readonly now: Date; readonly detail: AuditFacts },
): Promise<Recovery> {
  const { by, now, detail } = asked;
  if (!user.two_factor_enabled) return { outcome: 'done' };
  const outcome = await requireTwo(trx, user.id, { change: CHANGE, by, now, detail });
  if (outcome !== 'go') return { outcome };
  await store.deleteSecondFactor(trx, user.id);
  await store.endSessions(trx, user.id);
  await writeAudit(trx, { actor: by, action: 'user.recover', subject: user.id, detail });
  return { outcome: 'done' };
}

async function lockUserOrThrow(trx: AccountsDb, userId: string): Promise<store.UserRow> {
  await store.lockUser(trx, userId);
  const user = await store.findUser(trx, { id: userId });
  if (!user) throw new DomainError('NOT_FOUND', 'No such user');
  return user;
}

/** Of another operator, by two administrators. Throws NOT_FOUND; FORBIDDEN for one's own. */
export async function recoverPerson(
  deps: RecoveryDeps & RemovalDeps,
  { person }: Session,
  personId: string,
  detail: Evidence,
): Promise<Recovery> {
  refuseOneself(person.personId, personId);
  return deps.db.transaction().execute(async (trx) => {
    if (!(await findPerson(trx, { id: personId }))) throw new DomainError('NOT_FOUND', 'No such person');
    return recover(deps, trx, person.email, personId, detail);
  });
}

/** Of a merchant's user, by two operators. Throws NOT_FOUND, also for an operator. */
export async function recoverUser(
  deps: RecoveryDeps & RemovalDeps,
  { person }: Session,
  userId: string,
  detail: Evidence,
): Promise<Recovery> {
  return deps.db.transaction().execute(async (trx) => {
    if (await findPerson(trx, { id: userId })) throw new DomainError('NOT_FOUND', 'No such user');
    return recover(deps, trx, person.email, userId, detail);
  });
}

async function recover(
  deps: RecoveryDeps & RemovalDeps,
  trx: AccountsDb,
  by: string,
  userId: string,
  { evidence }: Evidence,
): Promise<Recovery> {
  const now = deps.clock.now();
  await limitRemovals(deps, trx, by, now);
  const recovered = await removeByTwo(trx, await lockUserOrThrow(trx, userId), {
    ...{ by, now, detail: { evidence } },
  });
  deps.events.accessRemoved({ outcome: recovered.outcome === 'done' ? 'done' : 'waits' });
  return recovered;
}

/**
 * Of a colleague, by two other owners who have been members for a day: an owner who was let in just now may
 * be a puppet of the first. Throws NOT_FOUND; FORBIDDEN where there are no two such owners, and where other
 * accounts, or this service, depend on the user too: then operators do it.
 */
export async function recoverMember(
  { db, clock }: RecoveryDeps,
  { account, userId: ownId, email: by }: Member,
  userId: string,
): Promise<Recovery> {
  const now = clock.now();
  return db.transaction().execute(async (trx) => {
    const members = await store.memberRows(trx, account.id).execute();
    const target = members.find((one) => one.userId === userId);
    if (!target) throw new DomainError('NOT_FOUND', 'No such member');
    if (!target.hasSecondFactor) return { outcome: 'done' };
    const since = new Date(now.getTime() - INDEPENDENT_AFTER_MS);
    const owners = members.filter(
      (one) => one.role === 'OWNER' && one.userId !== userId && one.joinedAt <= since,
    );
    const isElsewhere = (await store.findMemberships(trx, userId)).length > 1;
    if (owners.length < 2 || isElsewhere || (await findPerson(trx, { id: userId })))
      throw new DomainError('FORBIDDEN', 'Ask us to remove this second factor', {
        details:
          'it takes two other owners who have been members for a day, and a user who is a member of this account alone',
      });
    if (!owners.some((one) => one.userId === ownId))
      throw new DomainError('FORBIDDEN', 'Two other owners who have been members for a day must ask for it');
    const detail = { accountId: account.id };
    return removeByTwo(trx, await lockUserOrThrow(trx, userId), { by, now, detail });
  });
}
