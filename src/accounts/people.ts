import { randomBytes } from 'node:crypto';
import type { Clock } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import type { Page } from '../domain/page.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { oneTimePassword } from './passwords.ts';
import type { Role } from './roles.ts';
import type { Session, SessionDeps } from './sessions.ts';
import { writeAudit } from './store/audit.ts';
import {
  countPeople,
  findPerson,
  insertPerson,
  readPeople,
  revokeSessions,
  updatePerson,
  type PersonRow,
  type WhichPerson,
} from './store/people.ts';

export type PeopleDeps = Omit<SessionDeps, 'events'>;

export interface PersonView {
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly mustChangePassword: boolean;
  readonly lockedUntil: Date | null;
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
}

export interface PersonChanges {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  readonly disabled?: boolean | undefined;
}

/** Returned once, where the password was made; only its hash is kept. */
export interface OneTimePassword {
  readonly person: PersonView;
  readonly oneTimePassword: string;
  readonly oneTimeUntil: Date;
}

/** Long enough for a weekend between being told and signing in; short enough that an old message is of little use to a thief. */
const ONE_TIME_MS = 72 * 3_600_000;

type NewPerson = Pick<PersonView, 'email' | 'name' | 'role'>;

/** What a signed-in person may do. Nobody locks themselves out: the last administrator could not be let in again. */
export const peopleUseCases = {
  list: listPeople,
  create: (deps: PeopleDeps, { person }: Session, newPerson: NewPerson) =>
    createPerson(deps, newPerson, person.email),
  /** Throws NOT_FOUND; FORBIDDEN for one's own role or disabling oneself. */
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

/** Throws VALIDATION_ERROR where somebody already has the e-mail address. */
export async function createPerson(
  deps: PeopleDeps,
  person: NewPerson,
  actor: string,
): Promise<OneTimePassword> {
  const id = makeId('person', randomBytes(16).toString('hex'));
  const email = person.email.toLowerCase();
  const { name, role } = person;
  const made = await newOneTime(deps);
  await deps.db.transaction().execute(async (trx) => {
    const password = { password_hash: made.hash, one_time_until: made.until };
    if (!(await insertPerson(trx, { id, email, name, role, ...password }))) {
      const details = 'email: somebody has it already';
      throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details });
    }
    await writeAudit(trx, { actor, action: 'person.create', subject: id, detail: { email, name, role } });
  });
  return { person: await readView(deps, id), oneTimePassword: made.password, oneTimeUntil: made.until };
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
  const made = await newOneTime(deps);
  await deps.db.transaction().execute(async (trx) => {
    // The person first: a session that is being opened with the old password waits for this row, and then stays closed.
    await updatePerson(trx, id, { password: { hash: made.hash, oneTimeUntil: made.until } });
    await revokeSessions(trx, { personId: id }, deps.clock.now());
    await writeAudit(trx, { actor, action: 'person.reset-password', subject: id });
  });
  return { person: await readView(deps, id), oneTimePassword: made.password, oneTimeUntil: made.until };
}

export async function listPeople(
  { db, clock }: Pick<PeopleDeps, 'db' | 'clock'>,
  { page, limit }: { readonly page: number; readonly limit: number },
): Promise<Page<PersonView>> {
  const rows = await readPeople(db, { limit, offset: (page - 1) * limit });
  return { items: rows.map((row) => toView(row, clock)), total: await countPeople(db), page, limit };
}

async function newOneTime({ clock, passwords }: PeopleDeps) {
  const password = oneTimePassword();
  const hash = await passwords.hash(password);
  return { password, hash, until: new Date(clock.now().getTime() + ONE_TIME_MS) };
}

async function findOrThrow(db: AccountsDb, which: WhichPerson): Promise<PersonRow> {
  const row = await findPerson(db, 'id' in which ? which : { email: which.email.toLowerCase() });
  if (!row) throw new DomainError('NOT_FOUND', 'There is no such person');
  return row;
}

async function readView({ db, clock }: Pick<PeopleDeps, 'db' | 'clock'>, id: string): Promise<PersonView> {
  return toView(await findOrThrow(db, { id }), clock);
}

function toView(row: PersonRow, clock: Clock): PersonView {
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
