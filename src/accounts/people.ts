/**
 * People who operate the service: made, changed and given new passwords, by the command line and by those who manage people. Each leaves an
 * audit entry in the same transaction. A password is never kept, and told only where it was just made.
 */
import { randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import type { Role } from './roles.ts';
import type { Clock } from '../domain/clock.ts';
import { writeAudit } from './store/audit.ts';
import {
  changePerson as updatePerson,
  findPerson,
  insertPerson,
  listPeople as readPeople,
  countPeople,
  revokeSessions,
  type PersonRow,
  type WhichPerson,
} from './store/people.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { oneTimePassword, type Passwords } from './passwords.ts';
import type { Page } from '../domain/page.ts';

export interface PeopleDeps {
  readonly db: AccountsDb;
  readonly clock: Clock;
  readonly passwords: Passwords;
}

/** Long enough for a weekend between being told and signing in, short enough that a forgotten message is worth little. */
const ONE_TIME_MS = 72 * 3_600_000;

export interface NewPersonRequest {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
}

/** VALIDATION_ERROR where somebody has the e-mail address already. */
export async function createPerson(
  { db, clock, passwords }: PeopleDeps,
  { email, name, role }: NewPersonRequest,
  actor: string,
): Promise<OneTimePassword> {
  const made = await newOneTime({ clock, passwords });
  const id = makeId('person', randomBytes(16).toString('hex'));
  await db.transaction().execute(async (trx) => {
    const isNew = await insertPerson(trx, {
      id,
      email: email.toLowerCase(),
      name,
      role,
      passwordHash: made.hash,
      oneTimeUntil: made.until,
    });
    if (!isNew) {
      throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
        details: 'email: somebody has it already',
      });
    }
    await writeAudit(trx, {
      actor,
      action: 'person.create',
      subject: id,
      detail: { email: email.toLowerCase(), name, role },
    });
  });
  return {
    person: await viewOf({ db, clock }, id),
    oneTimePassword: made.password,
    oneTimeUntil: made.until,
  };
}

/** Whoever is disabled, or gets another role, is signed out. NOT_FOUND. */
export async function changePerson(
  { db, clock }: Pick<PeopleDeps, 'db' | 'clock'>,
  which: WhichPerson,
  changes: PersonChanges,
  actor: string,
): Promise<PersonView> {
  const { name, role, disabled } = changes;
  const { id } = await found(db, which);
  const now = clock.now();
  await db.transaction().execute(async (trx) => {
    await updatePerson(trx, id, {
      ...(name === undefined ? {} : { name }),
      ...(role === undefined ? {} : { role }),
      ...(disabled === undefined ? {} : { disabledAt: disabled ? now : null }),
    });
    if (disabled === true || role !== undefined) await revokeSessions(trx, { personId: id }, now);
    await writeAudit(trx, { actor, action: 'person.change', subject: id, detail: { ...changes } });
  });
  return viewOf({ db, clock }, id);
}

/** Ends a lock and every session of theirs. NOT_FOUND. */
export async function resetPassword(
  { db, clock, passwords }: PeopleDeps,
  which: WhichPerson,
  actor: string,
): Promise<OneTimePassword> {
  const { id } = await found(db, which);
  const made = await newOneTime({ clock, passwords });
  await db.transaction().execute(async (trx) => {
    // The row first: a session that is being opened under the old password waits for it, and is not opened then.
    await updatePerson(trx, id, { password: { hash: made.hash, oneTimeUntil: made.until } });
    await revokeSessions(trx, { personId: id }, clock.now());
    await writeAudit(trx, { actor, action: 'person.reset-password', subject: id });
  });
  return {
    person: await viewOf({ db, clock }, id),
    oneTimePassword: made.password,
    oneTimeUntil: made.until,
  };
}

export async function listPeople(
  { db, clock }: Pick<PeopleDeps, 'db' | 'clock'>,
  { page, limit }: { readonly page: number; readonly limit: number },
): Promise<Page<PersonView>> {
  const rows = await readPeople(db, { limit, offset: (page - 1) * limit });
  return { items: rows.map((row) => toView(row, clock)), total: await countPeople(db), page, limit };
}

async function newOneTime({ clock, passwords }: Pick<PeopleDeps, 'clock' | 'passwords'>) {
  const password = oneTimePassword();
  const hash = await passwords.hash(password);
  return { password, hash, until: new Date(clock.now().getTime() + ONE_TIME_MS) };
}

async function found(db: AccountsDb, which: WhichPerson): Promise<PersonRow> {
  const row = await findPerson(db, 'id' in which ? which : { email: which.email.toLowerCase() });
  if (!row) throw new DomainError('NOT_FOUND', 'There is no such person');
  return row;
}

async function viewOf({ db, clock }: Pick<PeopleDeps, 'db' | 'clock'>, id: string): Promise<PersonView> {
  return toView(await found(db, { id }), clock);
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

/** Somebody, as those who manage people see them. */
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
  readonly name?: string;
  readonly role?: Role;
  readonly disabled?: boolean;
}

/** A password made for somebody, shown this once. */
export interface OneTimePassword {
  readonly person: PersonView;
  readonly oneTimePassword: string;
  readonly oneTimeUntil: Date;
}
