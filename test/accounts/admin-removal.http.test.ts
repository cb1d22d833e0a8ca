// Administrators are removed by two, over HTTP: the first request changes nothing, a second administrator
// makes it, two remain, and one person removes ten a day.
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { MAX_REMOVALS_A_DAY } from '../../src/accounts/operators/removals.ts';
import { startApi } from '../support/http/api.ts';
import { openOperators, personOf, tokenOf } from '../support/http/operators.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

/** Administrators at work in each test; `NEW` is the one to be removed. */
const ADMINS = ['ADMIN', 'NEW', 'ASKER'] as const;
type Admin = (typeof ADMINS)[number];

const books = await forFile(openBooks());
const ops = openOperators(books);
const api = await forFile(startApi({ ops }));

beforeEach(async () => {
  await ops.reset();
  await books.accounts
    .updateTable('operators')
    .set({ role: 'ADMIN', one_time_until: null })
    .where('user_id', 'in', ADMINS.map(personOf))
    .execute();
});

const send = (as: Admin, method: string, target: string, body?: object) =>
  api.ask(target, { method, headers: { authorization: `Bearer ${tokenOf(as)}` }, ...(body && { body }) });
const onPerson = (who: Parameters<typeof personOf>[0]) => `/ops/people/${personOf(who)}`;
/** Whom mails tell of a request. */
async function told(): Promise<Set<string>> {
  const notices = books.accounts.selectFrom('user_notices').select('user_id');
  return new Set((await notices.where('kind', '=', 'removal-asked').execute()).map((row) => row.user_id));
}
const isSignedIn = async (who: Admin) => (await send(who, 'GET', '/ops/me')).status === 200;

describe.each([
  ['disabled', 'PATCH', '', { disabled: true }],
  ['demoted', 'PATCH', '', { role: 'SUPPORT' }],
  ['reset', 'POST', '/reset-password', undefined],
] as const)('an administrator', (what, method, path, body) => {
  test(`is ${what} by two who ask for the same, and stays signed in until then`, async () => {
    const ask = (as: Admin) => send(as, method, `${onPerson('NEW')}${path}`, body);
    for (const reply of [await ask('ADMIN'), await ask('ADMIN')]) {
      expect(reply.status).toBe(202);
      expect(reply.json).toMatchObject({
        data: { outcome: 'waits', person: { awaitsRemoval: { askedBy: 'admin@operator.example' } } },
      });
      expect(await isSignedIn('NEW')).toBe(true);
    }
    expect(await told()).toEqual(new Set([personOf('ADMIN'), personOf('ASKER')]));
    const made = await ask('ASKER');
    expect(made.status).toBe(200);
    expect(made.json).toMatchObject({ data: { outcome: 'done', person: { awaitsRemoval: null } } });
    expect(await isSignedIn('NEW')).toBe(false);
  });

  test(`is not ${what} where two would not remain`, async () => {
    await books.accounts
      .updateTable('operators')
      .set({ role: 'FINANCE' })
      .where('user_id', '=', personOf('ASKER'))
      .execute();
    const reply = await send('ADMIN', method, `${onPerson('NEW')}${path}`, body);
    expect(reply.status).toBe(403);
    expect(JSON.stringify(reply.json)).toContain('Two administrators at work must remain');
    expect(await isSignedIn('NEW')).toBe(true);
  });
});

test('an administrator is not removed by two who ask for different things, nor by one and somebody whom they let in', async () => {
  const reset = (as: Admin) => send(as, 'POST', `${onPerson('NEW')}/reset-password`);
  expect((await reset('ADMIN')).status).toBe(202);
  expect((await send('ASKER', 'PATCH', onPerson('NEW'), { disabled: true })).status).toBe(202);
  const asker = personOf('ASKER');
  const { email } = await books.accounts
    .selectFrom('users')
    .select('email')
    .where('id', '=', asker)
    .executeTakeFirstOrThrow();
  const grant = { user_id: asker, email, role: 'ADMIN', given_by: 'admin@operator.example' } as const;
  await books.accounts
    .insertInto('access_grants')
    .values({ ...grant, given_at: new Date() })
    .execute();
  expect((await reset('ASKER')).status).toBe(202);
  expect(await isSignedIn('NEW')).toBe(true);
  await sql`delete from accounts.access_grants`.execute(books.owner);
  expect((await reset('ASKER')).status).toBe(200);
});

test('the administrators are told of the first of two requests to remove a second factor', async () => {
  await books.accounts
    .updateTable('users')
    .set({ two_factor_enabled: true })
    .where('id', '=', personOf('OTHER'))
    .execute();
  const ask = (as: Admin) =>
    send(as, 'POST', `${onPerson('OTHER')}/remove-second-factor`, { evidence: 'a ticket' });
  expect((await ask('ADMIN')).json).toMatchObject({ data: { outcome: 'waits' } });
  expect((await ask('ASKER')).json).toMatchObject({ data: { outcome: 'done' } });
  expect(await told()).toEqual(new Set(ADMINS.map(personOf)));
});

test('one administrator removes the access of ten a day; another one goes on', async () => {
  const reset = (as: Admin) => send(as, 'POST', `${onPerson('OTHER')}/reset-password`);
  for (let nth = 0; nth < MAX_REMOVALS_A_DAY; nth += 1) expect((await reset('ADMIN')).status).toBe(200);
  const refused = await reset('ADMIN');
  expect(refused.status).toBe(429);
  expect(refused.headers['retry-after']).toBe('3600');
  expect((await reset('ASKER')).status).toBe(200);
});
