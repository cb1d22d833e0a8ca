/** People on a real Postgres: who is made, listed and found, and what a one-time password opens. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { oneTimePassword } from '../../src/accounts/passwords.ts';
import { changePerson, createPerson, listPeople, resetPassword } from '../../src/accounts/people.ts';
import { refusalOf } from '../support/books.ts';
import { ADDRESS, codeOf, openOffice, OWN } from './people.support.ts';

const { audit, books, deps, pass, person, sessions, signIn } = await openOffice();

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
    pass(72 * 3_600_000 - 60_000);
    const { token } = await signIn(email, oneTime);
    pass(61_000);
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
