// Members of an account are invited by mail, get a role, and are removed. On the whole service.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { MemberRole } from '../../src/domain/member-roles.ts';
import {
  colleague,
  data,
  mailOf,
  me,
  messageOf,
  openBrowser,
  signedUp,
  signIn,
  tokenOf,
  uniqueEmail,
  USER_PASSWORD,
  type User,
} from '../support/people/dashboard.ts';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { startStack, type Answer } from '../support/world/stack.ts';
import { startInbox } from '../support/people/webhook-inbox.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

const stack = await forFile(startStack({ env: SIGN_IN_ENV }));
const inbox = await forFile(startInbox());

const idOf = async (user: User) => data<{ user: { userId: string } }>(await me(user.browser)).user.userId;
const membersOf = async (owner: User) =>
  data<{ items: { userId: string; email: string }[] }>(await owner.ask('GET', '/account/members')).items;

const PERSON = { name: 'Guest', password: USER_PASSWORD };

const invite = (by: User, role: MemberRole, email = uniqueEmail('guest')): Promise<Answer> =>
  by.ask('POST', '/account/invitations', { body: { email, role } });

const accept = (invited: Answer, person: object = PERSON, browser = openBrowser(stack)): Promise<Answer> =>
  browser.call('POST', '/auth/invitations/accept', { body: { token: tokenOf(mailOf(invited)), ...person } });

describe('colleagues', () => {
  it('are invited, get a role, and lose it at once', async () => {
    const owner = await signedUp(stack);
    const email = uniqueEmail('dev');
    const invited = await invite(owner, 'SUPPORT', email);
    expect(invited.status, invited.text).toBe(201);
    const replaced = await invite(owner, 'DEVELOPER', email);
    const open = data<{ items: { role: string }[] }>(await owner.ask('GET', '/account/invitations'));
    expect(open.items.map(({ role }) => role)).toEqual(['DEVELOPER']);

    const browser = openBrowser(stack);
    expect((await accept(invited)).status).toBe(400);
    expect(messageOf(await accept(replaced, {}))).toContain('name: is required');
    const weak = await accept(replaced, { ...PERSON, password: 'short' });
    expect(messageOf(weak)).toContain('password: must have');
    const accepted = await accept(replaced, PERSON, browser);
    expect(data(accepted)).toEqual({ accountId: owner.accountId, isSignedIn: true });
    expect((await accept(replaced)).status).toBe(400);
    expect(data(await me(browser))).toMatchObject({
      memberships: [{ accountId: owner.accountId, role: 'DEVELOPER' }],
    });

    const { userId } = (await membersOf(owner)).find((one) => one.email === email)!;
    const headers = { 'Simway-Account': owner.accountId, 'Simway-Environment': 'test' };
    const statusOf = async (path: string) => (await browser.call('GET', path, { headers })).status;
    expect(await statusOf('/account/keys')).toBe(200);
    const changed = await owner.ask('PATCH', `/account/members/${userId}`, { body: { role: 'FINANCE' } });
    expect(data(changed)).toMatchObject({ userId, role: 'FINANCE' });
    expect(await statusOf('/account/keys')).toBe(403);
    const remove = async () => (await owner.ask('DELETE', `/account/members/${userId}`)).status;
    expect([await remove(), await statusOf('/account'), await remove()]).toEqual([200, 403, 404]);

    const { rows } = await sql<{ action: string; actor: string }>`
      select action, actor from accounts.audit_log where subject = ${userId} and action like 'member.%' order by id`.execute(
      stack.owner,
    );
    expect(rows).toEqual([
      { action: 'member.join', actor: email },
      { action: 'member.change', actor: owner.email },
      { action: 'member.remove', actor: owner.email },
    ]);
  });

  it('who already are users join by the link, and are not signed in by it', async () => {
    const [owner, guest] = await Promise.all([signedUp(stack), signedUp(stack)]);
    const browser = openBrowser(stack);
    const accepted = await accept(await invite(owner, 'OWNER', guest.email), {}, browser);
    expect(data(accepted)).toEqual({ accountId: owner.accountId, isSignedIn: false });
    expect(browser.cookies.size).toBe(0);
    const { memberships } = data<{ memberships: { accountId: string }[] }>(await me(guest.browser));
    expect(memberships.map(({ accountId }) => accountId)).toEqual([guest.accountId, owner.accountId]);
    expect(messageOf(await invite(owner, 'SUPPORT', guest.email))).toContain('email: is a member already');
  });

  it('never remove the last owner, even when two owners remove each other at once', async () => {
    const owner = await signedUp(stack);
    const own = await idOf(owner);
    const demote = await owner.ask('PATCH', `/account/members/${own}`, { body: { role: 'SUPPORT' } });
    expect(messageOf(demote)).toContain('the last owner');
    expect((await owner.ask('DELETE', `/account/members/${own}`)).status).toBe(400);
    const second = await colleague(stack, owner, 'OWNER');
    const other = await idOf(second);
    const removed = await Promise.all([
      owner.ask('DELETE', `/account/members/${other}`),
      second.ask('DELETE', `/account/members/${own}`),
    ]);
    expect(removed.filter(({ status }) => status === 200)).toHaveLength(1);
    const { rows } = await sql`select 1 from accounts.members where account_id = ${owner.accountId}`.execute(
      stack.owner,
    );
    expect(rows).toHaveLength(1);
  });

  it.each([
    ['removed', (owner: User, id: string) => owner.ask('DELETE', `/account/members/${id}`)],
    [
      'no owner any more',
      (owner: User, id: string) =>
        owner.ask('PATCH', `/account/members/${id}`, { body: { role: 'SUPPORT' } }),
    ],
  ])('lose their invitation when the member who sent it is %s', async (_what, change) => {
    const owner = await signedUp(stack);
    const second = await colleague(stack, owner, 'OWNER');
    const [kept, lost] = [await invite(owner, 'OWNER'), await invite(second, 'OWNER')];
    expect((await change(owner, await idOf(second))).status).toBe(200);
    expect([(await accept(lost)).status, (await accept(kept)).status]).toEqual([400, 200]);
  });

  it('do not include a stranger who signs up with the invited address at the same moment', async () => {
    const owner = await signedUp(stack);
    const email = uniqueEmail('invited');
    const invited = await invite(owner, 'OWNER', email);
    const password = 'a password of a stranger';
    const sent = await openBrowser(stack).call('POST', '/auth/users', {
      body: { email, password, name: 'M', companyName: 'M', currency: 'USD' },
    });
    expect((await accept(invited)).status).toBe(200);
    expect((await membersOf(owner)).map((one) => one.email)).toEqual([owner.email, email]);
    const body = { token: tokenOf(mailOf(sent)), password };
    expect((await openBrowser(stack).call('POST', '/auth/users/confirm', { body })).status).toBe(400);
    expect((await signIn(openBrowser(stack), email, password)).status).toBe(401);
  });

  it('join once by an invitation that is accepted six times at once', async () => {
    const owner = await signedUp(stack);
    const invited = await invite(owner, 'SUPPORT');
    const accepted = await Promise.all(Array.from({ length: 6 }, () => accept(invited)));
    expect(accepted.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400]);
    expect(await membersOf(owner)).toHaveLength(2);
  });

  it.each([
    ['with the keys and endpoints that they made', '', 401],
    ['without them where the owner says so', '?keepKeys=true', 200],
  ])('are removed %s', async (_what, query, status) => {
    const owner = await signedUp(stack);
    const developer = await colleague(stack, owner, 'DEVELOPER');
    const body = {
      ...{ companyName: 'Ada Ltd', websiteUrl: `${inbox.url}/website`, scopes: ['read'] },
      allowedAddresses: ['127.0.0.1'],
    };
    const keyOf = async (maker: User) =>
      data<{ apiKey: string }>(await maker.ask('POST', '/account/keys', { body })).apiKey;
    const [own, theirs] = [await keyOf(owner), await keyOf(developer)];
    const endpoints = '/api/webhooks/endpoints';
    const makers = async () =>
      data<{ items: { createdBy: string }[] }>(await owner.ask('GET', endpoints)).items.map(
        ({ createdBy }) => createdBy,
      );
    for (const maker of [owner, developer])
      await maker.ask('POST', endpoints, { body: { url: `${inbox.url}/of-${maker.email}` } });
    expect(await makers()).toEqual([owner.email, developer.email]);
    const listed = data<{ items: { createdBy: string }[] }>(await owner.ask('GET', '/account/keys'));
    expect(listed.items.map(({ createdBy }) => createdBy)).toEqual([developer.email, owner.email]);
    expect((await stack.call('GET', '/api/wallet/balance', { key: theirs })).status).toBe(200);
    const removed = await owner.ask('DELETE', `/account/members/${await idOf(developer)}${query}`);
    expect(removed.status).toBe(200);
    expect(await makers()).toEqual(status === 200 ? [owner.email, developer.email] : [owner.email]);
    await until(
      () => stack.call('GET', '/api/wallet/balance', { key: theirs }),
      (answer) => answer.status === status,
      { what: 'the key of the removed member' },
    );
    expect((await stack.call('GET', '/api/wallet/balance', { key: own })).status).toBe(200);
  });

  const make = (maker: User, scopes: string[], more: object = {}): Promise<Answer> =>
    maker.ask('POST', '/account/keys', {
      body: {
        ...{ companyName: 'Ada Ltd', websiteUrl: `${inbox.url}/website`, scopes },
        allowedAddresses: ['127.0.0.1'],
        ...more,
      },
    });

  it('make no key that may do more than they', async () => {
    const owner = await signedUp(stack);
    const developer = await colleague(stack, owner, 'DEVELOPER');
    const refused = await make(developer, ['read', 'fund']);
    expect([refused.status, messageOf(refused)]).toEqual([
      400,
      expect.stringContaining('scopes: your role DEVELOPER may not fund'),
    ]);
    const body = { amount: 5_000, paymentMethod: 'CARD' };
    const fundWith = async (made: Answer) =>
      (await stack.call('POST', '/api/wallet/fund', { key: data<{ apiKey: string }>(made).apiKey, body }))
        .status;
    expect(await fundWith(await make(developer, ['read', 'purchase']))).toBe(403);
    expect(await fundWith(await make(owner, ['fund']))).toBe(201);
  });

  it.each([
    ['OWNER', 'DEVELOPER', 'fund', '/api/wallet/fund', { amount: 5_000, paymentMethod: 'CARD' }],
    ['DEVELOPER', 'FINANCE', 'purchase', '/api/esim/buy', {}],
  ] as const)(
    'who were %s and become %s have keys that may %s no more',
    async (before, after, scope, path, body) => {
      const owner = await signedUp(stack);
      const maker = await colleague(stack, owner, before);
      const key = data<{ apiKey: string }>(await make(maker, ['read', scope])).apiKey;
      const use = async () => (await stack.call('POST', path, { key, body })).status;
      // Every poll reads what is new again: these are old.
      for (const table of ['accounts', 'api_keys'])
        await sql`update accounts.${sql.ref(table)} set changed_at = now() - interval '1 hour'`.execute(
          stack.owner,
        );
      expect(await use()).not.toBe(403);
      const target = `/account/members/${await idOf(maker)}`;
      expect((await owner.ask('PATCH', target, { body: { role: after } })).status).toBe(200);
      await until(use, (status) => status === 403, { withinMs: 10_000 });
      expect((await stack.call('GET', '/api/wallet/balance', { key })).status).toBe(200);
    },
  );

  it('are told by mail of endpoints that are made or moved, and of their new secrets, once each', async () => {
    const owner = await signedUp(stack);
    const developer = await colleague(stack, owner, 'DEVELOPER');
    const support = await colleague(stack, owner, 'SUPPORT');
    const emails = [owner, developer, support].map(({ email }) => email);
    const told = async () => {
      const { rows } = await sql<{ text: string; facts: { by: string; host: string } }>`
        delete from accounts.user_notices using accounts.users
         where users.id = user_id and kind like 'endpoint-%' and email = any(${emails})
         returning kind || ' to ' || email as text, facts`.execute(stack.owner);
      return rows.toSorted((a, b) => b.text.localeCompare(a.text));
    };
    const both = (kind: string) => [owner, developer].map(({ email }) => `${kind} to ${email}`);
    const endpoints = '/api/webhooks/endpoints';
    const headers = { 'Idempotency-Key': 'made-once' };
    const body = { url: `${inbox.url}/first` };
    const made = await developer.ask('POST', endpoints, { body, headers });
    await developer.ask('POST', endpoints, { body, headers });
    expect((await told()).map(({ text }) => text)).toEqual(both('endpoint-made'));
    const one = `${endpoints}/${(made.body as unknown as { id: string }).id}`;
    for (const change of [{ enabled: false }, { ...body, enabled: true }])
      expect((await developer.ask('PATCH', one, { body: change })).status).toBe(200);
    expect(await told()).toEqual([]);
    await developer.ask('PATCH', one, { body: { url: `${inbox.url}/second` } });
    expect((await told()).map(({ text }) => text)).toEqual(both('endpoint-moved'));
    const key = data<{ apiKey: string }>(await make(developer, ['read', 'purchase'])).apiKey;
    await stack.call('POST', `${one}/rotate-secret`, { key, body: {} });
    const rotated = await told();
    expect(rotated.map(({ text }) => text)).toEqual(both('endpoint-secret-changed'));
    const { host } = new URL(inbox.url);
    expect(rotated[0]?.facts).toMatchObject({ by: `An API key of ${developer.email}`, host });
    const webhookUrl = `${inbox.url}/third`;
    await make(developer, ['read'], { webhookUrl });
    expect((await told()).map(({ text }) => text)).toEqual(both('endpoint-made'));
    await make(developer, ['read'], { webhookUrl });
    expect(await told()).toEqual([]);
  });

  it('do not use up the rate limit of the account', async () => {
    const owner = await signedUp(stack);
    const support = await colleague(stack, owner, 'SUPPORT');
    const asked = await Promise.all(Array.from({ length: 110 }, () => support.ask('GET', '/account')));
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([200]));
    const balance = await owner.ask('GET', '/api/wallet/balance');
    expect([balance.status, balance.headers.get('x-ratelimit-limit')]).toEqual([200, '600']);
  });

  it('get at most 50 invitations within 24 hours, withdrawn ones included', async () => {
    const owner = await signedUp(stack);
    expect((await invite(owner, 'SUPPORT')).status).toBe(201);
    await sql`update accounts.mails_to set count = 49
               where address_sha256 = sha256(convert_to(${`invitations of ${owner.accountId}`}, 'UTF8'))`.execute(
      stack.owner,
    );
    const last = await invite(owner, 'SUPPORT');
    const { invitationId } = data<{ invitation: { invitationId: string } }>(last).invitation;
    await owner.ask('DELETE', `/account/invitations/${invitationId}`);
    const refused = await invite(owner, 'SUPPORT');
    expect([last.status, refused.status]).toEqual([201, 400]);
    expect(messageOf(refused)).toContain('email: at most 50 invitations may be sent within 24 hours');
  });

  it.each(['URGENT: https://evil.example/x', 'Call www.evil', 'write to a@evil', 'evil.example'])(
    'get a mail without links, even if the account’s name contains one: %s',
    async (name) => {
      const owner = await signedUp(stack);
      await owner.ask('PATCH', '/account', { body: { name } });
      const { subject, text } = mailOf(await invite(owner, 'SUPPORT'))!;
      expect(subject).toBe('An invitation to work with an account');
      expect(text).toContain('Simway invites you to work with an account. Your role will be SUPPORT.');
      expect(text).not.toMatch(/evil|merchant\.example/);
    },
  );

  it('lose an invitation that is withdrawn', async () => {
    const owner = await signedUp(stack);
    const invited = await invite(owner, 'SUPPORT');
    const { invitation } = data<{ invitation: { invitationId: string } }>(invited);
    const withdraw = () => owner.ask('DELETE', `/account/invitations/${invitation.invitationId}`);
    expect([(await withdraw()).status, (await withdraw()).status]).toEqual([200, 404]);
    expect((await accept(invited)).status).toBe(400);
  });
});

it('an owner renames the account and sets its website, which must answer', async () => {
  const owner = await signedUp(stack);
  const changed = await owner.ask('PATCH', '/account', { body: { name: 'B', websiteUrl: `${inbox.url}/` } });
  expect(data(changed)).toMatchObject({ name: 'B', websiteUrl: `${inbox.url}/` });
  const refused = await owner.ask('PATCH', '/account', { body: { websiteUrl: 'http://10.0.0.1/' } });
  expect([refused.status, messageOf(refused)]).toEqual([400, expect.stringContaining('websiteUrl: ')]);
});
