/** Sessions of operators on a real Postgres: what ends one, how guesses are limited, and what is recorded. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { changePerson, confirmAccess, resetPassword } from '../../src/accounts/operators/people.ts';
import { openSession, sessionUseCases } from '../../src/accounts/operators/sessions.ts';
import { LOCK_MS, SESSION_IDLE_MS, SESSION_MS } from '../../src/accounts/users/sessions.ts';
import { bindAll } from '../../src/platform/bind.ts';
import { userUseCases } from '../../src/accounts/users/users.ts';
import { updatePerson } from '../../src/accounts/store/people.ts';
import { beginUserAnew, deleteEndedSignIns } from '../../src/accounts/store/users.ts';
import type { Environment } from '../../src/domain/account.ts';
import { DAY_MS } from '../../src/domain/clock.ts';
import type { DomainError } from '../../src/domain/errors.ts';
import { totp } from '../support/people/dashboard.ts';
import { ADDRESS, codeOf, openOffice, OWN, WRONG } from './people.support.ts';

const office = await openOffice();
const { books, changePassword, deps, depsOn, find, lockedOut, pass, passwords, person, sessions } = office;
const { settled, signIn } = office;

const users = bindAll(deps, userUseCases);
/** A person who has chosen a password, in a session. */
const inSession = async () => {
  const made = await settled();
  return { ...made, ...(await signIn(made.email, OWN)) };
};

it('wrong passwords are forgotten a day after the last', async () => {
  const { email } = await settled();
  await codeOf(signIn(email, WRONG));
  const kept = async (afterMs: number) => {
    await deleteEndedSignIns(books.accounts, new Date(Date.now() + afterMs));
    const failures = books.accounts.selectFrom('sign_in_failures').innerJoin('users', 'users.id', 'user_id');
    return (await failures.select('failed').where('email', '=', email).execute()).map(({ failed }) => failed);
  };
  expect(await kept(DAY_MS - 60_000)).toEqual([1]);
  expect(await kept(DAY_MS + 60_000)).toEqual([]);
});

describe('a session', () => {
  it('of a login that npm start prints needs a second factor once live is on', async () => {
    const { email, personId } = await settled('FINANCE');
    const { token } = await signIn(email, OWN);
    const needsFactor = async (...environments: Environment[]) => {
      const { authenticate } = bindAll({ ...deps, environments }, sessionUseCases);
      return (await authenticate(token, ADDRESS)).session.mustAddSecondFactor;
    };
    expect([await needsFactor('test'), await needsFactor('test', 'live')]).toEqual([true, true]);
    await updatePerson(books.accounts, personId, { secondFactorWaived: true });
    expect([await needsFactor('test'), await needsFactor('test', 'live')]).toEqual([false, true]);
  });

  it('ends after half an hour without a request; each request restarts the half hour', async () => {
    const { token } = await inSession();
    for (let hours = 0; hours < 3; hours += 1) {
      pass(SESSION_IDLE_MS - 1_000);
      expect(await codeOf(find(token))).toBe('done');
    }
    pass(SESSION_IDLE_MS + 1);
    expect(await codeOf(find(token))).toBe('INVALID_TOKEN');
  });

  it('ends after twelve hours, even when in use', async () => {
    const { token, session } = await inSession();
    expect(session.expiresAt.getTime()).toBe(Date.now() + SESSION_MS);
    const endsAtMs = Date.now() + SESSION_MS;
    while (Date.now() + SESSION_IDLE_MS < endsAtMs) {
      pass(SESSION_IDLE_MS - 1_000);
      expect(await codeOf(find(token))).toBe('done');
    }
    pass(endsAtMs - Date.now());
    expect(await codeOf(find(token))).toBe('INVALID_TOKEN');
  });

  it('is ended by signing out; other sessions of the person are not', async () => {
    const { email } = await settled();
    const [one, other] = [await signIn(email, OWN), await signIn(email, OWN)];
    const { session, browser } = await sessions.authenticate(one.token, ADDRESS);
    await sessions.signOut(session, browser);
    expect(await codeOf(find(one.token))).toBe('INVALID_TOKEN');
    expect(await codeOf(find(other.token))).toBe('done');
  });

  it.each<[string, (personId: string) => Promise<unknown>]>([
    ['being disabled', (id) => changePerson(deps, { id }, { disabled: true }, 'a test')],
    ['another role', (id) => changePerson(deps, { id }, { role: 'ADMIN' }, 'a test')],
    ['a password that is reset', (id) => resetPassword(deps, { id }, 'a test')],
  ])('is ended by %s, at once', async (_why, end) => {
    const { email, personId } = await settled();
    const all = [await signIn(email, OWN), await signIn(email, OWN)];
    await end(personId);
    for (const { token } of all) expect(await codeOf(find(token))).toBe('INVALID_TOKEN');
  });

  it('survives a change of name', async () => {
    const { personId, token } = await inSession();
    await changePerson(deps, { id: personId }, { name: 'Another' }, 'a test');
    expect((await find(token)).person.name).toBe('Another');
  });

  it('survives a password change made in it; the person’s other sessions end', async () => {
    const { email } = await settled();
    const [here, elsewhere] = [await signIn(email, OWN), await signIn(email, OWN)];
    await changePassword(here.token, OWN, `${OWN}!`);
    expect(await codeOf(find(here.token))).toBe('done');
    expect(await codeOf(find(elsewhere.token))).toBe('INVALID_TOKEN');
  });

  it.each(['', 'ops_', `ops_${'a'.repeat(74)}`, `ops_${'a'.repeat(75)}`, `simway_test_${'a'.repeat(38)}`])(
    'is not opened by "%s", without a query',
    async (token) => {
      const { counted, statements } = await counting();
      expect(await codeOf(counted.authenticate(token, ADDRESS))).toBe('INVALID_TOKEN');
      expect(statements()).toBe(0);
    },
  );

  it('is a program’s or the dashboard’s, and works only there', async () => {
    const { email, token } = await inSession();
    const program = (await sessions.authenticate(token, ADDRESS)).browser;
    expect(await codeOf(sessions.find({ ...program, isProgram: false }))).toBe('SESSION_EXPIRED');
    const here = { clientAddress: ADDRESS, isForOperators: true };
    const { cookies } = await users.signIn({ email, password: OWN }, { ...here, cookie: undefined });
    const cookie = cookies[0]?.split(';', 1)[0];
    expect((await sessions.find({ ...here, cookie }))?.operator?.person.email).toBe(email);
    const [value = '', signature = ''] = decodeURIComponent(cookie?.split('=', 2)[1] ?? '').split('.');
    const asToken = `ops_${value}${Buffer.from(signature, 'base64').toString('base64url')}`;
    expect(asToken).toMatch(/^ops_[\w-]{75}$/);
    expect(await codeOf(find(asToken))).toBe('INVALID_TOKEN');
  });

  it('is opened for an operator who was checked in another way, unless they may not sign in', async () => {
    const { email, personId } = await settled();
    const until = new Date(Date.now() + SESSION_MS / 2);
    const open = (id: string, isTaken = true) =>
      openSession(deps, id, {
        address: ADDRESS,
        machine: 'adas-laptop',
        until,
        take: () => Promise.resolve(isTaken),
      });
    const { token, session } = await open(personId);
    expect(session.expiresAt).toEqual(until);
    // What lets the person in was withdrawn meanwhile.
    const kept = sql`select token from accounts.user_sessions where user_id = ${personId} order by token`;
    const { rows } = await kept.execute(books.owner);
    expect(await codeOf(open(personId, false))).toBe('UNAUTHORIZED');
    expect((await kept.execute(books.owner)).rows).toEqual(rows);
    expect((await find(token)).person.email).toBe(email);
    await changePerson(deps, { id: personId }, { disabled: true }, 'a test');
    expect(await codeOf(open(personId))).toBe('UNAUTHORIZED');
    const { id } = await merchant();
    expect(await codeOf(open(id))).toBe('UNAUTHORIZED');
  });

  it('is not opened by the right password of a user without a role', async () => {
    const { email } = await merchant();
    expect(await codeOf(signIn(email, OWN))).toBe('UNAUTHORIZED');
    // Nor is the merchant locked out by what is tried there.
    await fail(email, 10);
    const here = { clientAddress: ADDRESS, isForOperators: true, cookie: undefined };
    expect(await codeOf(users.signIn({ email, password: OWN }, here))).toBe('done');
  });

  it('that is being opened while the password is reset is not opened', async () => {
    const { email, personId } = await settled();
    const { isRight } = passwords;
    passwords.isRight = async (...given) => {
      passwords.isRight = isRight;
      await resetPassword(deps, { id: personId }, 'a test');
      return isRight(...given);
    };
    expect(await codeOf(signIn(email, OWN))).toBe('UNAUTHORIZED');
    expect(await deps.db.selectFrom('user_sessions').where('user_id', '=', personId).execute()).toEqual([]);
  });

  it('that waits for its code while the password is reset is not opened', async () => {
    const { email, personId } = await settled();
    const { browser } = await sessions.authenticate((await signIn(email, OWN)).token, ADDRESS);
    const session = (await sessions.find(browser))!;
    const { otpauthUri } = await users.addSecondFactor(session, OWN, browser);
    const secret = new URL(otpauthUri).searchParams.get('secret') ?? '';
    await users.confirmSecondFactor(session, totp(secret), browser);
    await sql`create function accounts.reset_now() returns trigger language plpgsql as $$ begin
      update accounts.user_credentials set password = 'scrypt$another' where user_id = new.user_id;
      return new; end $$`.execute(books.owner);
    await sql`create trigger reset_now before insert on accounts.used_codes for each row
      execute function accounts.reset_now()`.execute(books.owner);
    const login = { email, password: OWN, code: totp(secret, 1), address: ADDRESS };
    expect(await codeOf(sessions.signIn(login))).toBe('UNAUTHORIZED');
    await sql`drop function accounts.reset_now() cascade`.execute(books.owner);
    expect(await deps.db.selectFrom('user_sessions').where('user_id', '=', personId).execute()).toEqual([]);
  });

  it('keeps no password that was chosen in it while an administrator reset it', async () => {
    const { email, personId, token } = await inSession();
    const { hash } = passwords;
    passwords.hash = async (...given) => {
      passwords.hash = hash;
      await resetPassword(deps, { id: personId }, 'a test');
      return hash(...given);
    };
    expect(await codeOf(changePassword(token, OWN, `${OWN}?`))).toBe('UNAUTHORIZED');
    expect(await codeOf(signIn(email, `${OWN}?`))).toBe('UNAUTHORIZED');
  });

  it('cannot be checked while Postgres is away: that is no end of it', async () => {
    const { token } = await inSession();
    let isAway = false;
    const db = books.accounts.withPlugin({
      transformQuery: ({ node }) => {
        if (isAway) throw new Error('Connection terminated unexpectedly');
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });
    const { authenticate } = bindAll(depsOn(db), sessionUseCases);
    expect(await codeOf(authenticate(token, ADDRESS))).toBe('done');
    isAway = true;
    expect(await codeOf(authenticate(token, ADDRESS))).toBe('SERVICE_UNAVAILABLE');
  });
});

/** A user who has confirmed the address, without a role. */
async function merchant(): Promise<{ id: string; email: string }> {
  merchants += 1;
  const email = `merchant-${merchants}@merchant.example`;
  const passwordHash = await passwords.hash(OWN);
  return { id: await beginUserAnew(deps.db, { email, name: 'Merchant', passwordHash }), email };
}
let merchants = 0;

async function fail(email: string, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) expect(await codeOf(signIn(email, WRONG))).toBe('UNAUTHORIZED');
}

describe('wrong passwords', () => {
  it('nine in a row, then the right one: signs the person in, and resets the count', async () => {
    const { email } = await settled();
    for (let round = 0; round < 2; round += 1) {
      await fail(email, 9);
      expect(await codeOf(signIn(email, OWN))).toBe('done');
    }
  });

  it('ten in a row, at either sign-in, lock the person out of both for fifteen minutes, whatever is tried then', async () => {
    const { email, personId } = await settled();
    const here = { clientAddress: ADDRESS, isForOperators: true, cookie: undefined };
    const atDashboard = (password: string) => codeOf(users.signIn({ email, password }, here));
    for (let time = 0; time < 5; time += 1) expect(await atDashboard(WRONG)).toBe('UNAUTHORIZED');
    await fail(email, 5);
    expect(lockedOut.filter((one) => one === personId)).toEqual([personId]);
    expect(await atDashboard(OWN)).toBe('UNAUTHORIZED');
    for (let minute = 0; minute < 15; minute += 1) {
      expect(await codeOf(signIn(email, OWN))).toBe('UNAUTHORIZED');
      await fail(email, 2);
      pass(59_999);
    }
    pass(15);
    expect(await codeOf(signIn(email, OWN))).toBe('done');
    expect(LOCK_MS).toBe(15 * 60_000);
  });

  it('end no open session, and a new password ends the lock', async () => {
    const { email, personId, token } = await inSession();
    await fail(email, 10);
    expect(await codeOf(find(token))).toBe('done');
    const { firstHalf, person: view } = await resetPassword(deps, { id: personId }, 'a test');
    expect(view.lockedUntil).toBeNull();
    const { secondHalf } = await confirmAccess(deps, { id: personId }, 'SUPPORT', 'another test');
    expect(await codeOf(signIn(email, `${firstHalf}-${secondHalf}`))).toBe('done');
  });

  it('fifty at once count like fifty in sequence', async () => {
    const { email, personId } = await settled();
    const guesses = Array.from({ length: 50 }, () => codeOf(signIn(email, WRONG)));
    const codes = new Set(await Promise.all(guesses));
    // Some are answered that too many people sign in at the moment; there is no other answer.
    codes.delete('SERVICE_UNAVAILABLE');
    expect([...codes]).toEqual(['UNAUTHORIZED']);
    expect(lockedOut.filter((one) => one === personId)).toEqual([personId]);
    expect(await codeOf(signIn(email, OWN))).toBe('UNAUTHORIZED');
  });

  it('count in a session too: a stolen token does not allow guessing the password', async () => {
    const { email, token } = await inSession();
    const change = (current: string) => codeOf(changePassword(token, current, `${OWN}?`));
    for (let time = 0; time < 10; time += 1) expect(await change(WRONG)).toBe('UNAUTHORIZED');
    expect(await change(OWN)).toBe('UNAUTHORIZED');
    // The owner signs in all the same.
    expect(await codeOf(signIn(email, OWN))).toBe('done');
  });

  it('get the same answer after the same work for unknown, locked and disabled people, and for users without a role', async () => {
    const [locked, disabled, plain] = [await settled(), await settled(), await settled()];
    await fail(locked.email, 10);
    await changePerson(deps, { id: disabled.personId }, { disabled: true }, 'a test');
    const costs: object[] = [];
    for (const [email, password] of [
      ['unknown@operator.example', OWN],
      [plain.email, WRONG],
      [locked.email, WRONG],
      [locked.email, OWN],
      [disabled.email, WRONG],
      [disabled.email, OWN],
      [(await merchant()).email, OWN],
    ] as const) {
      const { counted, statements } = await counting();
      const hashedBefore = passwords.hashed;
      const refusal = await counted
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
    expect(costs).toEqual(Array.from({ length: 7 }, () => costs[0]));
    expect(costs[0]).toMatchObject({ code: 'UNAUTHORIZED', statements: 6, hashed: 1 });
  });
});

describe('the stored data', () => {
  it('contains no usable token and no password', async () => {
    const { email, personId, oneTime } = await person('ADMIN');
    const { token, session } = await signIn(email, oneTime);
    await changePassword(token, oneTime, OWN);
    await codeOf(signIn(email, `${OWN} mistyped`));
    await codeOf(signIn(`${OWN} in the wrong field`, OWN));
    await codeOf(sessions.authorise({ ...session, mustChangePassword: false }, 'people', about(personId)));
    const { rows } = await sql<{ text: string }>`
      select row_to_json(users)::text as text from users union all select row_to_json(s)::text from user_sessions s
      union all select row_to_json(c)::text from user_credentials c
      union all select row_to_json(audit_log)::text from audit_log`.execute(books.accounts);
    const all = rows.map((row) => row.text).join('\n');
    expect(all).toContain(email);
    for (const secret of [oneTime, OWN, token, token.slice(4), token.slice(36), 'wrong field'])
      expect(all).not.toContain(secret);
    expect(all).toContain('scrypt$ln=5,r=8,p=1$');
  });

  it('shows who tried what without the role for it', async () => {
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
});

const about = (subject: string) => ({ subject, requestId: 'r' });

async function counting() {
  let count = 0;
  const counted = depsOn(
    books.accounts.withPlugin({
      transformQuery: ({ node }) => {
        count += 1;
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    }),
  );
  // better-auth reads the tables once.
  await counted.auth.api.getSession({ headers: new Headers() });
  count = 0;
  return { counted: bindAll(counted, sessionUseCases), statements: () => count };
}
