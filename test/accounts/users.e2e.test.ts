// Users of the dashboard: sign-up, sign-in, sessions, second factors, invitations, keys, recent requests. On
// the whole service.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readContract } from '../support/http/contract.ts';
import type { Reply } from '../support/http/api.ts';
import {
  accountOf,
  addSecondFactor,
  askAboutColleagues,
  codeOf,
  data,
  answers,
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
  type Browser,
  type User,
} from '../support/people/dashboard.ts';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { startInbox, type Inbox } from '../support/people/webhook-inbox.ts';

let stack: Stack;
let inbox: Inbox;
beforeAll(async () => {
  [stack, inbox] = await Promise.all([startStack({ env: SIGN_IN_ENV }), startInbox()]);
});
afterAll(async () => {
  await stack.close();
  await inbox.close();
});

describe('signing up', () => {
  const body = (email: string) => ({
    email,
    password: USER_PASSWORD,
    name: 'Grace',
    companyName: 'Grace Travel',
    currency: 'NGN',
  });

  it('takes a mail, a link, an account with its owner, a key, and a first call with the key', async () => {
    const browser = openBrowser(stack);
    const email = uniqueEmail('grace');
    const sent = await browser.call('POST', '/auth/users', { body: body(email.toUpperCase()) });
    expect([sent.status, browser.setCookies]).toEqual([202, []]);
    expect(mailOf(sent)).toMatchObject({ to: email, subject: 'Confirm your e-mail address' });
    expect(mailOf(sent)?.text).toContain(mailOf(sent)?.link);
    // Browsers send no server the part behind #.
    expect(new URL(mailOf(sent)!.link).search).toBe('');

    const early = await signIn(browser, email);
    expect([early.status, codeOf(early)]).toEqual([403, 'FORBIDDEN']);
    expect((await me(browser)).status).toBe(401);

    const token = tokenOf(mailOf(sent));
    const confirm = (given: object) =>
      openBrowser(stack).call('POST', '/auth/users/confirm', { body: { token, ...given } });
    const wrong = await confirm({ password: 'a password of a stranger' });
    expect([wrong.status, codeOf(wrong), wrong.headers.getSetCookie()]).toEqual([401, 'UNAUTHORIZED', []]);
    expect(messageOf(await confirm({}))).toContain('password: is required');
    const password = USER_PASSWORD;
    const confirmed = await browser.call('POST', '/auth/users/confirm', { body: { token, password } });
    expect([confirmed.status, data(confirmed)]).toEqual([200, { secondFactor: false }]);
    const found = data<{ user: object; memberships: object[]; environments: string[]; operator: null }>(
      await me(browser),
    );
    expect(found).toMatchObject({
      user: { email, name: 'Grace', hasSecondFactor: false },
      memberships: [{ accountName: 'Grace Travel', currency: 'NGN', plan: 'STANDARD', role: 'OWNER' }],
      environments: ['test'],
      operator: null,
    });

    const again = await confirm({ password });
    expect([again.status, codeOf(again)]).toEqual([400, 'VALIDATION_ERROR']);
    const [head, payload] = token.split('.');
    for (const forged of ['x.y.z', 'x', `${head}.${payload}.${'A'.repeat(43)}`])
      expect((await confirm({ token: forged, password })).status).toBe(400);

    const headers = { 'Simway-Account': await accountOf(browser), 'Simway-Environment': 'test' };
    const key = {
      companyName: 'Grace Travel',
      websiteUrl: `${inbox.url}/website`,
      allowedAddresses: ['127.0.0.0/8', '::1'],
      webhookUrl: `${inbox.url}/hooks`,
      scopes: ['read'],
    };
    const made = await browser.call('POST', '/account/keys', { body: key, headers });
    expect(made.status, made.text).toBe(201);
    const { apiKey, keyId, webhook } = data<{ apiKey: string; keyId: string; webhook: { secret: string } }>(
      made,
    );
    expect(apiKey).toMatch(/^simway_test_/);
    expect(webhook.secret).toMatch(/^whsec_/);
    const called = await stack.call('GET', '/api/wallet/balance', { key: apiKey });
    expect(called.status).toBe(200);
    const refused = await stack.call('POST', '/api/esim/buy', { key: apiKey, body: {} });
    expect(refused.status).toBe(403);

    const shown = `simway_test_…${apiKey.slice(-4)}`;
    const listed = await browser.call('GET', '/account/keys', { headers });
    expect(data(listed)).toMatchObject({ items: [{ keyId, key: shown, revokedAt: null }] });
    expect(listed.text).not.toContain(apiKey);

    const logged = await until(
      () => browser.call('GET', '/account/requests', { headers }),
      (answer) => data<{ items: object[] }>(answer).items.length === 2,
      { what: 'the requests of the key in the log' },
    );
    expect(data(logged)).toMatchObject({
      items: [
        { method: 'POST', path: '/api/esim/buy', status: 403, errorCode: 'FORBIDDEN', keyId, key: shown },
        { method: 'GET', path: '/api/wallet/balance', status: 200, errorCode: null, keyId, key: shown },
      ],
      nextCursor: null,
    });
    const first = data<{ items: { path: string }[]; nextCursor: string }>(
      await browser.call('GET', '/account/requests?limit=1', { headers }),
    );
    const second = data<{ items: { path: string }[]; nextCursor: null }>(
      await browser.call('GET', `/account/requests?limit=1&cursor=${first.nextCursor}`, { headers }),
    );
    expect([first, second].flatMap(({ items }) => items.map(({ path }) => path))).toEqual([
      '/api/esim/buy',
      '/api/wallet/balance',
    ]);
    expect(second.nextCursor).toBeNull();
    const requestId = called.headers.get('x-request-id') ?? '';
    const named = await browser.call('GET', `/account/requests?requestId=${requestId}`, { headers });
    expect(data<{ items: object[] }>(named).items).toEqual([
      expect.objectContaining({ requestId, path: '/api/wallet/balance' }),
    ]);

    expect((await browser.call('DELETE', `/account/keys/${keyId}`, { headers })).status).toBe(200);
    await until(
      () => stack.call('GET', '/api/wallet/balance', { key: apiKey }),
      ({ status }) => status === 401,
      { what: 'the key is revoked' },
    );
  });

  it('with a known address gets the same answer, and a mail that says so', async () => {
    const known = await signedUp(stack);
    const sent = await openBrowser(stack).call('POST', '/auth/users', { body: body(known.email) });
    expect(sent.status).toBe(202);
    expect(mailOf(sent)).toMatchObject({ to: known.email, subject: 'You have an account already' });
    expect((await me(known.browser)).status).toBe(200);
  });

  it('again replaces an unconfirmed sign-up: the earlier link no longer works', async () => {
    const email = uniqueEmail('twice');
    const stranger = await openBrowser(stack).call('POST', '/auth/users', {
      body: { ...body(email), password: 'a password of a stranger' },
    });
    const browser = openBrowser(stack);
    const owner = await browser.call('POST', '/auth/users', { body: body(email) });
    const early = await browser.call('POST', '/auth/users/confirm', {
      body: { token: tokenOf(mailOf(stranger)), password: 'a password of a stranger' },
    });
    expect(early.status).toBe(400);
    const body2 = { token: tokenOf(mailOf(owner)), password: USER_PASSWORD };
    expect((await browser.call('POST', '/auth/users/confirm', { body: body2 })).status).toBe(200);
    expect((await signIn(openBrowser(stack), email, 'a password of a stranger')).status).toBe(401);
    expect((await signIn(openBrowser(stack), email)).status).toBe(200);
  });

  it('with another person’s address gives the stranger no access: the owner of the mailbox sets another password', async () => {
    const email = uniqueEmail('owner');
    const browser = openBrowser(stack);
    const own = await browser.call('POST', '/auth/users', { body: body(email) });
    const mallory = { ...body(email), password: 'a password of a stranger' };
    const second = await openBrowser(stack).call('POST', '/auth/users', { body: mallory });
    const confirm = (answer: Answer) =>
      browser.call('POST', '/auth/users/confirm', {
        body: { token: tokenOf(mailOf(answer)), password: USER_PASSWORD },
      });
    // The first link is void, and the second one belongs to the stranger's sign-up.
    expect([(await confirm(own)).status, (await confirm(second)).status]).toEqual([400, 401]);
    expect((await signIn(openBrowser(stack), email, mallory.password)).status).toBe(403);
    const third = await browser.call('POST', '/auth/users', { body: body(email) });
    expect((await confirm(third)).status).toBe(200);
    expect((await signIn(openBrowser(stack), email, mallory.password)).status).toBe(401);
  });

  it.each([
    [{ password: 'short' }, 'password: must have at least 12 characters'],
    [{ password: 'password1234' }, 'password: must not be a common password'],
    [{ email: 'not-an-address' }, 'email: must be an e-mail address'],
    [{ currency: 'EUR' }, 'currency: must be one of NGN, USD'],
    [{ companyName: '' }, 'companyName: must not be empty'],
  ])('refuses %o and names its field', async (wrong, message) => {
    const answer = await openBrowser(stack).call('POST', '/auth/users', {
      body: { ...body(uniqueEmail('weak')), ...wrong },
    });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'VALIDATION_ERROR']);
    expect(messageOf(answer)).toContain(message);
  });
});

describe('signing in', () => {
  it('sets a cookie that scripts cannot read and other sites cannot send; signing out ends it', async () => {
    const { email } = await signedUp(stack);
    const browser = openBrowser(stack);
    expect(data(await signIn(browser, email.toUpperCase()))).toEqual({ secondFactor: false });
    expect(browser.setCookies).toHaveLength(1);
    expect(browser.setCookies[0]).toMatch(
      /^simway_session=[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const stolen = browser.cookies.get('simway_session') ?? '';
    expect((await me(browser)).status).toBe(200);
    expect((await browser.call('DELETE', '/auth/sessions/current')).status).toBe(200);
    expect(browser.cookies.size).toBe(0);
    const thief = openBrowser(stack);
    thief.cookies.set('simway_session', stolen);
    const late = await me(thief);
    expect([late.status, codeOf(late)]).toEqual([401, 'SESSION_EXPIRED']);
  });

  it('with a token as stored in the database is refused: the cookie is signed', async () => {
    const { browser } = await signedUp(stack);
    const [token = ''] = (browser.cookies.get('simway_session') ?? '').split('.');
    const { rows } =
      await sql`select 1 from accounts.user_sessions where token = ${decodeURIComponent(token)}`.execute(
        stack.owner,
      );
    expect(rows).toHaveLength(1);
    const thief = openBrowser(stack);
    for (const forged of [token, `${token}.`, `${token}.${'A'.repeat(43)}%3D`]) {
      thief.cookies.set('simway_session', forged);
      expect(codeOf(await me(thief))).toBe('SESSION_EXPIRED');
    }
  });

  it('refuses an unknown address, a wrong password and a locked user alike; a new password unlocks the user', async () => {
    const { email } = await signedUp(stack);
    const unknown = await signIn(openBrowser(stack), uniqueEmail('unknown'));
    await sql`update accounts.users set failed_logins = 9 where email = ${email}`.execute(stack.owner);
    for (const password of ['wrong', USER_PASSWORD]) {
      const { status, body } = await signIn(openBrowser(stack), email, password);
      expect([status, body]).toEqual([401, unknown.body]);
    }
    expect(codeOf(unknown)).toBe('UNAUTHORIZED');

    const browser = openBrowser(stack);
    const asked = await browser.call('POST', '/auth/password-resets', { body: { email } });
    expect(asked.status).toBe(202);
    const token = tokenOf(mailOf(asked));
    const weak = await browser.call('POST', '/auth/password-resets/confirm', {
      body: { token, newPassword: 'short' },
    });
    expect(messageOf(weak)).toContain('newPassword: must have at least 12 characters');
    const newPassword = 'another password of mine';
    const reset = () =>
      browser.call('POST', '/auth/password-resets/confirm', { body: { token, newPassword } });
    expect((await reset()).status).toBe(200);
    expect((await reset()).status).toBe(400);
    expect((await signIn(browser, email)).status).toBe(401);
    expect((await signIn(browser, email, newPassword)).status).toBe(200);
  });

  it('by a password link is refused once the password has changed, by another link or by its owner', async () => {
    const user = await signedUp(stack);
    const link = async () =>
      tokenOf(
        mailOf(
          await openBrowser(stack).call('POST', '/auth/password-resets', { body: { email: user.email } }),
        ),
      );
    const reset = (token: string, newPassword: string) =>
      openBrowser(stack).call('POST', '/auth/password-resets/confirm', { body: { token, newPassword } });
    const [stolen, own] = [await link(), await link()];
    expect((await reset(own, 'another password of mine')).status).toBe(200);
    expect((await reset(stolen, 'a password of a thief')).status).toBe(400);

    const late = await link();
    await signIn(user.browser, user.email, 'another password of mine');
    const change = { currentPassword: 'another password of mine', newPassword: 'a third password of mine' };
    expect((await user.browser.call('POST', '/auth/me/password', { body: change })).status).toBe(200);
    expect((await reset(late, 'a password of a thief')).status).toBe(400);
  });

  it('uses the first of two cookies with the same name, everywhere', async () => {
    const [one, other] = [await signedUp(stack), await signedUp(stack)];
    const cookieOf = ({ browser }: User) => `simway_session=${browser.cookies.get('simway_session') ?? ''}`;
    const headers = { Cookie: `${cookieOf(one)}; ${cookieOf(other)}` };
    const left = await openBrowser(stack).call('DELETE', '/auth/sessions/current', { headers });
    expect(left.status).toBe(200);
    expect([(await me(one.browser)).status, (await me(other.browser)).status]).toEqual([401, 200]);
  });

  it('counts right passwords as tries too: one user cannot block the sign-in of others', async () => {
    const { browser } = await signedUp(stack);
    const tries: number[] = [];
    for (let n = 0; n < 11; n += 1) {
      const body = { password: USER_PASSWORD };
      tries.push((await browser.call('POST', '/auth/me/second-factor', { body })).status);
    }
    expect(tries).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    expect((await browser.call('DELETE', '/auth/me/second-factor', { body: {} })).status).toBe(429);
    expect((await me(browser)).status).toBe(200);
  });

  it('allows ten tries a minute from one address', async () => {
    const browser = openBrowser(stack);
    const tries: number[] = [];
    for (let guess = 0; guess < 12; guess += 1) tries.push((await signIn(browser, 'a', 'b')).status);
    expect(tries).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
  });

  it('that has expired answers 401 and says so, also on routes that otherwise take a key', async () => {
    const user = await signedUp(stack);
    await sql`update accounts.user_sessions set expires_at = now() - interval '1 second'
               where user_id = (select id from accounts.users where email = ${user.email})`.execute(
      stack.owner,
    );
    for (const path of ['/api/wallet/balance', '/api/esim/my-esims', '/account/members']) {
      const answer = await user.ask('GET', path);
      expect([answer.status, codeOf(answer)]).toEqual([401, 'SESSION_EXPIRED']);
    }
  });
});

describe('a second factor', () => {
  it('is added, requested, replaced once by a recovery code, and removed', async () => {
    const { browser, email } = await signedUp(stack);
    const wrong = await browser.call('POST', '/auth/me/second-factor', { body: { password: 'wrong' } });
    expect(wrong.status).toBe(401);
    const added = await browser.call('POST', '/auth/me/second-factor', { body: { password: USER_PASSWORD } });
    expect(added.status, added.text).toBe(200);
    const { otpauthUri, recoveryCodes } = data<{ otpauthUri: string; recoveryCodes: string[] }>(added);
    expect(otpauthUri).toMatch(/^otpauth:\/\/totp\//);
    const secret = new URL(otpauthUri).searchParams.get('secret') ?? '';
    const { rows } = await sql<{
      row: string;
    }>`select f::text as row from accounts.user_second_factors f`.execute(stack.owner);
    for (const plain of [secret, ...recoveryCodes]) expect(JSON.stringify(rows)).not.toContain(plain);

    // Not active before the first code.
    expect(data(await signIn(openBrowser(stack), email))).toEqual({ secondFactor: false });
    const confirm = (code: string) =>
      browser.call('POST', '/auth/me/second-factor/confirm', { body: { code } });
    expect((await confirm('000000')).status).toBe(400);
    const elsewhere = openBrowser(stack);
    await signIn(elsewhere, email);
    const first = totp(secret);
    expect((await confirm(first)).status).toBe(200);
    // Sessions opened elsewhere were opened without a code.
    expect(codeOf(await me(elsewhere))).toBe('SESSION_EXPIRED');
    expect(data(await me(browser))).toMatchObject({ user: { hasSecondFactor: true } });

    const next = openBrowser(stack);
    expect(data(await signIn(next, email))).toEqual({ secondFactor: true });
    expect([...next.cookies.keys()]).toEqual(['simway_second_factor']);
    expect((await me(next)).status).toBe(401);
    const send = (from: Browser, code: string) =>
      from.call('POST', '/auth/sessions/second-factor', { body: { code } });
    expect((await send(next, '000000')).status).toBe(401);
    // The code that confirmed the factor is used up.
    const thief = openBrowser(stack);
    await signIn(thief, email);
    expect((await send(thief, first)).status).toBe(401);
    const code = totp(secret, 1);
    expect((await send(next, code)).status).toBe(200);
    // Against shoulder surfing: a code works once, although it stays valid for a while, and it alone signs no
    // user in.
    const watcher = openBrowser(stack);
    await signIn(watcher, email);
    expect((await send(watcher, code)).status).toBe(401);
    expect((await me(watcher)).status).toBe(401);
    expect([...next.cookies.keys()]).toEqual(['simway_session']);
    expect((await me(next)).status).toBe(200);

    for (const [from, status] of [
      [openBrowser(stack), 200],
      [openBrowser(stack), 401],
    ] as const) {
      await signIn(from, email);
      expect((await send(from, recoveryCodes[0]!)).status).toBe(status);
    }
    // The second step needs the first.
    expect((await send(openBrowser(stack), totp(secret))).status).toBe(401);

    // Codes of one in use are no longer compared there: nobody can guess them with a session.
    expect((await confirm(totp(secret))).status).toBe(400);
    const remove = (given: object) =>
      browser.call('DELETE', '/auth/me/second-factor', { body: { password: USER_PASSWORD, ...given } });
    expect(messageOf(await remove({}))).toContain('code: is required');
    expect((await remove({ password: 'wrong', code: recoveryCodes[1] })).status).toBe(401);
    expect(messageOf(await remove({ code: '000000' }))).toContain('code: is wrong');
    expect(messageOf(await remove({ code: first }))).toContain('code: is wrong');
    expect((await remove({ code: recoveryCodes[1] })).status).toBe(200);
    expect(data(await signIn(openBrowser(stack), email))).toEqual({ secondFactor: false });
  });

  it('ends the step after five wrong codes', async () => {
    const { browser, email } = await signedUp(stack);
    const { secret } = await addSecondFactor(browser);
    const guesser = openBrowser(stack);
    await signIn(guesser, email);
    const send = (code: string, from = guesser) =>
      from.call('POST', '/auth/sessions/second-factor', { body: { code } });
    for (let guess = 0; guess < 5; guess += 1) expect((await send(`00000${guess}`)).status).toBe(401);
    expect((await send(totp(secret, 1))).status).toBe(401);
    const { rows } = await sql<{ detail: object }>`
      select detail from accounts.audit_log where actor = ${email} and action = 'session.refuse' order by id`.execute(
      stack.owner,
    );
    expect(rows.map(({ detail }) => detail)).toEqual(
      // The right code came too late.
      Array.from({ length: 6 }, () => ({
        address: expect.any(String) as string,
        secondFactor: true,
        lockedOut: false,
      })),
    );
    // Ten in a row lock it, at the operators' sign-in as well.
    const next = openBrowser(stack);
    await signIn(next, email);
    for (let guess = 5; guess < 10; guess += 1) expect((await send(`00000${guess}`, next)).status).toBe(401);
    const last = await sql<{ detail: object }>`
      select detail from accounts.audit_log where actor = ${email} order by id desc limit 1`.execute(
      stack.owner,
    );
    expect(last.rows[0]?.detail).toMatchObject({ secondFactor: true, lockedOut: true });
  });
});

describe('keys', () => {
  const company = () => ({
    companyName: 'Ada Ltd',
    websiteUrl: `${inbox.url}/website`,
    allowedAddresses: ['127.0.0.1'],
    scopes: ['read', 'purchase'],
  });

  it.each([
    [{ websiteUrl: 'http://10.0.0.1/' }, 'websiteUrl: '],
    [{ websiteUrl: 'http://127.0.0.1:9/' }, 'websiteUrl: must have a web server that answers'],
    [{ websiteUrl: 'nothing' }, 'websiteUrl: '],
    [{ webhookUrl: 'http://10.0.0.1/' }, 'webhookUrl: '],
    [
      { allowedAddresses: Array.from({ length: 11 }, (_, index) => `203.0.113.${index}`) },
      'allowedAddresses: must have at most 10',
    ],
    [{ allowedAddresses: [] }, 'allowedAddresses: must have at least one'],
    [{ allowedAddresses: ['203.0.113.7', '203.0.113.0/33'] }, 'allowedAddresses.1: must be an address'],
    [{ scopes: ['write'] }, 'scopes.0: must be among read, purchase'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt: must be in the future'],
  ])('are not made from %o, which is refused and its field named', async (wrong, message) => {
    const owner = await signedUp(stack);
    const answer = await owner.ask('POST', '/account/keys', { body: { ...company(), ...wrong } });
    expect([answer.status, codeOf(answer)], answer.text).toEqual([400, 'VALIDATION_ERROR']);
    expect(messageOf(answer)).toContain(message);
    expect(data(await owner.ask('GET', '/account/keys'))).toEqual({ items: [] });
  });
});

describe('the OpenAPI document', () => {
  it('describes every answer above, and each of its operations for users was called', async () => {
    await askAboutColleagues(stack);
    const contract = await readContract({
      ask: async (target) => ({ ...replyOf(await stack.call('GET', target)) }),
    });
    const found = (method: string, path: string) =>
      contract.operations.find(
        (one) =>
          one.method === method &&
          new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?', 1)[0] ?? ''),
      );
    const asked = answers
      .filter(({ path }) => /^\/(auth|account)/.test(path))
      .map(({ method, path, answer }) => ({ operation: found(method, path)!, answer }));
    for (const { operation, answer } of asked)
      expect([operation.path, contract.judge(operation, replyOf(answer))]).toEqual([
        operation.path,
        undefined,
      ]);
    const names = new Set(asked.map(({ operation: { method, path } }) => `${method} ${path}`));
    const all = contract.operations
      .map(({ method, path }) => `${method} ${path}`)
      .filter((name) => / \/(auth|account)(\/|$)/.test(name));
    expect(all.filter((name) => !names.has(name))).toEqual([]);
    expect(all.length).toBeGreaterThan(20);
  });

  it('describes answers without a password, a session or a hash', () => {
    const cookies = answers.flatMap(({ answer }) => answer.headers.getSetCookie());
    const tokens = cookies
      .map((line) => /=([^;.]{20,})/.exec(line)?.[1])
      .filter((token) => token !== undefined);
    expect(tokens.length).toBeGreaterThan(20);
    const texts = answers.map(({ answer }) => answer.text).join('\n');
    for (const secret of [USER_PASSWORD, 'scrypt$', ...tokens]) expect(texts).not.toContain(secret);
  });
});

function replyOf({ status, headers, text }: Answer): Reply {
  return {
    status,
    headers: Object.fromEntries(headers),
    text,
    json: text === '' ? undefined : JSON.parse(text),
  };
}
