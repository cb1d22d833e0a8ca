// A command signs in as a person who lets it in, over HTTP: with a code that is right, wrong, old, foreign or
// used, by a person without rights, too fast, and after the person lost what they let in.
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DEVICE_CODE_MS, DEVICE_POLL_SECONDS } from '../../src/accounts/operators/device-logins.ts';
import { SESSION_MS } from '../../src/accounts/users/sessions.ts';
import { LOGINS_PER_MINUTE } from '../../src/platform/http/limits.ts';
import { openBooks } from '../support/world/books.ts';
import { startApi, type Reply, type TestApi } from '../support/http/api.ts';
import { openOperators, personOf, tokenOf } from '../support/http/operators.ts';
import { keyOf } from '../support/http/shop.ts';
import { forFile } from '../support/world/for-file.ts';

const PATH = '/ops/device-logins';

const books = await forFile(openBooks());
const ops = openOperators(books);
let api: TestApi;
beforeEach(async () => {
  await ops.reset();
  // A new one counts from nothing.
  api = await startApi({ ops });
});
afterEach(() => api.close());

const send = (path: string, body: object, token?: string): Promise<Reply> =>
  api.ask(`${PATH}${path}`, {
    method: 'POST',
    body,
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  });
const dataIn = (reply: Reply) => (reply.json as { data: Record<string, string> }).data;
/** Refusals of a session have their code in `error` itself. */
const codeIn = ({ status, json }: Reply) => {
  const { error } = json as { error: string | { code: string } };
  return [status, typeof error === 'string' ? error : error.code];
};
const FINANCE = tokenOf('FINANCE');
const approve = (userCode: string, token = FINANCE) => send('/approve', { userCode }, token);
const take = (deviceCode: string) => send('/token', { deviceCode });
const me = (token: string) => api.ask('/ops/me', { headers: { authorization: `Bearer ${token}` } });

async function ask(): Promise<{ deviceCode: string; userCode: string }> {
  const reply = await send('', { machine: 'adas-laptop' });
  expect(reply.status).toBe(201);
  return dataIn(reply) as { deviceCode: string; userCode: string };
}

/** As if this much time had passed for every code. */
const pass = (ms: number) =>
  sql`update accounts.device_logins set expires_at = expires_at - ${ms} * interval '1 millisecond',
             polled_at = polled_at - ${ms} * interval '1 millisecond'`.execute(books.owner);
const untilNextPoll = () => pass(DEVICE_POLL_SECONDS * 1_000);

it('gives the command a session of the person, once, and records who let in what', async () => {
  const { deviceCode, userCode } = await ask();
  expect(userCode).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
  expect((await take(deviceCode)).status).toBe(202);
  const typed = ` ${userCode.toLowerCase().replace('-', ' ')} `;
  const found = await send('/preview', { userCode: typed }, FINANCE);
  expect(dataIn(found)).toMatchObject({ machine: 'adas-laptop', address: '127.0.0.1' });
  expect((await approve(typed)).status).toBe(200);
  await untilNextPoll();
  const taken = await take(deviceCode);
  expect(taken.status).toBe(201);
  const { token, email } = dataIn(taken) as { token: string; email: string };
  expect(email).toBe('finance@operator.example');
  expect((await me(token)).status).toBe(200);
  expect(codeIn(await take(deviceCode))).toEqual([404, 'NOT_FOUND']);
  expect(codeIn(await approve(userCode))).toEqual([404, 'NOT_FOUND']);
  const audit = await books.accounts
    .selectFrom('audit_log')
    .select(['actor', 'action', 'detail'])
    .where('subject', '=', personOf('FINANCE'))
    .execute();
  expect(audit).toEqual([
    {
      actor: 'finance@operator.example',
      action: 'device-login.approve',
      detail: { machine: 'adas-laptop', address: '127.0.0.1', from: '127.0.0.1' },
    },
    { actor: 'finance@operator.example', action: 'session.open', detail: { address: '127.0.0.1' } },
  ]);
});

it('refuses a code that is wrong or old, to the person and to the command', async () => {
  const { deviceCode, userCode } = await ask();
  for (const wrong of ['BBBB-BBBB', userCode.slice(0, 4), deviceCode]) {
    expect(codeIn(await send('/preview', { userCode: wrong }, FINANCE))).toEqual([404, 'NOT_FOUND']);
    expect(codeIn(await approve(wrong))).toEqual([404, 'NOT_FOUND']);
  }
  for (const wrong of [userCode, 'x'.repeat(43)])
    expect(codeIn(await take(wrong))).toEqual([404, 'NOT_FOUND']);
  await pass(DEVICE_CODE_MS);
  expect(codeIn(await approve(userCode))).toEqual([404, 'NOT_FOUND']);
  expect(codeIn(await take(deviceCode))).toEqual([404, 'NOT_FOUND']);
  const late = await ask();
  await approve(late.userCode);
  await pass(DEVICE_CODE_MS);
  expect(codeIn(await take(late.deviceCode))).toEqual([404, 'NOT_FOUND']);
});

it('keeps no code that a dump would show', async () => {
  const { deviceCode, userCode } = await ask();
  const { rows } = await sql`select device_logins::text as row from accounts.device_logins`.execute(
    books.owner,
  );
  const kept = JSON.stringify(rows);
  for (const code of [deviceCode, userCode.replace('-', '')])
    for (const form of [code, Buffer.from(code).toString('hex').slice(0, 16)])
      expect(kept).not.toContain(form);
});

it('is let in by a person who has signed in and chosen a password, and by nobody else', async () => {
  const { deviceCode, userCode } = await ask();
  expect(codeIn(await send('/approve', { userCode }))).toEqual([401, 'UNAUTHORIZED']);
  expect(codeIn(await approve(userCode, keyOf('test', 'ngn')))).toEqual([401, 'INVALID_TOKEN']);
  expect(codeIn(await approve(userCode, tokenOf('NEW')))).toEqual([403, 'FORBIDDEN']);
  expect((await take(deviceCode)).status).toBe(202);
});

it('lets a second person neither in nor take over what another has let in', async () => {
  const { deviceCode, userCode } = await ask();
  await approve(userCode, tokenOf('SUPPORT'));
  expect(codeIn(await approve(userCode))).toEqual([404, 'NOT_FOUND']);
  expect(codeIn(await send('/preview', { userCode }, FINANCE))).toEqual([404, 'NOT_FOUND']);
  expect(dataIn(await take(deviceCode))['email']).toBe('support@operator.example');
});

it('refuses a command that polls too fast', async () => {
  const { deviceCode } = await ask();
  expect((await take(deviceCode)).status).toBe(202);
  const fast = await take(deviceCode);
  expect(codeIn(fast)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
  expect(fast.headers['retry-after']).toBe(String(DEVICE_POLL_SECONDS));
  await untilNextPoll();
  expect((await take(deviceCode)).status).toBe(202);
});

it('lets a person try only some codes a minute, and an address ask only for some', async () => {
  for (let tries = 0; tries < LOGINS_PER_MINUTE; tries += 1) await approve('BBBB-BBBB');
  const { userCode } = await ask();
  expect(codeIn(await approve(userCode))).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
  expect((await me(FINANCE)).status).toBe(200);
  for (let asked = 1; asked < LOGINS_PER_MINUTE; asked += 1) await ask();
  expect(codeIn(await send('', { machine: 'adas-laptop' }))).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
});

it('ends with the session that let it in, with the person’s access, and when it is signed out', async () => {
  const [here, disabled, signedOut] = [await ask(), await ask(), await ask()];
  const until = new Date(Date.now() + SESSION_MS / 2);
  const createdAt = new Date(until.getTime() - SESSION_MS);
  await sql`update accounts.user_sessions set created_at = ${createdAt}`.execute(books.owner);
  await Promise.all([here, disabled, signedOut].map(({ userCode }) => approve(userCode)));
  const { expiresAt, token } = dataIn(await take(here.deviceCode)) as { expiresAt: string; token: string };
  expect(new Date(expiresAt)).toEqual(until);
  const { token: another } = dataIn(await take(signedOut.deviceCode)) as { token: string };
  const signOut = { method: 'DELETE', headers: { authorization: `Bearer ${another}` } };
  expect((await api.ask('/ops/sessions/current', signOut)).status).toBe(200);
  expect(codeIn(await me(another))).toEqual([401, 'INVALID_TOKEN']);
  const admin = { authorization: `Bearer ${tokenOf('ADMIN')}` };
  const reset = `/ops/people/${personOf('FINANCE')}/reset-password`;
  expect((await api.ask(reset, { method: 'POST', headers: admin })).status).toBe(200);
  expect(codeIn(await me(token))).toEqual([401, 'INVALID_TOKEN']);
  expect(codeIn(await take(disabled.deviceCode))).toEqual([404, 'NOT_FOUND']);
});

it('is not approved by a session that has ended since its request began', async () => {
  const { deviceCode, userCode } = await ask();
  const { session, browser } = await ops.sessions.authenticate(FINANCE, '127.0.0.1');
  await sql`delete from accounts.user_sessions where user_id = ${personOf('FINANCE')}`.execute(books.owner);
  await expect(ops.deviceLogins.approve(session, userCode, browser)).rejects.toMatchObject({
    code: 'INVALID_TOKEN',
  });
  expect((await take(deviceCode)).status).toBe(202);
});
