// Users of the dashboard: sign-up, sign-in, sessions, second factors, invitations, keys, recent requests. On
// the whole service.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createMailStops } from '../../src/accounts/mail-stops.ts';
import { ACCOUNT_CURRENCIES } from '../../src/domain/money.ts';
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
import { startStack, type Answer } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { startInbox } from '../support/people/webhook-inbox.ts';
import { forFile } from '../support/world/for-file.ts';

const stack = await forFile(startStack({ env: SIGN_IN_ENV }));
const inbox = await forFile(startInbox());

/** From a browser that has not signed in. */
const post = (path: string, body: object): Promise<Answer> => openBrowser(stack).call('POST', path, { body });
const SECOND_FACTOR = '/auth/me/second-factor';
const sendCode = (from: Browser, code: string): Promise<Answer> =>
  from.call('POST', '/auth/sessions/second-factor', { body: { code } });
const askForReset = async (email: string): Promise<string> =>
  tokenOf(mailOf(await post('/auth/password-resets', { email })));
const reset = (token: string, newPassword: string): Promise<Answer> =>
  post('/auth/password-resets/confirm', { token, newPassword });

describe('signing up', () => {
  const body = (email: string) => ({
    email,
    password: USER_PASSWORD,
    name: 'Grace',
    companyName: 'Grace Travel',
    currency: 'NGN',
  });
  const STRANGERS = 'a password of a stranger';
  /** By the link of this sign-up. */
  const confirmWith = (signedUp: Answer, password = USER_PASSWORD): Promise<Answer> =>
    post('/auth/users/confirm', { token: tokenOf(mailOf(signedUp)), password });

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
    expect([early.status, codeOf(early)]).toEqual([401, 'UNAUTHORIZED']);
    expect((await me(browser)).status).toBe(401);

    const token = tokenOf(mailOf(sent));
    const confirm = (given: object) => post('/auth/users/confirm', { token, ...given });
    const wrong = await confirm({ password: STRANGERS });
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
    const sent = await post('/auth/users', body(known.email));
    expect(sent.status).toBe(202);
    expect(mailOf(sent)).toMatchObject({ to: known.email, subject: 'You have an account already' });
    expect((await me(known.browser)).status).toBe(200);
  });

  it('again leaves an earlier sign-up as it is: the link that is opened first decides, and ends the others', async () => {
    const email = uniqueEmail('twice');
    const owner = await post('/auth/users', body(email));
    const strangers = await Promise.all(
      Array.from({ length: 6 }, () => post('/auth/users', { ...body(email), password: STRANGERS })),
    );
    expect(strangers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202, 202]);
    expect((await confirmWith(owner)).status).toBe(200);
    for (const one of strangers) expect((await confirmWith(one, STRANGERS)).status).toBe(400);
    expect((await signIn(openBrowser(stack), email, STRANGERS)).status).toBe(401);
    expect((await signIn(openBrowser(stack), email)).status).toBe(200);
  });

  it('with another person’s address gives the stranger no access: the link needs the stranger’s password', async () => {
    const email = uniqueEmail('owner');
    const strangers = await post('/auth/users', { ...body(email), password: STRANGERS });
    expect((await confirmWith(strangers)).status).toBe(401);
    expect((await signIn(openBrowser(stack), email, STRANGERS)).status).toBe(401);
    // Guessing ends the link.
    await sql`update accounts.sign_ups set wrong_passwords = 10 where email = ${email}`.execute(stack.owner);
    expect((await confirmWith(strangers, STRANGERS)).status).toBe(400);
  });

  it('by one link six times at once makes one account', async () => {
    const email = uniqueEmail('double-click');
    const sent = await post('/auth/users', body(email));
    const confirmed = await Promise.all(Array.from({ length: 6 }, () => confirmWith(sent)));
    expect(confirmed.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400]);
    const { rows } = await sql`select 1 from accounts.accounts where email = ${email}`.execute(stack.owner);
    expect(rows).toHaveLength(1);
  });

  it.each([
    [{ password: 'short' }, 'password: must have at least 12 characters'],
    [{ password: 'password1234' }, 'password: must not be a common password'],
    [{ email: 'not-an-address' }, 'email: must be an e-mail address'],
    [{ currency: 'ZZZ' }, `currency: must be one of ${ACCOUNT_CURRENCIES.join(', ')}`],
    [{ companyName: '' }, 'companyName: must not be empty'],
  ])('refuses %o and names its field', async (wrong, message) => {
    const answer = await post('/auth/users', { ...body(uniqueEmail('weak')), ...wrong });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'VALIDATION_ERROR']);
    expect(messageOf(answer)).toContain(message);
  });
});

describe('signing in', () => {
  it('sets a cookie that scripts cannot read and other sites cannot send; signing out ends it', async () => {
    const { email } = await signedUp(stack);
    const browser = openBrowser(stack);
    expect(data(await signIn(browser, email.toUpperCase()))).toEqual({ secondFactor: false });
    expect(browser.setCookies).toHaveLength(2);
    expect(browser.setCookies[1]).toMatch(
      /^simway_device=[^;]+; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Strict$/,
    );
    expect(browser.setCookies[0]).toMatch(
      /^simway_session=[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const stolen = browser.cookies.get('simway_session') ?? '';
    expect((await me(browser)).status).toBe(200);
    expect((await browser.call('DELETE', '/auth/sessions/current')).status).toBe(200);
    expect([...browser.cookies.keys()]).toEqual(['simway_device']);
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
    const guesser = openBrowser(stack);
    expect((await signIn(guesser, email, 'wrong')).status).toBe(401);
    await sql`update accounts.sign_in_failures set failed = 9
               where user_id = (select id from accounts.users where email = ${email})`.execute(stack.owner);
    for (const password of ['wrong', USER_PASSWORD]) {
      const { status, body } = await signIn(guesser, email, password);
      expect([status, body]).toEqual([401, unknown.body]);
    }
    expect(codeOf(unknown)).toBe('UNAUTHORIZED');

    // The lock hits the address that guessed, not the person.
    expect((await signIn(openBrowser(stack), email)).status).toBe(200);
    const token = await askForReset(email);
    const weak = await reset(token, 'short');
    expect(messageOf(weak)).toContain('newPassword: must have at least 12 characters');
    const newPassword = 'another password of mine';
    expect((await reset(token, newPassword)).status).toBe(200);
    expect((await reset(token, newPassword)).status).toBe(400);
    expect((await signIn(openBrowser(stack), email)).status).toBe(401);
    expect((await signIn(openBrowser(stack), email, newPassword)).status).toBe(200);
  });

  it('from a device that the user has signed in with is not locked by others behind the same address', async () => {
    const { email, browser } = await signedUp(stack);
    const lock = sql`update accounts.sign_in_failures set locked_until = now() + interval '1 hour'
                      where user_id = (select id from accounts.users where email = ${email})`;
    await signIn(browser, email, 'wrong');
    browser.cookies.delete('simway_session');
    const device = browser.cookies.get('simway_device') ?? '';
    browser.cookies.delete('simway_device');
    await signIn(browser, email, 'wrong');
    const { rows } = await sql<{ place: string }>`select place from accounts.sign_in_failures
      where user_id = (select id from accounts.users where email = ${email}) order by place`.execute(
      stack.owner,
    );
    expect(rows.map(({ place }) => place.replace(/[\d.]+$/, ''))).toEqual(['', 'known device at ']);
    await sql`delete from accounts.sign_in_failures where place like 'known%'`.execute(stack.owner);
    await lock.execute(stack.owner);
    expect((await signIn(browser, email)).status).toBe(401);
    browser.cookies.set('simway_device', `${device.slice(0, -2)}xx`);
    expect((await signIn(browser, email)).status).toBe(401);
    browser.cookies.set('simway_device', device);
    expect((await signIn(browser, email)).status).toBe(200);
  });

  it('by a password link is refused once the password has changed, by another link or by its owner', async () => {
    const user = await signedUp(stack);
    const [stolen, own] = [await askForReset(user.email), await askForReset(user.email)];
    expect((await reset(own, 'another password of mine')).status).toBe(200);
    expect((await reset(stolen, 'a password of a thief')).status).toBe(400);

    const late = await askForReset(user.email);
    await signIn(user.browser, user.email, 'another password of mine');
    const change = { currentPassword: 'another password of mine', newPassword: 'a third password of mine' };
    expect((await user.browser.call('POST', '/auth/me/password', { body: change })).status).toBe(200);
    expect((await reset(late, 'a password of a thief')).status).toBe(400);
  });

  it.each(['%', '%E0%A4%A', '%00.x', '\u00ff', 'a;b', '%zz'])(
    'takes a cookie that cannot be read as none: %s',
    async (value) => {
      for (const name of ['simway_session', 'simway_second_factor']) {
        const headers = { Cookie: `${name}=${value}` };
        const asked = [
          openBrowser(stack).call('GET', '/auth/me', { headers }),
          openBrowser(stack).call('POST', '/auth/sessions/second-factor', { headers, body: { code: '1' } }),
        ];
        expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([401, 401]);
      }
    },
  );

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
      tries.push((await browser.call('POST', SECOND_FACTOR, { body })).status);
    }
    expect(tries).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    expect((await browser.call('DELETE', SECOND_FACTOR, { body: {} })).status).toBe(429);
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

it('a stranger ends mail to their address by its link: opening it changes nothing, its button and a mail program do', async () => {
  const { context } = stack;
  const stops = createMailStops({ idSecret: Buffer.from(context.secrets.idSecret), publicUrl: '' });
  const path = stops.urlFor('stranger@elsewhere.example');
  const stopped = async () => (await sql`select 1 from accounts.mail_stops`.execute(stack.owner)).rows.length;
  const call = (method: string, target: string) => fetch(`${stack.apiUrl}${target}`, { method });
  const page = await call('GET', path);
  expect([page.status, await stopped()]).toEqual([200, 0]);
  expect(await page.text()).toContain('<form method="post">');
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const body = 'List-Unsubscribe=One-Click';
  const pressed = await fetch(`${stack.apiUrl}${path}`, { method: 'POST', headers, body });
  expect([pressed.status, await stopped()]).toEqual([200, 1]);
  for (const method of ['GET', 'POST'])
    expect((await call(method, `/mails/stop/${'x'.repeat(86)}`)).status).toBe(404);
});

describe('a second factor', () => {
  it('is added, requested, replaced once by a recovery code, and removed', async () => {
    const { browser, email } = await signedUp(stack);
    const wrong = await browser.call('POST', SECOND_FACTOR, { body: { password: 'wrong' } });
    expect(wrong.status).toBe(401);
    const added = await browser.call('POST', SECOND_FACTOR, { body: { password: USER_PASSWORD } });
    expect(added.status, added.text).toBe(200);
    const { otpauthUri, recoveryCodes } = data<{ otpauthUri: string; recoveryCodes: string[] }>(added);
    expect(otpauthUri).toMatch(/^otpauth:\/\/totp\//);
    const secret = new URL(otpauthUri).searchParams.get('secret') ?? '';
    const rowsOf = sql<{ row: string }>`select f::text as row from accounts.user_second_factors f`;
    const { rows } = await rowsOf.execute(stack.owner);
    for (const plain of [secret, ...recoveryCodes]) expect(JSON.stringify(rows)).not.toContain(plain);

    // Not active before the first code.
    expect(data(await signIn(openBrowser(stack), email))).toEqual({ secondFactor: false });
    const confirm = (code: string) => browser.call('POST', `${SECOND_FACTOR}/confirm`, { body: { code } });
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
    expect((await sendCode(next, '000000')).status).toBe(401);
    // The code that confirmed the factor is used up.
    const thief = openBrowser(stack);
    await signIn(thief, email);
    expect((await sendCode(thief, first)).status).toBe(401);
    const code = totp(secret, 1);
    expect((await sendCode(next, code)).status).toBe(200);
    // Against shoulder surfing: a code works once, although it stays valid for a while, and it alone signs no
    // user in.
    const watcher = openBrowser(stack);
    await signIn(watcher, email);
    expect((await sendCode(watcher, code)).status).toBe(401);
    expect((await me(watcher)).status).toBe(401);
    expect([...next.cookies.keys()]).toEqual(['simway_session', 'simway_device']);
    expect((await me(next)).status).toBe(200);

    // As people copy it from paper.
    const typed = ` ${recoveryCodes[0]!.toUpperCase().replace('-', ' ')} `;
    for (const [code, status] of [
      [typed, 200],
      [recoveryCodes[0]!, 401],
    ] as const) {
      const from = openBrowser(stack);
      await signIn(from, email);
      expect((await sendCode(from, code)).status).toBe(status);
    }
    // The second step needs the first.
    expect((await sendCode(openBrowser(stack), totp(secret))).status).toBe(401);

    // Codes of one in use are no longer compared there: nobody can guess them with a session.
    expect((await confirm(totp(secret))).status).toBe(400);
    const remove = (given: object) =>
      browser.call('DELETE', SECOND_FACTOR, { body: { password: USER_PASSWORD, ...given } });
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
    const codes = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => `00000${from + index}`);
    // The right code comes too late.
    for (const code of [...codes(0, 5), totp(secret, 1)])
      expect((await sendCode(guesser, code)).status).toBe(401);
    const refusals = async () => {
      const { rows } = await sql<{ detail: object }>`
        select detail from accounts.audit_log where actor = ${email} and action = 'session.refuse' order by id`.execute(
        stack.owner,
      );
      return rows.map(({ detail }) => detail);
    };
    const refused = { address: expect.any(String) as string, secondFactor: true, lockedOut: false };
    expect(await refusals()).toEqual(Array.from({ length: 6 }, () => refused));
    // Ten in a row lock it, at the operators' sign-in as well.
    const next = openBrowser(stack);
    await signIn(next, email);
    for (const code of codes(5, 10)) expect((await sendCode(next, code)).status).toBe(401);
    expect((await refusals()).at(-1)).toMatchObject({ secondFactor: true, lockedOut: true });
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
    [{ webhookUrl: 'http://10.0.0.1/' }, 'webhookUrl: '],
    [
      { allowedAddresses: Array.from({ length: 11 }, (_, index) => `203.0.113.${index}`) },
      'allowedAddresses: must have at most 10',
    ],
    [{ allowedAddresses: [] }, 'allowedAddresses: must have at least one'],
    [{ allowedAddresses: ['203.0.113.7', '203.0.113.0/33'] }, 'allowedAddresses.1: must be an address'],
    [
      { allowedAddresses: ['0.0.0.0/0'] },
      'allowedAddresses.0: must not be wider than /16 for IPv4 and /32 for IPv6',
    ],
    [{ allowedAddresses: ['127.0.0.1', '::/0'] }, 'allowedAddresses.1: must not be wider'],
    [{ allowedAddresses: ['::ffff:0:0/96'] }, 'allowedAddresses.0: must not be wider'],
    [{ scopes: ['write'] }, 'scopes.0: must be among read, purchase, fund'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt: must be in the future'],
    [{ name: 'n'.repeat(101) }, 'name: must be at most 100 characters long'],
    [{ name: 'a\u200Bb' }, 'name: must not contain invisible'],
  ])('are not made from %o, which is refused and its field named', async (wrong, message) => {
    const owner = await signedUp(stack);
    const answer = await owner.ask('POST', '/account/keys', { body: { ...company(), ...wrong } });
    expect([answer.status, codeOf(answer)], answer.text).toEqual([400, 'VALIDATION_ERROR']);
    expect(messageOf(answer)).toContain(message);
    expect(data(await owner.ask('GET', '/account/keys'))).toEqual({ items: [] });
  });
});

it('a test key needs no company and no website, which is not checked', async () => {
  const owner = await signedUp(stack);
  const body = { allowedAddresses: ['127.0.0.1'], scopes: ['read'] };
  const inside = { name: 'Shop', companyName: 'B', websiteUrl: 'http://10.0.0.1/' };
  for (const more of [{}, inside])
    expect((await owner.ask('POST', '/account/keys', { body: { ...body, ...more } })).status).toBe(201);
  const { items } = data<{ items: object[] }>(await owner.ask('GET', '/account/keys'));
  expect(items).toMatchObject([inside, { name: null, companyName: 'Ada Ltd', websiteUrl: '' }]);
});

it('one’s sessions are listed, and ended one by one or all but this one', async () => {
  const owner = await signedUp(stack);
  const [first, second] = [openBrowser(stack), openBrowser(stack)];
  for (const browser of [first, second]) await signIn(browser, owner.email);
  const list = async () =>
    data<{ items: { sessionId: string; isCurrent: boolean }[] }>(
      await owner.browser.call('GET', '/auth/sessions'),
    ).items;
  expect(await list()).toHaveLength(3);
  const other = (await list()).find(({ isCurrent }) => !isCurrent);
  await owner.browser.call('DELETE', `/auth/sessions/${other?.sessionId ?? ''}`);
  expect(await list()).toHaveLength(2);
  await owner.browser.call('DELETE', '/auth/sessions');
  expect(await list()).toHaveLength(1);
  for (const browser of [first, second]) expect((await me(browser)).status).toBe(401);
  const body = { password: USER_PASSWORD };
  expect((await owner.browser.call('POST', '/auth/sessions/confirm', { body })).status).toBe(200);
  const path = '/account/members/user-0/remove-second-factor';
  expect(codeOf(await owner.ask('POST', path))).toBe('NOT_FOUND');
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
