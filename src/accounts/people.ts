import { randomBytes } from 'node:crypto';
import type { Clock } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import type { Page } from '../domain/page.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { oneTimePassword } from './passwords.ts';
import type { Session, SessionDeps } from './sessions.ts';
import { writeAudit } from './store/audit.ts';
import {
  findPerson,
  insertPerson,
  readPeople,
  revokeSessions,
  updatePerson,
  type PersonRow,
  type PersonUpdate,
  type WhichPerson,
} from './store/people.ts';

export type PeopleDeps = Omit<SessionDeps, 'events'>;

export type PersonView = ReturnType<typeof toView>;
type PersonChanges = Pick<PersonUpdate, 'name' | 'role'> & { readonly disabled?: boolean | undefined };
type NewPerson = Pick<PersonView, 'email' | 'name' | 'role'>;

export type OneTimePassword = Awaited<ReturnType<typeof withOneTimePassword>>;

/** Allows for a weekend before signing in; short enough that an old message is of little use to a thief. */
const ONE_TIME_MS = 72 * 3_600_000;

/** For signed-in administrators. They cannot lock themselves out: the last one could not be let in again. */
export const peopleUseCases = {
  list: listPeople,
  create: (deps: PeopleDeps, { person }: Session, newPerson: NewPerson) =>
    createPerson(deps, newPerson, person.email),
  /** Throws NOT_FOUND; FORBIDDEN for one's own role and for disabling oneself. */
  change: async (deps: PeopleDeps, session: Session, id: string, changes: PersonChanges) => {
    if (changes.role !== undefined || changes.disabled !== undefined) refuseOneself(session, id);
    return changePerson(deps, { id }, changes, session.person.email);
  },
  /** Throws NOT_FOUND; FORBIDDEN for one's own. */
  resetPassword: async (deps: PeopleDeps, session: Session, id: string) => {
    refuseOneself(session, id);
    return resetPassword(deps, { id }, session.person.email);
  },
};

function refuseOneself({ person }: Session, personId: string): void {
  if (person.personId === personId)
    throw new DomainError('FORBIDDEN', 'Nobody changes their own role, disables or resets themselves');
}

/** Throws VALIDATION_ERROR where the e-mail address is taken. */
export function createPerson(deps: PeopleDeps, person: NewPerson, actor: string): Promise<OneTimePassword> {
  const id = makeId('person', randomBytes(16).toString('hex'));
  const detail = { email: person.email.toLowerCase(), name: person.name, role: person.role };
  return withOneTimePassword(deps, id, async (trx, { hash, oneTimeUntil }) => {
    if (!(await insertPerson(trx, { id, ...detail, password_hash: hash, one_time_until: oneTimeUntil }))) {
      const details = 'email: somebody has it already';
      throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details });
    }
    await writeAudit(trx, { actor, action: 'person.create', subject: id, detail });
  });
}

/** Another role, or being disabled, ends every session of the person. Throws NOT_FOUND. */
export async function changePerson(
  deps: Pick<PeopleDeps, 'db' | 'clock'>,
  which: WhichPerson,
  changes: PersonChanges,
  actor: string,
): Promise<PersonView> {
  const { name, role, disabled } = changes;
  const { id } = await findOrThrow(deps.db, which);
  const now = deps.clock.now();
  const disabledAt = disabled === undefined ? undefined : disabled ? now : null;
  await deps.db.transaction().execute(async (trx) => {
    await updatePerson(trx, id, { name, role, disabledAt });
    if (disabled === true || role !== undefined) await revokeSessions(trx, { personId: id }, now);
    await writeAudit(trx, { actor, action: 'person.change', subject: id, detail: { ...changes } });
  });
  return readView(deps, id);
}

/** Also ends a lock and every session of the person. Throws NOT_FOUND. */
export async function resetPassword(
  deps: PeopleDeps,
  which: WhichPerson,
  actor: string,
): Promise<OneTimePassword> {
  const { id } = await findOrThrow(deps.db, which);
  return withOneTimePassword(deps, id, async (trx, password) => {
    // The person first: a session that is being opened with the old password waits for this row, and is then not opened.
    await updatePerson(trx, id, { password });
    await revokeSessions(trx, { personId: id }, deps.clock.now());
    await writeAudit(trx, { actor, action: 'person.reset-password', subject: id });
  });
}

export async function listPeople(
  { db, clock }: Pick<PeopleDeps, 'db' | 'clock'>,
  which: { readonly page: number; readonly limit: number },
): Promise<Page<PersonView>> {
  const page = await readPeople(db, which);
  return { ...page, items: page.items.map((row) => toView(row, clock)) };
}

/** Makes a password for a person. `store` writes its hash; the password itself is returned this once. */
async function withOneTimePassword(
  deps: PeopleDeps,
  id: string,
  store: (trx: AccountsDb, made: { readonly hash: string; readonly oneTimeUntil: Date }) => Promise<void>,
) {
  const { db, clock, passwords } = deps;
  const password = oneTimePassword();
  const hash = await passwords.hash(password);
  const oneTimeUntil = new Date(clock.now().getTime() + ONE_TIME_MS);
  await db.transaction().execute((trx) => store(trx, { hash, oneTimeUntil }));
  return { person: await readView(deps, id), oneTimePassword: password, oneTimeUntil };
}

async function findOrThrow(db: AccountsDb, which: WhichPerson): Promise<PersonRow> {
  const row = await findPerson(db, 'id' in which ? which : { email: which.email.toLowerCase() });
  if (!row) throw new DomainError('NOT_FOUND', 'There is no such person');
  return row;
}

async function readView({ db, clock }: Pick<PeopleDeps, 'db' | 'clock'>, id: string): Promise<PersonView> {
  return toView(await findOrThrow(db, { id }), clock);
}

function toView(row: PersonRow, clock: Clock) {
  const { locked_until: lockedUntil } = row;
  return {
    personId: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    mustChangePassword: row.one_time_until !== null,
    lockedUntil: lockedUntil !== null && lockedUntil > clock.now() ? lockedUntil : null,
    disabledAt: row.disabled_at,
    createdAt: row.created_at,
  };
}
