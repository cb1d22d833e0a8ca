/** People and sessions on a real Postgres: what opens a session, what ends it, what guessing costs, and what is on record. */
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createPasswords, oneTimePassword, type Passwords } from '../../src/app/passwords.ts';
import { changePerson, createPerson, listPeople, resetPassword } from '../../src/app/people.ts';
import { createSessions, LOCK_MS, SESSION_IDLE_MS, SESSION_MS } from '../../src/app/sessions.ts';
import { DomainError } from '../../src/domain/errors.ts';
import type { Role } from '../../src/domain/roles.ts';
import type { AccountsDb } from '../../src/store/tables.ts';
import { openBooks, refusalOf, untilSomeoneWaits, type Books } from '../support/books.ts';

const books: Books = await openBooks();
afterAll(() => books.close());

const WRONG = 'not the password at all';
const OWN = 'correct horse battery staple';
const ADDRESS = '203.0.113.7';

let nowMs = Date.now();
const clock = { now: () => new Date(nowMs) };
beforeEach(() => {
  nowMs = Date.now();
});

/** Real scrypt, a thousandth of the work, and how often it was done. */
function countedPasswords(): Passwords & { hashed: number } {
  const real = createPasswords({ cost: { logN: 5, r: 8, p: 1 } });
  const counted = {
    hashed: 0,
    hash: (password: string) => real.hash(password),
    isRight: (stored: string | undefined, password: string) => {
      counted.hashed += 1;
      return real.isRight(stored, password);
    },
  };
  return counted;
}

const passwords = countedPasswords();
const lockedOut: string[] = [];
const deps = {
  db: books.accounts,
  clock,
  passwords,
  events: { personLockedOut: ({ personId }: { personId: string }) => void lockedOut.push(personId) },
};
const sessions = createSessions(deps);

let made = 0;
async function person(role: Role = 'SUPPORT') {
  made += 1;
  const email = `person-${made}@operator.example`;
  const created = await createPerson(deps, { email, name: `Person ${made}`, role }, 'a test');
  return { email, personId: created.person.personId, oneTime: created.oneTimePassword };
}

const signIn = (email: string, password: string) => sessions.signIn({ email, password, address: ADDRESS });

/** Somebody with a password of their own. */
async function settled(role: Role = 'SUPPORT') {
  const { email, personId, oneTime } = await person(role);
  const { session } = await signIn(email, oneTime);
  await sessions.changePassword(session, { current: oneTime, next: OWN, address: ADDRESS });
  return { email, personId };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}

const audit = async (subject: string): Promise<string[]> => {
  const rows = await books.accounts
    .selectFrom('audit_log')
    .select(['actor', 'action'])
    .where('subject', '=', subject)
    .orderBy('id')
    .execute();
  return rows.map(({ actor, action }) => `${actor}: ${action}`);
};

describe('people', () => {
  it('are made once for an e-mail address, in whatever case', async () => {
    const { email } = await person();
    const again = createPerson(deps, { email: email.toUpperCase(), name: 'Again', role: 'ADMIN' }, 'a test');
    await expect(again).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: 'email: somebody has it already',
    });
  });

  it('keep id and e-mail address for ever, and are never removed', async () => {
    const { personId } = await person();
    const run = (text: string) => refusalOf(sql.raw(text).execute(books.accounts));
    expect(await run(`update people set email = 'x@y.example' where id = '${personId}'`)).toBe(
      'permission denied',
    );
    expect(await run(`update people set id = 'person-${'0'.repeat(32)}' where id = '${personId}'`)).toBe(
      'permission denied',
    );
    expect(await run(`delete from people where id = '${personId}'`)).toBe('permission denied');
    expect(await run(`update sessions set person_id = '${personId}', expires_at = now()`)).toBe(
      'permission denied',
    );
  });

  it('are listed in the order in which they came', async () => {
    const before = await listPeople(deps, { page: 1, limit: 100 });
    const { personId } = await person('FINANCE');
    const after = await listPeople(deps, { page: 1, limit: 100 });
    expect(after.total).toBe(before.total + 1);
    expect(after.items.at(-1)).toMatchObject({ personId, role: 'FINANCE', mustChangePassword: true });
    expect(JSON.stringify(after)).not.toContain('scrypt');
  });

  it('that nobody knows are not found', async () => {
    expect(
      await codeOf(changePerson(deps, { email: 'nobody@x.example' }, { disabled: true }, 'a test')),
    ).toBe('NOT_FOUND');
    expect(await codeOf(resetPassword(deps, { email: 'nobody@x.example' }, 'a test'))).toBe('NOT_FOUND');
  });
});

describe('a one-time password', () => {
  it('is never the same, and hard to misread', () => {
    const many = new Set(Array.from({ length: 1_000 }, oneTimePassword));
    expect(many.size).toBe(1_000);
    for (const one of many) expect(one).toMatch(/^[2-9A-HJ-NP-TV-Za-hj-km-np-tv-z]{5}(-\w{5}){3}$/);
  });

  it('opens a session in which another is chosen, and nothing after that', async () => {
    const { email, oneTime, personId } = await person();
    const { session } = await signIn(email.toUpperCase(), oneTime);
    expect(session).toMatchObject({ mustChangePassword: true, person: { personId, email } });
    await expect(sessions.authorise(session, 'see', { subject: 'x', requestId: 'r' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('POST /ops/me/password') as string,
    });
    await sessions.changePassword(session, { current: oneTime, next: OWN, address: ADDRESS });
    expect(await codeOf(signIn(email, oneTime))).toBe('UNAUTHORIZED');
    const again = await signIn(email, OWN);
    expect(again.session.mustChangePassword).toBe(false);
    expect(await audit(personId)).toEqual([
      'a test: person.create',
      `${email}: session.open`,
      `${email}: person.change-password`,
      `${email}: session.refuse`,
      `${email}: session.open`,
    ]);
  });

  it('is worth nothing after three days, in a session that is open too', async () => {
    const { email, oneTime } = await person();
    nowMs += 72 * 3_600_000 - 60_000;
    const { token } = await signIn(email, oneTime);
    nowMs += 61_000;
    expect(await codeOf(signIn(email, oneTime))).toBe('UNAUTHORIZED');
    expect(await codeOf(sessions.authenticate(token))).toBe('INVALID_TOKEN');
  });

  it.each([
    ['too short', 'eleven char', 'at least 12 characters'],
    ['the same', undefined, 'must be another one'],
  ])('is not replaced by one that is %s', async (_why, next, detail) => {
    const { email, oneTime } = await person();
    const { session } = await signIn(email, oneTime);
    const change = sessions.changePassword(session, {
      current: oneTime,
      next: next ?? oneTime,
      address: ADDRESS,
    });
    await expect(change).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: expect.stringContaining(detail) as string,
    });
  });
});

describe('a session', () => {
  it('ends after half an hour without a request, and a request begins the half hour anew', async () => {
    const { email } = await settled();
    const { token } = await signIn(email, OWN);
    for (let hours = 0; hours < 3; hours += 1) {
      nowMs += SESSION_IDLE_MS - 1_000;
      expect(await codeOf(sessions.authenticate(token))).toBe('done');
    }
    nowMs += SESSION_IDLE_MS;
    expect(await codeOf(sessions.authenticate(token))).toBe('INVALID_TOKEN');
  });

  it('ends after twelve hours, however busy', async () => {
    const { email } = await settled();
    const { token, session } = await signIn(email, OWN);
    expect(session.expiresAt.getTime()).toBe(nowMs + SESSION_MS);
    const endsAtMs = nowMs + SESSION_MS;
    while (nowMs + SESSION_IDLE_MS < endsAtMs) {
      nowMs += SESSION_IDLE_MS - 1_000;
      expect(await codeOf(sessions.authenticate(token))).toBe('done');
    }
    nowMs = endsAtMs;
    expect(await codeOf(sessions.authenticate(token))).toBe('INVALID_TOKEN');
  });

  it('is ended by signing out, and others of the same person are not', async () => {
    const { email } = await settled();
    const [one, other] = [await signIn(email, OWN), await signIn(email, OWN)];
    await sessions.signOut(one.session);
    expect(await codeOf(sessions.authenticate(one.token))).toBe('INVALID_TOKEN');
    expect(await codeOf(sessions.authenticate(other.token))).toBe('done');
  });

  it.each<[string, (personId: string) => Promise<unknown>]>([
    ['being disabled', (id) => changePerson(deps, { id }, { disabled: true }, 'a test')],
    ['another role', (id) => changePerson(deps, { id }, { role: 'ADMIN' }, 'a test')],
    ['a password that is reset', (id) => resetPassword(deps, { id }, 'a test')],
  ])('is ended by %s, at once', async (_why, end) => {
    const { email, personId } = await settled();
    const all = [await signIn(email, OWN), await signIn(email, OWN)];
    await end(personId);
    for (const { token } of all) expect(await codeOf(sessions.authenticate(token))).toBe('INVALID_TOKEN');
  });

  it('goes on through a change of name', async () => {
    const { email, personId } = await settled();
    const { token } = await signIn(email, OWN);
    await changePerson(deps, { id: personId }, { name: 'Another' }, 'a test');
    expect((await sessions.authenticate(token)).person.name).toBe('Another');
  });

  it('goes on through a change of password by itself, and no other does', async () => {
    const { email } = await settled();
    const [here, elsewhere] = [await signIn(email, OWN), await signIn(email, OWN)];
    await sessions.changePassword(here.session, { current: OWN, next: `${OWN}!`, address: ADDRESS });
    expect(await codeOf(sessions.authenticate(here.token))).toBe('done');
    expect(await codeOf(sessions.authenticate(elsewhere.token))).toBe('INVALID_TOKEN');
  });

  it.each(['', 'ops_', `ops_${'a'.repeat(42)}`, `ops_${'a'.repeat(44)}`, `simway_test_${'a'.repeat(38)}`])(
    'is not opened by "%s", which costs no query',
    async (token) => {
      const { db, statements } = countingStatements(books.accounts);
      const counted = createSessions({ ...deps, db });
      expect(await codeOf(counted.authenticate(token))).toBe('INVALID_TOKEN');
      expect(statements()).toBe(0);
    },
  );

  it('that is not opened yet when the password is reset is never opened', async () => {
    const { email, personId } = await settled();
    const late = await books.owner.transaction().execute(async (trx) => {
      await sql`select 1 from accounts.people where id = ${personId} for update`.execute(trx);
      // Its password was right when it was checked; now it waits for the row.
      const waiting = codeOf(signIn(email, OWN));
      await untilSomeoneWaits(books.owner);
      await sql`update accounts.people set password_hash = 'scrypt$another' where id = ${personId}`.execute(
        trx,
      );
      return { waiting };
    });
    expect(await late.waiting).toBe('UNAUTHORIZED');
  });
});

describe('wrong passwords', () => {
  const fail = async (email: string, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1)
      expect(await codeOf(signIn(email, WRONG))).toBe('UNAUTHORIZED');
  };

  it('nine in a row and then the right one: signed in, and counting begins anew', async () => {
    const { email } = await settled();
    for (let round = 0; round < 2; round += 1) {
      await fail(email, 9);
      expect(await codeOf(signIn(email, OWN))).toBe('done');
    }
  });

  it('ten in a row lock somebody out for fifteen minutes, whatever comes then', async () => {
    const { email, personId } = await settled();
    await fail(email, 10);
    expect(lockedOut.filter((one) => one === personId)).toEqual([personId]);
    for (let minute = 0; minute < 15; minute += 1) {
      expect(await codeOf(signIn(email, OWN))).toBe('UNAUTHORIZED');
      await fail(email, 2);
      nowMs += 59_999;
    }
    nowMs += 15;
    expect(await codeOf(signIn(email, OWN))).toBe('done');
    expect(LOCK_MS).toBe(15 * 60_000);
  });

  it('end no session that is open, and a new password ends the lock', async () => {
    const { email, personId } = await settled();
    const { token } = await signIn(email, OWN);
    await fail(email, 10);
    expect(await codeOf(sessions.authenticate(token))).toBe('done');
    const { oneTimePassword: next, person: view } = await resetPassword(deps, { id: personId }, 'a test');
    expect(view.lockedUntil).toBeNull();
    expect(await codeOf(signIn(email, next))).toBe('done');
  });

  it('fifty at once count like fifty one after the other', async () => {
    const { email, personId } = await settled();
    const guesses = Array.from({ length: 50 }, () => codeOf(signIn(email, WRONG)));
    const heard = new Set(await Promise.all(guesses));
    // Some hear that too many people sign in; nobody hears more.
    heard.delete('SERVICE_UNAVAILABLE');
    expect([...heard]).toEqual(['UNAUTHORIZED']);
    expect(lockedOut.filter((one) => one === personId)).toEqual([personId]);
    expect(await codeOf(signIn(email, OWN))).toBe('UNAUTHORIZED');
  });

  it('count in a session too: a stolen token is no way to guess the password', async () => {
    const { email } = await settled();
    const { session } = await signIn(email, OWN);
    const guess = () =>
      codeOf(sessions.changePassword(session, { current: WRONG, next: `${OWN}?`, address: ADDRESS }));
    for (let time = 0; time < 10; time += 1) expect(await guess()).toBe('UNAUTHORIZED');
    const right = { current: OWN, next: `${OWN}?`, address: ADDRESS };
    expect(await codeOf(sessions.changePassword(session, right))).toBe('UNAUTHORIZED');
    expect(await codeOf(signIn(email, OWN))).toBe('UNAUTHORIZED');
  });

  it('unknown, wrong, locked, disabled: one answer, after the same work', async () => {
    const [locked, disabled, plain] = [await settled(), await settled(), await settled()];
    await fail(locked.email, 10);
    await changePerson(deps, { id: disabled.personId }, { disabled: true }, 'a test');
    const costs: object[] = [];
    for (const [email, password] of [
      ['nobody@operator.example', OWN],
      [plain.email, WRONG],
      [locked.email, WRONG],
      [locked.email, OWN],
      [disabled.email, WRONG],
      [disabled.email, OWN],
    ] as const) {
      const { db, statements } = countingStatements(books.accounts);
      const hashedBefore = passwords.hashed;
      const refusal = await createSessions({ ...deps, db })
        .signIn({ email, password, address: ADDRESS })
        .catch((error: unknown) => error);
      const { code, message, details } = refusal as DomainError;
      costs.push({
        code,
        message,
        details,
        statements: statements(),
        hashed: passwords.hashed - hashedBefore,
      });
    }
    expect(costs).toEqual(Array.from({ length: 6 }, () => costs[0]));
    expect(costs[0]).toMatchObject({ code: 'UNAUTHORIZED', statements: 3, hashed: 1 });
  });
});

describe('what is kept', () => {
  it('opens nothing: no token, no password, whoever reads all of it', async () => {
    const { email, personId, oneTime } = await person('ADMIN');
    const { token, session } = await signIn(email, oneTime);
    await sessions.changePassword(session, { current: oneTime, next: OWN, address: ADDRESS });
    await codeOf(signIn(email, `${OWN} mistyped`));
    await codeOf(signIn(`${OWN} in the wrong field`, OWN));
    await codeOf(sessions.authorise({ ...session, mustChangePassword: false }, 'people', about(personId)));
    const { rows } = await sql<{ text: string }>`
      select row_to_json(people)::text as text from people union all select row_to_json(sessions)::text from sessions
      union all select row_to_json(audit_log)::text from audit_log`.execute(books.accounts);
    const all = rows.map((row) => row.text).join('\n');
    expect(all).toContain(email);
    for (const secret of [oneTime, OWN, token, token.slice(4), 'wrong field'])
      expect(all).not.toContain(secret);
    expect(all).toContain('scrypt$ln=5,r=8,p=1$');
  });

  it('tells who tried what without the role for it', async () => {
    const { email } = await settled('SUPPORT');
    const { session } = await signIn(email, OWN);
    const subject = 'GET /ops/books/daily';
    await expect(sessions.authorise(session, 'books', { subject, requestId: 'req-1' })).rejects.toMatchObject(
      {
        code: 'FORBIDDEN',
        message: 'Your role SUPPORT may not read the books (that takes FINANCE or ADMIN)',
      },
    );
    const [row] = await books.accounts
      .selectFrom('audit_log')
      .selectAll()
      .where('subject', '=', subject)
      .where('actor', '=', email)
      .execute();
    expect(row).toMatchObject({
      action: 'ops.refuse',
      detail: { role: 'SUPPORT', wanted: 'read the books (that takes FINANCE or ADMIN)', requestId: 'req-1' },
    });
  });

  it('sessions that ended a month ago are forgotten when their person comes again', async () => {
    const { email, personId } = await settled();
    await signIn(email, OWN);
    nowMs += 31 * 24 * 3_600_000;
    await signIn(email, OWN);
    const { rows } = await sql`select 1 from sessions where person_id = ${personId}`.execute(books.accounts);
    expect(rows.length).toBe(1);
  });
});

const about = (subject: string) => ({ subject, requestId: 'r' });

function countingStatements(db: AccountsDb): { db: AccountsDb; statements: () => number } {
  let count = 0;
  const counted = db.withPlugin({
    transformQuery: ({ node }) => {
      count += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  return { db: counted, statements: () => count };
}
