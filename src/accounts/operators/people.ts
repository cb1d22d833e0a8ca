import type { Session } from '../../domain/callers.ts';
import { DAY_MS, type Clock } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Page, PageQuery } from '../../domain/page.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { findWaiting, markConfirmed, recordAccess, voidWaiting } from '../store/access.ts';
import { writeAudit } from '../store/audit.ts';
import * as store from '../store/people.ts';
import type { PersonRow, PersonUpdate } from '../store/people.ts';
import { endSessions, type WhichUser } from '../store/users.ts';
import { oneTimePassword, type Passwords } from '../users/passwords.ts';
import { limitRemovals, requireTwoForAdmin, type RemovalDeps } from './removals.ts';
import { recoverPerson, recoverUser } from './recovery.ts';
import { givesAccess, refuseConfirmation, refuseOneself } from './two-person-rules.ts';
import type { Role } from '../../domain/operator-roles.ts';

export interface PeopleDeps {
  readonly db: AccountsDb;
  readonly clock: Clock;
  readonly passwords: Pick<Passwords, 'hash'>;
}

export type PersonView = ReturnType<typeof toView>;
type PersonChanges = Pick<PersonUpdate, 'name' | 'role'> & { readonly disabled?: boolean | undefined };
type NewPerson = Pick<PersonView, 'email' | 'name' | 'role'>;

/** The first half of the one-time password. Another administrator gets the second: none has both. */
const toGiven = ({ firstHalf, oneTimeUntil }: NewPassword) => ({ firstHalf, oneTimeUntil });

/** Allows for a weekend before signing in; short enough that an old message is of little use to a thief. */
const ONE_TIME_MS = 72 * 3_600_000;

/** For signed-in administrators: as the functions below, and FORBIDDEN for changing one's own access. */
export const peopleUseCases = {
  list: listPeople,
  create: (deps: PeopleDeps, { person }: Session, newPerson: NewPerson) =>
    createPerson(deps, newPerson, person.email),
  change: async (deps: PeopleDeps & RemovalDeps, session: Session, id: string, changes: PersonChanges) => {
    if (changes.role !== undefined || changes.disabled !== undefined)
      refuseOneself(session.person.personId, id);
    return changePerson(deps, { id }, changes, session.person.email, guardOf(deps));
  },
  resetPassword: async (deps: PeopleDeps & RemovalDeps, session: Session, id: string) => {
    refuseOneself(session.person.personId, id);
    return resetGuarded(deps, { id }, session.person.email, guardOf(deps));
  },
  recover: recoverPerson,
  recoverUser,
  confirm: (deps: PeopleDeps, { person }: Session, id: string, role: Role) =>
    confirmAccess(deps, { id }, role, person.email),
};

/** Whether the change goes on, in its transaction. */
type Guard = (
  trx: AccountsDb,
  row: PersonRow,
  asked: { readonly change: string; readonly by: string; readonly now: Date },
) => Promise<'go' | 'waits'>;

/** Commands on the database restore access when no administrator can. */
const UNGUARDED: Guard = () => Promise.resolve('go');

const guardOf =
  (deps: RemovalDeps): Guard =>
  async (trx, row, asked) => {
    await limitRemovals(deps, trx, asked.by, asked.now);
    const outcome = await requireTwoForAdmin(trx, row, asked);
    deps.events.accessRemoved({ outcome: outcome === 'go' ? 'done' : 'waits' });
    return outcome;
  };

/** Another administrator must confirm it. Throws VALIDATION_ERROR for an e-mail address that is taken. */
export async function createPerson(deps: PeopleDeps, person: NewPerson, actor: string) {
  const made = await newPassword(deps);
  const addition = { person, actor, made, secondHalf: made.secondHalf };
  const id = await deps.db.transaction().execute((trx) => addPerson(deps, trx, addition));
  return { person: await readView(deps, id), ...toGiven(made) };
}

/** The whole one-time password: nobody could confirm the first one. undefined: there is one. Not for /ops. */
export async function createFirstAdmin(deps: PeopleDeps, person: Omit<NewPerson, 'role'>, actor: string) {
  const made = await newPassword(deps);
  const id = await deps.db.transaction().execute(async (trx) => {
    if (await store.hasAdmin(trx)) return undefined;
    return addPerson(deps, trx, { person: { ...person, role: 'ADMIN' }, actor, made, secondHalf: null });
  });
  if (id === undefined) return undefined;
  return { person: await readView(deps, id), oneTimePassword: made.whole, oneTimeUntil: made.oneTimeUntil };
}

interface Addition {
  readonly person: NewPerson;
  readonly actor: string;
  readonly made: NewPassword;
  readonly secondHalf: string | null;
}

async function addPerson(
  { clock }: PeopleDeps,
  trx: AccountsDb,
  { person, actor, made, secondHalf }: Addition,
): Promise<string> {
  const detail = { email: person.email.toLowerCase(), name: person.name, role: person.role };
  const { hash: passwordHash, oneTimeUntil } = made;
  const id = await store.insertPerson(trx, { ...detail, passwordHash, oneTimeUntil });
  if (id === undefined) {
    const details = 'email: another person has it already';
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details });
  }
  const access = { given_by: actor, given_at: clock.now(), second_half: secondHalf };
  await recordAccess(trx, { id, ...detail }, access);
  await writeAudit(trx, { actor, action: 'person.create', subject: id, detail });
  return id;
}

/**
 * Another role, or being disabled, ends every session of the person. Another role, and being enabled, also
 * give a new one-time password, which a second administrator must confirm; `given` is absent where the change
 * gives no access. `waits`: another administrator must ask for the same first. Throws NOT_FOUND.
 */
export async function changePerson(
  deps: PeopleDeps,
  which: WhichUser,
  changes: PersonChanges,
  actor: string,
  guard: Guard = UNGUARDED,
) {
  const { name, role, disabled } = changes;
  const { id } = await findOrThrow(deps.db, which);
  const now = deps.clock.now();
  const disabledAt = disabled === undefined ? undefined : disabled ? now : null;
  // Hashing takes too long for a transaction.
  const made = role !== undefined || disabled === false ? await newPassword(deps) : undefined;
  const given = await deps.db.transaction().execute(async (trx) => {
    const row = await store.lockPerson(trx, id);
    const change = removalIn(row, changes);
    if (change !== undefined && (await guard(trx, row, { change, by: actor, now })) === 'waits')
      return 'waits' as const;
    const before = { role: row.role, isDisabled: row.disabled_at !== null };
    const after = { role: role ?? before.role, isDisabled: disabled ?? before.isDisabled };
    const password = givesAccess(before, after) ? made : undefined;
    await store.updatePerson(trx, id, { name, role, disabledAt, password });
    if (disabled !== undefined || role !== undefined) await endSessions(trx, id);
    if (disabled === true) await voidWaiting(trx, id);
    const access = { given_by: actor, given_at: now, second_half: password?.secondHalf };
    if (password) await recordAccess(trx, { ...row, role: after.role }, access);
    const detail = {
      ...changes,
      ...(role !== undefined && { formerRole: before.role }),
      ...(disabled !== undefined && { disabled: `${before.isDisabled} → ${disabled}` }),
    };
    await writeAudit(trx, { actor, action: 'person.change', subject: id, detail });
    return password;
  });
  const person = await readView(deps, id);
  if (given === 'waits') return { outcome: given, person };
  return { outcome: 'done' as const, person, given: given && toGiven(given) };
}

/** Also ends a lock and every session. Another administrator must confirm it. Throws NOT_FOUND. */
export async function resetPassword(deps: PeopleDeps, which: WhichUser, actor: string) {
  const made = await resetGuarded(deps, which, actor, UNGUARDED);
  if (made.outcome === 'waits') throw new Error('an unguarded reset waits for nobody');
  return made;
}

/** `waits`: as for a change. */
async function resetGuarded(deps: PeopleDeps, which: WhichUser, actor: string, guard: Guard) {
  const { id } = await findOrThrow(deps.db, which);
  const now = deps.clock.now();
  const made = await newPassword(deps);
  const outcome = await deps.db.transaction().execute(async (trx) => {
    const row = await store.lockPerson(trx, id);
    if ((await guard(trx, row, { change: 'reset', by: actor, now })) === 'waits') return 'waits' as const;
    // Before the sessions: one that is being opened with the old password waits for this.
    await store.updatePerson(trx, id, { password: made });
    await endSessions(trx, id);
    await recordAccess(trx, row, { given_by: actor, given_at: now, second_half: made.secondHalf });
    await writeAudit(trx, { actor, action: 'person.reset-password', subject: id });
    return 'done' as const;
  });
  const person = await readView(deps, id);
  return outcome === 'waits' ? { outcome, person } : { outcome, person, ...toGiven(made) };
}

/** What a change takes away from the person, in words that two people agree on; undefined: nothing. */
function removalIn(row: PersonRow, { role, disabled }: PersonChanges): string | undefined {
  if (row.disabled_at !== null) return undefined;
  if (disabled === true) return 'disable';
  return role !== undefined && role !== row.role ? `role ${role}` : undefined;
}

/** Returns the second half, this once. Throws NOT_FOUND where nothing waits, and as refuseConfirmation. */
export async function confirmAccess(
  { db, clock }: Pick<PeopleDeps, 'db' | 'clock'>,
  which: WhichUser,
  role: Role,
  by: string,
) {
  const { id } = await findOrThrow(db, which);
  const now = clock.now();
  const confirmed = await db.transaction().execute(async (trx) => {
    const row = await store.lockPerson(trx, id);
    const waiting = await findWaiting(trx, id);
    const oneTimeUntil = row.one_time_until ?? now;
    if (!waiting || oneTimeUntil <= now)
      throw new DomainError('NOT_FOUND', 'There is nothing to confirm for this person, or it has expired');
    refuseConfirmation({ givenBy: waiting.given_by, role: row.role }, { by, role });
    await markConfirmed(trx, waiting.id, by, now);
    const detail = { role, givenBy: waiting.given_by };
    await writeAudit(trx, { actor: by, action: 'person.confirm', subject: id, detail });
    return { secondHalf: waiting.second_half, oneTimeUntil };
  });
  return { person: await readView({ db, clock }, id), ...confirmed };
}

export async function listPeople(
  { db, clock }: Pick<PeopleDeps, 'db' | 'clock'>,
  which: PageQuery,
): Promise<Page<PersonView>> {
  const page = await store.readPeople(db, which);
  return { ...page, items: page.items.map((row) => toView(row, clock)) };
}

type NewPassword = Awaited<ReturnType<typeof newPassword>>;

/** Each half alone has about 57 bits, and ten wrong guesses lock the person out. */
async function newPassword({ clock, passwords }: Pick<PeopleDeps, 'clock' | 'passwords'>) {
  const whole = oneTimePassword();
  const groups = whole.split('-');
  const [firstHalf, secondHalf] = [groups.slice(0, 2).join('-'), groups.slice(2).join('-')];
  const oneTimeUntil = new Date(clock.now().getTime() + ONE_TIME_MS);
  return { whole, firstHalf, secondHalf, hash: await passwords.hash(whole), oneTimeUntil };
}

async function findOrThrow(db: AccountsDb, which: WhichUser): Promise<PersonRow> {
  const row = await store.findPerson(db, 'email' in which ? { email: which.email.toLowerCase() } : which);
  if (!row) throw new DomainError('NOT_FOUND', 'No such person');
  return row;
}

const readView = async ({ db, clock }: Pick<PeopleDeps, 'db' | 'clock'>, id: string): Promise<PersonView> =>
  toView(await findOrThrow(db, { id }), clock);

function toView(row: PersonRow, clock: Clock) {
  const { removal, removal_by: removalBy, removal_at: removalAt } = row;
  const { locked_until: lockedUntil, waiting_by: askedBy, waiting_since: askedAt } = row;
  return {
    personId: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    mustChangePassword: row.one_time_until !== null,
    hasSecondFactor: row.has_second_factor,
    /** Access that another administrator than `askedBy` must confirm before the person can sign in. */
    awaitsConfirmation: askedBy === null || askedAt === null ? null : { askedBy, askedAt },
    /** What one administrator asked for; another one must ask for the same within 24 hours. */
    awaitsRemoval:
      removal === null ||
      removalBy === null ||
      removalAt === null ||
      clock.now().getTime() - removalAt.getTime() >= DAY_MS
        ? null
        : { change: removal, askedBy: removalBy, askedAt: removalAt },
    lockedUntil: lockedUntil !== null && lockedUntil > clock.now() ? lockedUntil : null,
    disabledAt: row.disabled_at,
    createdAt: row.created_at,
  };
}
