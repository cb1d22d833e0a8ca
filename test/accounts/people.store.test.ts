/** Operators on a real Postgres: how they are made, listed and found, and what a one-time password allows. */
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import type { Session } from '../../src/domain/callers.ts';
import { DAY_MS } from '../../src/domain/clock.ts';
import { oneTimePassword } from '../../src/accounts/users/passwords.ts';
import {
  changePerson,
  confirmAccess,
  createFirstAdmin,
  createPerson,
  listPeople,
  peopleUseCases,
  resetPassword,
} from '../../src/accounts/operators/people.ts';
import { beginUserAnew, findMemberships, findUser, insertMember } from '../../src/accounts/store/users.ts';
import { userUseCases } from '../../src/accounts/users/users.ts';
import { bindAll } from '../../src/platform/bind.ts';
import { makeAccount } from '../support/people/keys.ts';
import { refusalOf } from '../support/world/books.ts';
import { ADDRESS, codeOf, openOffice, OWN, WRONG } from './people.support.ts';

const { audit, books, changePassword, deps, find, pass, person, settled, signIn } = await openOffice();
/** For an installation without operators. */
const fresh = await openOffice();

describe('people', () => {
  it('are made once for an e-mail address, whatever its case', async () => {
    const { email } = await person();
    const again = createPerson(deps, { email: email.toUpperCase(), name: 'Again', role: 'ADMIN' }, 'a test');
    await expect(again).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: 'email: another person has it already',
    });
  });

  it('keep id and e-mail address forever, and are never removed', async () => {
    const { personId } = await person();
    const run = (text: string) => refusalOf(sql.raw(text).execute(books.accounts));
    for (const statement of [
      `update users set email = 'x@y.example' where id = '${personId}'`,
      `update users set id = 'user-${'0'.repeat(32)}' where id = '${personId}'`,
      `update operators set user_id = 'user-${'0'.repeat(32)}' where user_id = '${personId}'`,
      `delete from operators where user_id = '${personId}'`,
    ])
      expect(await run(statement)).toBe('permission denied');
    expect(await run(`delete from users where id = '${personId}'`)).toContain('operators_user_id_fkey');
  });

  it('are never made of a sign-up that was not confirmed, nor the other way round', async () => {
    const users = bindAll(deps, userUseCases);
    const email = 'not-yet@operator.example';
    const browser = { cookie: undefined, clientAddress: ADDRESS, isForOperators: true, requestId: 'r' };
    const signUp = { email, password: WRONG, name: 'Mallory', companyName: 'M', currency: 'USD' } as const;
    await users.signUp(signUp, browser);
    expect(await findUser(books.accounts, { email })).toBeUndefined();
    const made = await createPerson(deps, { email, name: 'Bo', role: 'FINANCE' }, 'a test');
    expect(await books.accounts.selectFrom('sign_ups').where('email', '=', email).execute()).toEqual([]);
    expect(await codeOf(users.signIn({ email, password: WRONG }, browser))).toBe('UNAUTHORIZED');
    await users.signUp(signUp, browser);
    expect(await findUser(books.accounts, { email })).toMatchObject({ id: made.person.personId, name: 'Bo' });
    expect(await codeOf(users.signIn({ email, password: WRONG }, browser))).toBe('UNAUTHORIZED');
  });

  it('who are merchants’ users keep their id and their accounts, and begin anew with a one-time password', async () => {
    const email = 'both@merchant.example';
    const passwordHash = await deps.passwords.hash(OWN);
    const id = await beginUserAnew(books.accounts, { email, name: 'Both', passwordHash });
    const accountId = await makeAccount(books.accounts);
    await insertMember(books.accounts, { account_id: accountId, user_id: id, role: 'OWNER' });
    const { person: made } = await createPerson(deps, { email, name: 'Both', role: 'FINANCE' }, 'a test');
    expect(made.personId).toBe(id);
    expect(await codeOf(signIn(email, OWN))).toBe('UNAUTHORIZED');
    expect(await findMemberships(books.accounts, id)).toMatchObject([{ role: 'OWNER' }]);
  });

  it('are listed newest first', async () => {
    const before = await listPeople(deps, { page: 1, limit: 100 });
    const { personId } = await person('FINANCE');
    const after = await listPeople(deps, { page: 1, limit: 100 });
    expect(after.total).toBe(before.total + 1);
    expect(after.items[0]).toMatchObject({ personId, role: 'FINANCE', mustChangePassword: true });
    expect(JSON.stringify(after)).not.toContain('scrypt');
  });

  it('who do not exist are not found', async () => {
    const unknown = { email: 'unknown@x.example' };
    expect(await codeOf(changePerson(deps, unknown, { disabled: true }, 'a test'))).toBe('NOT_FOUND');
    expect(await codeOf(resetPassword(deps, unknown, 'a test'))).toBe('NOT_FOUND');
  });
});

describe('access', () => {
  const newPerson = (email: string) => ({ email, name: 'Bo', role: 'FINANCE' as const });
  const confirm = (email: string, by: string, role: 'FINANCE' | 'ADMIN' = 'FINANCE') =>
    confirmAccess(deps, { email }, role, by);
  const changeAll = async (email: string, ...all: Parameters<typeof changePerson>[2][]) => {
    for (const changes of all) await changePerson(deps, { email }, changes, 'ada');
  };
  let made = 0;
  const newEmail = () => `access-${++made}@operator.example`;

  it('for a new person takes two people: neither half opens anything, and the second half is for the other administrator', async () => {
    const email = newEmail();
    const { firstHalf, person: view } = await createPerson(deps, newPerson(email), 'ada');
    expect(view.awaitsConfirmation).toMatchObject({ askedBy: 'ada' });
    expect(await codeOf(signIn(email, firstHalf))).toBe('UNAUTHORIZED');
    expect(await codeOf(confirm(email, ' ADA'))).toBe('FORBIDDEN');
    const { secondHalf, person: after } = await confirm(email, 'bayo');
    expect(after.awaitsConfirmation).toBeNull();
    expect(await codeOf(signIn(email, secondHalf))).toBe('UNAUTHORIZED');
    expect(await codeOf(signIn(email, `${firstHalf}-${secondHalf}`))).toBe('done');
    // It is shown once.
    expect(await codeOf(confirm(email, 'chidi'))).toBe('NOT_FOUND');
    expect(await audit(view.personId)).toContain('bayo: person.confirm');
  });

  it('is confirmed once, however many people confirm it at once', async () => {
    const email = newEmail();
    await createPerson(deps, newPerson(email), 'ada');
    const codes = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => codeOf(confirm(email, `b${nth}`))),
    );
    expect(codes.filter((code) => code === 'done').length).toBe(1);
    expect(codes.filter((code) => code === 'NOT_FOUND').length).toBe(9);
  });

  it('is confirmed for the role that was shown, not for a role assigned since', async () => {
    const email = newEmail();
    await createPerson(deps, { ...newPerson(email), role: 'SUPPORT' }, 'ada');
    await changePerson(deps, { email }, { role: 'ADMIN' }, 'ada');
    await expect(confirmAccess(deps, { email }, 'SUPPORT', 'bayo')).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: 'role: the person would be ADMIN',
    });
  });

  it.each<[string, (email: string) => Promise<unknown>]>([
    ['another role', (email) => changePerson(deps, { email }, { role: 'FINANCE' }, 'ada')],
    ['a new password', (email) => resetPassword(deps, { email }, 'ada')],
    ['being enabled', (email) => changeAll(email, { disabled: true }, { disabled: false })],
    [
      'another role while disabled, then being enabled',
      (email) => changeAll(email, { disabled: true }, { role: 'FINANCE' }, { disabled: false }),
    ],
  ])(
    'by %s takes two people as well: the person’s own password opens nothing until then',
    async (_how, change) => {
      const { email, personId } = await settled();
      await change(email);
      expect(await codeOf(signIn(email, OWN))).toBe('UNAUTHORIZED');
      const { role } = (await listPeople(deps, { page: 1, limit: 1_000 })).items.find(
        (one) => one.personId === personId,
      )!;
      expect(await codeOf(confirmAccess(deps, { email }, role, 'ada'))).toBe('FORBIDDEN');
      expect(await codeOf(confirmAccess(deps, { email }, role, 'bayo'))).toBe('done');
      expect(await codeOf(signIn(email, OWN))).toBe('UNAUTHORIZED');
    },
  );

  it('is not given by setting the same role, by enabling a person who is not disabled, or by a new name', async () => {
    const { email } = await settled('FINANCE');
    for (const changes of [{ role: 'FINANCE' as const }, { disabled: false }, { name: 'Another' }])
      expect((await changePerson(deps, { email }, changes, 'ada')).given).toBeUndefined();
    expect(await codeOf(signIn(email, OWN))).toBe('done');
  });

  it('that is given again, or disabled, voids the earlier half; a half expires after three days', async () => {
    const email = newEmail();
    const before = await createPerson(deps, newPerson(email), 'ada');
    const after = await resetPassword(deps, { email }, 'bayo');
    expect(await codeOf(confirm(email, 'bayo'))).toBe('FORBIDDEN');
    const { secondHalf } = await confirm(email, 'ada');
    expect(await codeOf(signIn(email, `${before.firstHalf}-${secondHalf}`))).toBe('UNAUTHORIZED');
    expect(await codeOf(signIn(email, `${after.firstHalf}-${secondHalf}`))).toBe('done');
    await resetPassword(deps, { email }, 'ada');
    await changePerson(deps, { email }, { disabled: true }, 'bayo');
    expect(await codeOf(confirm(email, 'chidi'))).toBe('NOT_FOUND');
    await changePerson(deps, { email }, { disabled: false }, 'ada');
    pass(72 * 3_600_000 + 1);
    expect(await codeOf(confirm(email, 'chidi'))).toBe('NOT_FOUND');
  });

  it('is on record with what it was before', async () => {
    const { personId } = await settled('OPERATIONS');
    for (const changes of [{ role: 'SUPPORT' }, { disabled: true }, { disabled: false }] as const)
      await changePerson(deps, { id: personId }, changes, 'ada');
    const entries = await books.accounts
      .selectFrom('audit_log')
      .select('detail')
      .where((eb) => eb.and({ subject: personId, action: 'person.change' }))
      .orderBy('id')
      .execute();
    expect(entries.map(({ detail }) => detail)).toEqual([
      { role: 'SUPPORT', formerRole: 'OPERATIONS' },
      { disabled: 'false → true' },
      { disabled: 'true → false' },
    ]);
  });

  it('cannot be confirmed by the person who gets it, not even in a session', async () => {
    const { email, personId } = await settled('ADMIN');
    const session = { person: { personId, email, name: 'A', role: 'ADMIN' } } as Session;
    const { person: bo } = await peopleUseCases.create(deps, session, newPerson(newEmail()));
    expect(await codeOf(peopleUseCases.confirm(deps, session, bo.personId, 'FINANCE'))).toBe('FORBIDDEN');
    await sql`update access_grants set confirmed_by = ${` ${email.toUpperCase()}`}, confirmed_at = now(), second_half = null
               where user_id = ${bo.personId}`
      .execute(books.accounts)
      .then(
        () => expect.fail('the database took it'),
        (error: unknown) => expect(String(error)).toContain('access_by_two_people'),
      );
  });

  it('of the first administrator is complete at once, and of no other', async () => {
    const first = await createFirstAdmin(fresh.deps, { email: 'first@x.example', name: 'First' }, 'ada');
    expect(await codeOf(fresh.signIn('first@x.example', first?.oneTimePassword ?? ''))).toBe('done');
    expect(await createFirstAdmin(fresh.deps, { email: 'second@x.example', name: 'Second' }, 'ada')).toBe(
      undefined,
    );
  });
});

describe('an administrator', () => {
  const outcomes: string[] = [];
  const guarded = {
    ...deps,
    events: { accessRemoved: ({ outcome }: { outcome: string }) => void outcomes.push(outcome) },
  };
  let made = 0;
  const admin = async () => {
    const email = `admin-${++made}@operator.example`;
    const { person: view } = await createPerson(deps, { email, name: 'Bo', role: 'ADMIN' }, 'the owner');
    await sql`update accounts.operators set one_time_until = null where user_id = ${view.personId}`.execute(
      books.owner,
    );
    const person = { personId: view.personId, email, name: 'Bo', role: 'ADMIN' as const };
    const now = new Date();
    const must = { mustChangePassword: false, mustAddSecondFactor: false };
    return { person, ...must, expiresAt: now, confirmedAt: now };
  };
  const disable = (by: Awaited<ReturnType<typeof admin>>, who: typeof by) =>
    peopleUseCases.change(guarded, by, who.person.personId, { disabled: true });
  const reset = (by: Awaited<ReturnType<typeof admin>>, who: typeof by) =>
    peopleUseCases.resetPassword(guarded, by, who.person.personId);
  /** Access that was given more than a day ago makes nobody dependent. */
  const settle = () =>
    sql`update accounts.access_grants set given_at = now() - interval '2 days'`.execute(books.owner);
  const open = async (count: number) => {
    await sql`update accounts.operators set disabled_at = now() where role = 'ADMIN'`.execute(books.owner);
    const all = [];
    for (let nth = 0; nth < count; nth += 1) all.push(await admin());
    await settle();
    return all;
  };

  it('is disabled, reset or demoted by two who ask for the same, within a day', async () => {
    const [ada, bayo, chidi] = await open(3);
    expect(await disable(ada!, chidi!)).toMatchObject({
      outcome: 'waits',
      person: { disabledAt: null, awaitsRemoval: { change: 'disable', askedBy: ada!.person.email } },
    });
    expect(await disable(ada!, chidi!)).toMatchObject({ outcome: 'waits' });
    // Another change is another request.
    expect(await reset(bayo!, chidi!)).toMatchObject({ outcome: 'waits' });
    expect(await disable(ada!, chidi!)).toMatchObject({ outcome: 'waits' });
    vi.setSystemTime(Date.now() + DAY_MS + 1);
    expect(await disable(bayo!, chidi!)).toMatchObject({ outcome: 'waits' });
    expect(await disable(ada!, chidi!)).toMatchObject({ outcome: 'done', person: { awaitsRemoval: null } });
    expect(outcomes).toEqual(['waits', 'waits', 'waits', 'waits', 'waits', 'done']);
  });

  it('is not removed where two would not remain, not even by two at once', async () => {
    const [ada, bayo, chidi] = await open(3);
    await disable(ada!, bayo!);
    await disable(bayo!, chidi!);
    const codes = await Promise.all([codeOf(disable(chidi!, bayo!)), codeOf(disable(ada!, chidi!))]);
    expect(codes.toSorted()).toEqual(['FORBIDDEN', 'done']);
  });

  it('resets and disables at most ten people and accounts in 24 hours', async () => {
    const [ada, bayo] = await open(2);
    const people = [];
    for (let nth = 0; nth < 11; nth += 1) {
      const email = `many-${nth}@operator.example`;
      people.push((await createPerson(deps, { email, name: 'Bo', role: 'SUPPORT' }, 'the owner')).person);
    }
    for (const { personId } of people.slice(0, 10))
      expect(await codeOf(peopleUseCases.resetPassword(guarded, ada!, personId))).toBe('done');
    const last = people[10]!.personId;
    expect(await codeOf(peopleUseCases.change(guarded, ada!, last, { disabled: true }))).toBe(
      'RATE_LIMIT_EXCEEDED',
    );
    expect(outcomes.at(-1)).toBe('refused');
    expect(await codeOf(peopleUseCases.change(guarded, bayo!, last, { disabled: true }))).toBe('done');
    // The database's clock does not stand still.
    vi.setSystemTime(Date.now() + DAY_MS + 60_000);
    expect(await codeOf(peopleUseCases.resetPassword(guarded, ada!, people[0]!.personId))).toBe('done');
  });
});

describe('a one-time password', () => {
  it('is different each time, and hard to misread', () => {
    const many = new Set(Array.from({ length: 1_000 }, oneTimePassword));
    expect(many.size).toBe(1_000);
    for (const one of many) expect(one).toMatch(/^[2-9A-HJ-NP-TV-Za-hj-km-np-tv-z]{5}(-\w{5}){3}$/);
  });

  it('expires after three days, in an open session too', async () => {
    const { email, oneTime } = await person();
    pass(72 * 3_600_000 - 60_000);
    const { token } = await signIn(email, oneTime);
    pass(61_000);
    expect(await codeOf(signIn(email, oneTime))).toBe('UNAUTHORIZED');
    expect(await codeOf(find(token))).toBe('INVALID_TOKEN');
  });

  it.each([
    ['too short', 'eleven char', 'at least 12 characters'],
    ['the same', undefined, 'must be another one'],
    ['common', 'Password2024!', 'must not be a common password'],
    ['its owner’s name', 'Operator.example', 'must not be made of your name'],
  ])('is not replaced by one that is %s', async (_why, next, detail) => {
    const { email, oneTime } = await person();
    const { token } = await signIn(email, oneTime);
    await expect(changePassword(token, oneTime, next ?? oneTime)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: expect.stringContaining(detail) as string,
    });
  });
});
