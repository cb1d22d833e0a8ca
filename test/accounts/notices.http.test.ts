// Mails that tell people about changes of their own access: who gets which, that none is lost, that nobody is
// flooded, and what they say.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { noticeOf, type AuditEntry, type UnmailedAction } from '../../src/accounts/audit-entry.ts';
import { renderNotice } from '../../src/accounts/notices.ts';
import type { MailOutcome } from '../../src/accounts/port.ts';
import { changeAccountTerms } from '../../src/accounts/manage-accounts.ts';
import { changePerson, createPerson, resetPassword } from '../../src/accounts/operators/people.ts';
import { auditAround, writeAudit } from '../../src/accounts/store/audit.ts';
import { MAX_NOTICES_A_DAY, postponeNotices } from '../../src/accounts/store/notices.ts';
import { insertMember, insertUser } from '../../src/accounts/store/users.ts';
import { createPasswords } from '../../src/accounts/users/passwords.ts';
import { sendNotices } from '../../src/accounts/users/send-notices.ts';
import { NOTICE_KINDS } from '../../src/domain/notice-kinds.ts';
import { startApi, type Ask, type Reply } from '../support/http/api.ts';
import { COOKIES, openUsers, sessionCookie, USER } from '../support/http/users.ts';
import { totp } from '../support/people/dashboard.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
const db = books.accounts;
const users = openUsers(books);
const api = await forFile(startApi({ users: users.useCases }));
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0';

let cookie = '';
const ask = (method: string, target: string, body?: unknown, more: Ask = {}): Promise<Reply> =>
  api.ask(target, {
    ...{ method, body, ...more },
    headers: {
      ...{ cookie, 'sec-fetch-site': 'same-origin', 'user-agent': FIREFOX },
      ...{ 'simway-account': users.accountId, 'simway-environment': 'test' },
    },
  });
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a cast with fewer words
const dataOf = <T>({ json }: Reply): T => (json as { data: T }).data;

/** The notices that wait, as `kind to whom`. */
const waiting = async () => {
  const rows = await db
    .selectFrom('user_notices')
    .innerJoin('users', 'users.id', 'user_notices.user_id')
    .select(['kind', 'email', 'facts', 'next_attempt_at'])
    .orderBy('user_notices.id')
    .execute();
  return rows.map(({ kind, email, ...row }) => ({ ...row, text: `${kind} to ${email}` }));
};
const texts = async () => (await waiting()).map(({ text }) => text);

const BOB = 'bob@merchant.example';
const addBob = async (role: 'OWNER' | 'DEVELOPER') => {
  const passwordHash = await createPasswords({ cost: { logN: 2, r: 8, p: 1 } }).hash('another one of Bob');
  const id = (await insertUser(db, { email: BOB, name: 'Bob', passwordHash })) ?? '';
  await insertMember(db, { account_id: users.accountId, user_id: id, role });
  return id;
};
const signIn = (password: string = USER.password) =>
  ask('POST', '/auth/sessions', { email: USER.email, password });
const cookiesOf = ({ headers }: Reply): string =>
  (headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0]).join('; ');

beforeEach(async () => {
  await users.reset();
  api.limiter.counts.clear();
  cookie = sessionCookie();
});

describe('a mail tells', () => {
  it('the user of a new password, changed or reset, with address and browser', async () => {
    const newPassword = 'quite another password';
    const changed = await ask('POST', '/auth/me/password', { currentPassword: USER.password, newPassword });
    expect(changed.status, changed.text).toBe(200);
    const asked = await ask('POST', '/auth/password-resets', { email: USER.email });
    const { sandboxMail } = dataOf<{ sandboxMail: { link: string } }>(asked);
    const token = new URLSearchParams(new URL(sandboxMail.link).hash.slice(1)).get('token');
    const done = await ask('POST', '/auth/password-resets/confirm', { token, newPassword: USER.password });
    expect(done.status, done.text).toBe(200);
    const rows = await waiting();
    expect(rows.map(({ text }) => text)).toEqual([
      `password-changed to ${USER.email}`,
      `password-reset to ${USER.email}`,
    ]);
    for (const { facts } of rows)
      expect(facts).toMatchObject({ address: '127.0.0.1', device: 'Firefox on Windows' });
  });

  it('the user of a second factor, added or removed, and not of a wrong code', async () => {
    const { password } = USER;
    const { otpauthUri } = dataOf<{ otpauthUri: string }>(
      await ask('POST', '/auth/me/second-factor', { password }),
    );
    const secret = new URL(otpauthUri).searchParams.get('secret') ?? '';
    const confirm = (code: string) => ask('POST', '/auth/me/second-factor/confirm', { code });
    expect((await confirm('000000')).status).toBe(400);
    expect(await texts()).toEqual([]);
    const confirmed = await confirm(totp(secret));
    expect(confirmed.status, confirmed.text).toBe(200);
    cookie = cookiesOf(confirmed);
    expect(await texts()).toEqual([`factor-added to ${USER.email}`]);
    const code = totp(secret, 1);
    expect((await ask('DELETE', '/auth/me/second-factor', { password, code })).status).toBe(200);
    expect((await texts()).at(-1)).toBe(`factor-removed to ${USER.email}`);
  });

  it('the owners and the maker of a new key', async () => {
    await addBob('OWNER');
    const made = await ask('POST', '/account/keys', {
      ...{ companyName: 'Ada', websiteUrl: 'https://merchant.example', scopes: ['read'] },
      allowedAddresses: ['203.0.113.7'],
    });
    expect(made.status, made.text).toBe(201);
    expect((await texts()).toSorted()).toEqual([`key-made to ${USER.email}`, `key-made to ${BOB}`]);
    expect(JSON.stringify(await waiting())).not.toContain(dataOf<{ apiKey: string }>(made).apiKey);
  });

  it('the owners of other hosts that buyers are sent back to, and not of the same ones again', async () => {
    const put = (...hosts: string[]) => ask('PUT', '/account/return-hosts', { hosts });
    expect(dataOf(await put('Shop.Example.com', 'shop.example.com', 'localhost:3000'))).toEqual({
      hosts: ['shop.example.com', 'localhost:3000'],
    });
    expect((await put('shop.example.com', 'localhost:3000')).status).toBe(200);
    expect(await texts()).toEqual([`return-hosts-changed to ${USER.email}`]);
    for (const wrong of [
      'https://shop.example.com',
      'shop.example.com/a',
      'a@shop.example.com',
      '10.0.0.1',
      'intranet',
    ])
      expect((await put(wrong)).status, wrong).toBe(400);
    expect((await put(...Array.from({ length: 21 }, (_none, i) => `s${i}.example.com`))).status).toBe(400);
    expect(dataOf(await ask('GET', '/account/return-hosts'))).toEqual({
      hosts: ['shop.example.com', 'localhost:3000'],
    });
  });

  it('the owners of a new owner, and of one who is none any more, whom it tells too', async () => {
    const id = await addBob('DEVELOPER');
    const become = (role: string) => ask('PATCH', `/account/members/${id}`, { role });
    expect((await become('FINANCE')).status).toBe(200);
    expect(await texts()).toEqual([]);
    expect((await become('OWNER')).status).toBe(200);
    expect((await texts()).toSorted()).toEqual([`owner-added to ${USER.email}`, `owner-added to ${BOB}`]);
    expect((await ask('DELETE', `/account/members/${id}`)).status).toBe(200);
    const told = (await texts()).slice(2).toSorted();
    expect(told).toEqual([`owner-removed to ${USER.email}`, `owner-removed to ${BOB}`]);
  });

  it('the user of a sign-in from a new device, and not of the next one there', async () => {
    cookie = '';
    const first = await signIn();
    expect(await texts()).toEqual([`new-device to ${USER.email}`]);
    cookie = cookiesOf(first)
      .split('; ')
      .filter((one) => one.startsWith(COOKIES.device))
      .join('; ');
    expect((await signIn()).status).toBe(200);
    expect(await texts()).toHaveLength(1);
  });

  it('the owners of an account that operators disable, and of nothing else that they change', async () => {
    const change = (terms: { readonly disabled?: boolean; readonly plan?: 'PREMIUM' }) =>
      changeAccountTerms(
        { db, clock: { now: () => new Date() } },
        users.accountId,
        { ...terms, reason: 'a test' },
        'ada@operator.example',
      );
    await change({ plan: 'PREMIUM' });
    expect(await texts()).toEqual([]);
    await change({ disabled: true });
    await change({ disabled: false });
    expect(await texts()).toEqual([`account-disabled to ${USER.email}`]);
  });

  it('the owners of the first of two requests to remove a second factor of theirs', async () => {
    const detail = { change: 'second-factor', accountId: users.accountId };
    const action = 'person.ask-removal';
    await writeAudit(db, { actor: USER.email, action, subject: await addBob('DEVELOPER'), detail });
    expect(await texts()).toEqual([`removal-asked to ${USER.email}`]);
  });

  it('an operator of another role, of a new password and of being disabled', async () => {
    const deps = {
      db,
      clock: { now: () => new Date() },
      passwords: { hash: () => Promise.resolve('scrypt$x') },
    };
    const email = `fin-${Date.now()}@operator.example`;
    const made = await createPerson(deps, { email, name: 'Fin', role: 'SUPPORT' }, 'ada@operator.example');
    const id = { id: made.person.personId };
    await changePerson(deps, id, { role: 'FINANCE' }, 'ada@operator.example');
    await changePerson(deps, id, { name: 'Finn' }, 'ada@operator.example');
    await resetPassword(deps, id, 'ada@operator.example');
    expect(await texts()).toEqual([
      `role-changed to ${email}`,
      `role-changed to ${email}`,
      `password-given to ${email}`,
    ]);
    await changePerson(deps, id, { disabled: true }, 'ada@operator.example');
    expect((await texts()).slice(3)).toEqual([`disabled to ${email}`]);
    for (const table of ['access_grants', 'operators'] as const)
      await books.owner.deleteFrom(`accounts.${table}` as never).execute();
  });
});

describe('a notice', () => {
  const userId = async (): Promise<string> => {
    const found = db.selectFrom('users').select('id').where('email', '=', USER.email);
    return (await found.executeTakeFirstOrThrow()).id;
  };
  const entry = async () => ({
    ...({ actor: USER.email, action: 'user.remove-second-factor' } as const),
    subject: await userId(),
    detail: { address: '2001:db8::7' },
  });
  /** The outcomes of the mails that are sent, in turn; then `done`. */
  async function send(...outcomes: MailOutcome[]) {
    const sent: { id: string; to: string; text: string }[] = [];
    const send = (mail: (typeof sent)[number]) => {
      sent.push(mail);
      return Promise.resolve(outcomes[sent.length - 1] ?? ({ outcome: 'done' } as const));
    };
    const words = { publicUrl: 'https://shop.example', us: 'Simway' };
    const deps = { db, words, mailer: { send }, events: { userMailNotSent: () => undefined } };
    await Promise.all([sendNotices(deps), sendNotices(deps)]);
    return sent;
  }

  it('needs a decision for every action: others do not compile', () => {
    // @ts-expect-error -- nobody has decided whom this tells
    const entry: AuditEntry = { actor: USER.email, action: 'member.praise', subject: 'user-1' };
    expect(noticeOf(entry)).toBeUndefined();
    // @ts-expect-error -- it is mailed, so no writer without mails may take it
    const unmailed: UnmailedAction = 'key.create';
    expect(noticeOf({ ...entry, action: unmailed })).toMatchObject({ kind: 'key-made' });
  });

  it('is queued with its change or not at all', async () => {
    const change = db.transaction().execute(async (trx) => {
      await writeAudit(trx, await entry());
      throw new Error('undone');
    });
    await expect(change).rejects.toThrow('undone');
    expect(await texts()).toEqual([]);
  });

  it('is not lost where we die while better-auth makes the change, nor sent where it is refused', async () => {
    const refused = auditAround(db, await entry(), () => Promise.reject(new Error('refused')));
    await expect(refused).rejects.toThrow('refused');
    expect(await texts()).toEqual([]);
    // Never resolves: what a crash leaves.
    const reached = Promise.withResolvers<undefined>();
    void auditAround(db, await entry(), () => {
      reached.resolve(undefined);
      return new Promise(() => undefined);
    });
    await reached.promise;
    const [held] = await waiting();
    expect(held?.next_attempt_at.getTime()).toBeGreaterThan(Date.now() + 30_000);
    expect(await send()).toEqual([]);
    const { id } = await db.selectFrom('user_notices').select('id').executeTakeFirstOrThrow();
    await postponeNotices(db, [id], 0);
    expect(await send()).toHaveLength(1);
  });

  it('is sent once by two senders, again after a fault, and with the same id', async () => {
    await writeAudit(db, await entry());
    const [first, ...others] = await send({ outcome: 'unknown', detail: 'no answer in time' });
    expect([first?.to, others]).toEqual([USER.email, []]);
    expect(await send()).toEqual([]);
    const { id } = await db.selectFrom('user_notices').select('id').executeTakeFirstOrThrow();
    await postponeNotices(db, [id], 0);
    expect((await send()).map((mail) => mail.id)).toEqual([first?.id]);
    expect(await texts()).toEqual([]);
  });

  it('comes at most ten times a day of one kind, and others still come', async () => {
    const opened = { ...(await entry()), action: 'session.open', detail: { newDevice: true } } as const;
    for (let times = 0; times < MAX_NOTICES_A_DAY + 3; times += 1) await writeAudit(db, opened);
    // The clock of Postgres decides, as it does when a notice is due: ours may be wrong.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 86_400_000 });
    await writeAudit(db, opened);
    vi.useRealTimers();
    await writeAudit(db, await entry());
    const told = await texts();
    expect(told.filter((text) => text.startsWith('new-device'))).toHaveLength(MAX_NOTICES_A_DAY);
    expect(told.at(-1)).toBe(`factor-removed to ${USER.email}`);
  });

  it('says what, when, from where, and what to do', async () => {
    await writeAudit(db, await entry());
    const [mail] = await send();
    expect(mail?.text).toMatch(
      /no longer needs a code[^]+When: \d{4}-\d\d-\d\d \d\d:\d\d UTC\nFrom: 2001:db8[\da-f:]*\/\d+\n[^]+If not: choose a new password[^]+https:\/\/shop\.example\/dashboard$/,
    );
  });

  it.each(NOTICE_KINDS)('%s has a subject, and shows no link that its account name holds', (kind) => {
    const facts = { by: 'ada@merchant.example', accountName: 'see https://evil.example', whom: BOB };
    const { subject, text } = renderNotice(
      { kind, facts, at: new Date() },
      { publicUrl: 'https://shop.example', us: 'Simway' },
    );
    expect(subject).not.toBe('');
    expect(text).not.toContain('evil');
    expect(text).toContain('If not: ');
  });
});
