// Requests with the session cookie: only our own pages may send them, and operators sign in on the same
// routes as users.
import { describe, expect, it } from 'vitest';
import { opsRoutes } from '../../src/app/routes/ops-routes.ts';
import { ROLES, type Role } from '../../src/domain/operator-roles.ts';
import {
  addSecondFactor,
  codeOf,
  data,
  mailOf,
  me,
  messageOf,
  openBrowser,
  signedUp,
  signIn,
  tokenOf,
  totp,
  uniqueEmail,
  USER_PASSWORD,
} from '../support/people/dashboard.ts';
import { PASSWORD, SIGN_IN_ENV, signedIn, signIn as programSignIn } from '../support/people/people.ts';
import { startStack } from '../support/world/stack.ts';
import { forFile } from '../support/world/for-file.ts';

const stack = await forFile(startStack({ env: SIGN_IN_ENV }));

const inTest = (accountId: string) => ({ 'Simway-Account': accountId, 'Simway-Environment': 'test' });

describe('protection against cross-site requests', () => {
  it.each([
    ['another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }, 403],
    ['a neighbour of ours', { 'Sec-Fetch-Site': 'same-site' }, 403],
    ['typed into the address bar', { 'Sec-Fetch-Site': 'none' }, 403],
    ['our page', { 'Sec-Fetch-Site': 'same-origin' }, 200],
  ])('%s: %o', async (_what, headers, status) => {
    const { browser } = await signedUp(stack);
    expect((await browser.call('DELETE', '/auth/sessions/current', { headers })).status).toBe(status);
  });

  it('falls back to Origin without Sec-Fetch-Site; a change without either header is refused', async () => {
    const user = await signedUp(stack);
    const cookie = Array.from(user.browser.cookies, ([name, value]) => `${name}=${value}`).join('; ');
    const headers = { Cookie: cookie, ...inTest(user.accountId) };
    const change = (more: Record<string, string>) =>
      stack.call('PATCH', '/account', { body: { name: 'Another name' }, headers: { ...headers, ...more } });
    const buy = (more: Record<string, string>) =>
      stack.call('POST', '/api/esim/buy', { body: {}, headers: { ...headers, ...more } });
    const strange: Record<string, string>[] = [{}, { Origin: 'null' }, { Origin: 'https://evil.example' }];
    for (const foreign of strange) {
      expect(codeOf(await change(foreign))).toBe('FORBIDDEN');
      expect((await buy(foreign)).status).toBe(403);
    }
    expect((await change({ Origin: new URL(stack.apiUrl).origin })).status).toBe(200);
    expect((await buy({ Origin: new URL(stack.apiUrl).origin })).status).toBe(400);
    // Another name of this machine is another site, also where Host and Origin agree.
    const elsewhere = stack.apiUrl.replace('127.0.0.1', 'localhost');
    const forged = await fetch(`${elsewhere}/account`, {
      method: 'PATCH',
      body: '{"name":"Another name"}',
      headers: { ...headers, 'Content-Type': 'application/json', Origin: new URL(elsewhere).origin },
    });
    expect(forged.status).toBe(403);
    // Reads need neither header.
    expect((await stack.call('GET', '/account', { headers })).status).toBe(200);
  });

  it('does not let another site sign anyone in', async () => {
    const { email } = await signedUp(stack);
    const answer = await openBrowser(stack).call('POST', '/auth/sessions', {
      body: { email, password: USER_PASSWORD },
      headers: { 'Sec-Fetch-Site': 'cross-site' },
    });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
  });
});

describe('a session in place of an API key', () => {
  it('needs the account and the environment; where a key is sent too, only the key counts', async () => {
    const [owner, account] = await Promise.all([
      signedUp(stack),
      stack.account({ addresses: ['127.0.0.0/8'] }),
    ]);
    const balance = (headers: Record<string, string>) =>
      owner.browser.call('GET', '/api/wallet/balance', { headers });
    const missing = await balance({});
    expect(messageOf(missing)).toContain('Simway-Account: is required');
    expect(messageOf(missing)).toContain('Simway-Environment: must be one of live, test');
    const live = await balance({ 'Simway-Account': owner.accountId, 'Simway-Environment': 'live' });
    expect([live.status, codeOf(live)]).toEqual([503, 'ENVIRONMENT_UNAVAILABLE']);
    const unknown = await balance(inTest(`acc-${'0'.repeat(32)}`));
    const foreign = await balance(inTest(account.accountId));
    expect([foreign.status, foreign.body]).toEqual([403, unknown.body]);
    const own = await balance(inTest(owner.accountId));
    expect([own.status, own.headers.get('x-ratelimit-limit')]).toEqual([200, '600']);
    const keyed = await balance({ 'X-API-Key': account.apiKey });
    expect(keyed.text).toContain('1000');
    expect((await balance({ 'X-API-Key': 'junk' })).status).toBe(401);
  });
});

/** Every route with a session that only reads, as far as a role must allow it. */
const SESSION_READS = opsRoutes({ version: '1' })
  .filter(({ key, method, permission }) => key === 'session' && method === 'GET' && permission !== 'own')
  .map(({ path }) => path)
  .filter((path) => !path.includes('{'));

/** By two administrators. The one-time password. */
async function madeOperator(email: string, role: Role = 'SUPPORT'): Promise<string> {
  const [admin, second] = [await signedIn(stack, 'ADMIN'), await signedIn(stack, 'ADMIN')];
  const created = await admin.call('POST', '/ops/people', { email, name: 'New', role });
  const { person, firstHalf } = data<{ person: { personId: string }; firstHalf: string }>(created);
  const confirm = `/ops/people/${person.personId}/confirm`;
  const confirmed = await second.call('POST', confirm, { role });
  return `${firstHalf}-${data<{ secondHalf: string }>(confirmed).secondHalf}`;
}

describe('operators', () => {
  it('sign in on the same route as users, and use /ops by cookie from our own pages only', async () => {
    const person = await signedIn(stack, 'FINANCE');
    const browser = openBrowser(stack);
    expect((await signIn(browser, person.email, 'wrong')).status).toBe(401);
    expect(data(await signIn(browser, person.email, PASSWORD))).toEqual({ secondFactor: false });
    expect(data(await me(browser))).toMatchObject({
      user: { email: person.email },
      memberships: [],
      operator: { personId: person.personId, role: 'FINANCE', mustChangePassword: false },
    });
    expect((await browser.call('GET', '/ops/stuck')).status).toBe(200);
    const foreign = { 'Sec-Fetch-Site': 'cross-site' };
    expect((await browser.call('POST', '/ops/reconciliations', { body: {}, headers: foreign })).status).toBe(
      403,
    );
    // An operator is a member of no account.
    const account = await stack.account();
    const ofAccount = await browser.call('GET', '/account', { headers: inTest(account.accountId) });
    expect(ofAccount.status).toBe(403);
    await browser.call('DELETE', '/auth/sessions/current');
    expect((await browser.call('GET', '/ops/stuck')).status).toBe(401);
    // The program's token keeps working.
    expect((await person.call('GET', '/ops/stuck')).status).toBe(200);
  });

  it('have a second factor, which programs send along; a password reset by an administrator ends every session', async () => {
    const person = await signedIn(stack, 'OPERATIONS');
    const browser = openBrowser(stack);
    await signIn(browser, person.email, PASSWORD);
    const { secret, recoveryCodes } = await addSecondFactor(browser, PASSWORD);
    expect(data(await signIn(openBrowser(stack), person.email, PASSWORD))).toEqual({ secondFactor: true });

    // The program's token was issued without a code.
    expect((await person.call('GET', '/ops/stuck')).status).toBe(401);
    const login = { email: person.email, password: PASSWORD };
    const noCode = await programSignIn(stack, login);
    expect(messageOf(noCode)).toBe('Send a code of your second factor too, as `code`');
    const program = async (code = '') => (await programSignIn(stack, { ...login, code })).status;
    expect(await program('000000')).toBe(401);
    for (const code of [totp(secret, 1), recoveryCodes[0]])
      expect([await program(code), await program(code)]).toEqual([201, 401]);

    expect((await browser.call('GET', '/ops/stuck')).status).toBe(200);
    const admin = await signedIn(stack, 'ADMIN');
    expect((await admin.call('POST', `/ops/people/${person.personId}/reset-password`)).status).toBe(200);
    for (const path of ['/ops/stuck', '/auth/me'])
      expect(codeOf(await browser.call('GET', path))).toBe('SESSION_EXPIRED');
    expect((await signIn(openBrowser(stack), person.email, PASSWORD)).status).toBe(401);
    // A mail never resets an operator's password.
    const asked = await openBrowser(stack).call('POST', '/auth/password-resets', {
      body: { email: person.email },
    });
    expect([asked.status, mailOf(asked)]).toEqual([202, undefined]);
  });

  it('with a one-time password must first choose another, and stay signed in', async () => {
    const email = uniqueEmail('new');
    const oneTime = await madeOperator(email);
    const browser = openBrowser(stack);
    expect((await signIn(browser, email, oneTime)).status).toBe(200);
    expect(data(await me(browser))).toMatchObject({ operator: { mustChangePassword: true } });
    expect((await browser.call('GET', '/ops/stuck')).status).toBe(403);
    for (const [method, path, body] of [
      ['POST', '/auth/me/second-factor', { password: oneTime }],
      ['POST', '/auth/me/second-factor/confirm', { code: '000000' }],
      ['DELETE', '/auth/me/second-factor', { password: oneTime }],
    ] as const)
      expect((await browser.call(method, path, { body })).status, `${method} ${path}`).toBe(403);
    const change = { currentPassword: oneTime, newPassword: USER_PASSWORD };
    expect((await browser.call('POST', '/auth/me/password', { body: change })).status).toBe(200);
    expect((await browser.call('GET', '/ops/stuck')).status).toBe(200);
    expect((await signIn(openBrowser(stack), email, oneTime)).status).toBe(401);
    expect((await programSignIn(stack, { email, password: USER_PASSWORD })).status).toBe(201);
    expect((await signIn(openBrowser(stack), email)).status).toBe(200);
    expect((await browser.call('DELETE', '/ops/sessions/current')).status).toBe(200);
    expect((await me(browser)).status).toBe(401);
  });

  it.each(ROLES)(
    'as %s do nothing before they have the second factor that their role takes',
    async (role) => {
      const email = uniqueEmail('new');
      const browser = openBrowser(stack);
      const oneTime = await madeOperator(email, role);
      await signIn(browser, email, oneTime);
      const change = { currentPassword: oneTime, newPassword: USER_PASSWORD };
      expect((await browser.call('POST', '/auth/me/password', { body: change })).status).toBe(200);
      const isTaken = role !== 'SUPPORT';
      expect(data(await me(browser))).toMatchObject({ operator: { mustAddSecondFactor: isTaken } });
      for (const path of SESSION_READS)
        expect((await browser.call('GET', path)).text.includes('"SECOND_FACTOR_REQUIRED"'), path).toBe(
          isTaken,
        );
      const token = data<{ token: string }>(
        await programSignIn(stack, { email, password: USER_PASSWORD }),
      ).token;
      const headers = { Authorization: `Bearer ${token}` };
      const asked = await stack.call('GET', '/ops/stuck', { headers });
      expect([asked.status, codeOf(asked)]).toEqual(isTaken ? [403, 'SECOND_FACTOR_REQUIRED'] : [200, '']);
      expect((await stack.call('GET', '/ops/me', { headers })).status).toBe(200);
      if (!isTaken) return;
      await addSecondFactor(browser);
      expect((await browser.call('GET', '/ops/stuck')).status).toBe(200);
      expect(data(await me(browser))).toMatchObject({ operator: { mustAddSecondFactor: false } });
    },
  );

  it('who were merchants’ users lose their earlier links, sessions and second factors: none opens /ops', async () => {
    const user = await signedUp(stack);
    const link = await openBrowser(stack).call('POST', '/auth/password-resets', {
      body: { email: user.email },
    });
    await addSecondFactor(user.browser);
    const oneTime = await madeOperator(user.email);
    expect(codeOf(await me(user.browser))).toBe('SESSION_EXPIRED');
    const reset = await openBrowser(stack).call('POST', '/auth/password-resets/confirm', {
      body: { token: tokenOf(mailOf(link)), newPassword: 'a password by mail' },
    });
    expect([reset.status, codeOf(reset)]).toEqual([400, 'VALIDATION_ERROR']);
    expect(data(await signIn(openBrowser(stack), user.email, oneTime))).toEqual({ secondFactor: false });
  });

  it('get 404 from addresses outside SIMWAY_OPS_ADDRESSES', async () => {
    const person = await signedIn(stack, 'ADMIN');
    const away = { headers: { 'X-Forwarded-For': '203.0.113.99' } };
    const browser = openBrowser(stack);
    const tried = await browser.call('POST', '/auth/sessions', {
      body: { email: person.email, password: PASSWORD },
      ...away,
    });
    expect(tried.status).toBe(401);
    await signIn(browser, person.email, PASSWORD);
    for (const path of ['/auth/me', '/ops/me'])
      expect(codeOf(await browser.call('GET', path, away))).toBe('IP_NOT_WHITELISTED');
  });
});
