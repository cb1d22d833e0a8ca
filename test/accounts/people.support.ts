// Operators and their sessions in books of their own, with a clock that the test moves and a password that is
// cheap to hash.
import { afterAll, afterEach, beforeEach, vi } from 'vitest';
import { createMailStops } from '../../src/accounts/mail-stops.ts';
import { createAuth } from '../../src/accounts/users/better-auth.ts';
import { createPasswords, type Passwords } from '../../src/accounts/users/passwords.ts';
import { confirmAccess, createPerson } from '../../src/accounts/operators/people.ts';
import { sessionUseCases } from '../../src/accounts/operators/sessions.ts';
import { bindAll } from '../../src/platform/bind.ts';
import { DomainError } from '../../src/domain/errors.ts';
import type { Role } from '../../src/domain/operator-roles.ts';
import type { AccountsDb } from '../../src/platform/database/tables.ts';
import { openBooks } from '../support/world/books.ts';

export const WRONG = 'not the password at all';
export const OWN = 'correct horse battery staple';
export const ADDRESS = '203.0.113.7';

/** Real scrypt with a thousandth of the work, and a count of its runs. */
function countedPasswords(): Passwords & { hashed: number } {
  const real = createPasswords({ cost: { logN: 5, r: 8, p: 1 } });
  const counted = {
    hashed: 0,
    hash: (password: string) => {
      counted.hashed += 1;
      return real.hash(password);
    },
    isRight: (stored: string, password: string) => {
      counted.hashed += 1;
      return real.isRight(stored, password);
    },
  };
  return counted;
}

/** For one test file; time stands still in each test unless the test lets it pass. */
export async function openOffice() {
  const books = await openBooks();
  afterAll(() => books.close());
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());
  const passwords = countedPasswords();
  const lockedOut: string[] = [];
  const depsOn = (db: AccountsDb) => {
    const shared = { db, clock: { now: () => new Date() }, passwords, publicUrl: 'http://127.0.0.1:3000' };
    return {
      ...shared,
      auth: createAuth({
        ...shared,
        secret: Buffer.alloc(32, 7),
        issuer: 'Simway',
        onError: () => undefined,
      }),
      environments: [],
      sendMail: () => undefined,
      sendMailLater: () => Promise.resolve(undefined),
      mailStops: createMailStops({ idSecret: Buffer.alloc(32, 7), publicUrl: shared.publicUrl }),
      events: {
        signInRefused: () => undefined,
        mailsStopped: () => undefined,
        personLockedOut: ({ personId }: { personId: string }) => void lockedOut.push(personId),
      },
    };
  };
  const deps = depsOn(books.accounts);
  const sessions = bindAll(deps, sessionUseCases);
  let made = 0;
  const newPerson = async (role: Role = 'SUPPORT') => {
    made += 1;
    const email = `person-${made}@operator.example`;
    const { person, firstHalf } = await createPerson(deps, { email, name: `Person ${made}`, role }, 'a test');
    const { secondHalf } = await confirmAccess(deps, { email }, role, 'another test');
    return { email, personId: person.personId, oneTime: `${firstHalf}-${secondHalf}` };
  };
  const signIn = (email: string, password: string) => sessions.signIn({ email, password, address: ADDRESS });
  const find = async (token: string) => (await sessions.authenticate(token, ADDRESS)).session;
  /** In the session of this token. */
  const changePassword = async (token: string, currentPassword: string, newPassword: string) => {
    const { session, browser } = await sessions.authenticate(token, ADDRESS);
    await sessions.changePassword(session, { currentPassword, newPassword }, browser);
  };
  return {
    books,
    changePassword,
    find,
    deps,
    passwords,
    sessions,
    /** Ids of the people who were locked out, as operations is notified. */
    lockedOut,
    /** The same on another connection. */
    depsOn,
    pass: (ms: number): void => void vi.setSystemTime(Date.now() + ms),
    person: newPerson,
    signIn,
    /** A person who has chosen a password. */
    settled: async (role: Role = 'SUPPORT') => {
      const { email, personId, oneTime } = await newPerson(role);
      await changePassword((await signIn(email, oneTime)).token, oneTime, OWN);
      return { email, personId };
    },
    audit: async (subject: string): Promise<string[]> => {
      const rows = await books.accounts
        .selectFrom('audit_log')
        .select(['actor', 'action'])
        .where('subject', '=', subject)
        .orderBy('id')
        .execute();
      return rows.map(({ actor, action }) => `${actor}: ${action}`);
    },
  };
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}
