/**
 * What operators see of an account's members, keys and webhooks, in one environment: everything but secrets,
 * and no row of another account.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys/manage-keys.ts';
import { createAccount } from '../../src/accounts/manage-accounts.ts';
import { writeAudit } from '../../src/accounts/store/audit.ts';
import { beginUserAnew, insertMember } from '../../src/accounts/store/users.ts';
import {
  listAccountEndpoints,
  listAccountKeys,
  listAccountMembers,
  listUndeliveredMessages,
} from '../../src/operations/accounts.ts';
import { MAX_ATTEMPTS, readMessages } from '../../src/operations/store/accounts.ts';
import { openBooks } from '../support/world/books.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { ago, NOW, rowsOf } from './stuck.support.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
const rows = rowsOf(books.owner);

const hex = () => randomBytes(16).toString('hex');
const deps = { accounts: books.accounts, environment: 'test' as const, db: books.world };
const SECRET = 's3cret-of-the-merchant';
const unknownAccount = `acc-${hex()}`;

const [name, currency] = ['Merchant', 'NGN'] as const;
const account = { type: 'MERCHANT', name, currency, plan: 'STANDARD' } as const;
const mine = await createAccount(books.accounts, { ...account, email: 'a@merchant.example' }, 'a test');
const other = await createAccount(books.accounts, { ...account, email: 'b@merchant.example' }, 'a test');

async function addMember(given: { role: 'OWNER' | 'SUPPORT'; email: string }, accountId = mine) {
  const user = { email: given.email, name: 'Ada', passwordHash: 'scrypt$1$1$1$x$x' };
  const id = await beginUserAnew(books.accounts, user);
  await insertMember(books.accounts, { account_id: accountId, user_id: id, role: given.role });
  return id;
}

async function addKey(accountId: string, environment: 'test' | 'live'): Promise<string> {
  const made = await createKey(
    books.accounts,
    {
      ...{ accountId, environment, brand: 'simway', scopes: ['read'], allowedAddresses: ['127.0.0.1'] },
      ...{ companyName: 'Merchant', websiteUrl: 'https://merchant.example', expiresAt: null },
    },
    'a test',
  );
  return made.keyId;
}

describe('members', () => {
  it('show role, second factor, lock and the time of the last sign-in', async () => {
    const owner = await addMember({ role: 'OWNER', email: 'owner@merchant.example' });
    const support = await addMember({ role: 'SUPPORT', email: 'support@merchant.example' });
    await addMember({ role: 'OWNER', email: 'owner@other.example' }, other);
    await sql`update users set two_factor_enabled = true where id = ${owner}`.execute(books.accounts);
    await sql`insert into sign_in_failures (user_id, place, locked_until)
               values (${owner}, 'x', now() + interval '10 min')`.execute(books.accounts);
    for (const action of ['session.open', 'session.open', 'member.change'] as const)
      await writeAudit(books.accounts, {
        actor: 'owner@merchant.example',
        action,
        subject: owner,
        detail: {},
      });
    const opened = await books.accounts
      .selectFrom('audit_log')
      .select(['at', 'action'])
      .where('subject', '=', owner)
      .where('action', '=', 'session.open')
      .orderBy('id', 'desc')
      .execute();
    expect(await listAccountMembers(deps, mine)).toEqual([
      {
        ...{ userId: owner, email: 'owner@merchant.example', name: 'Ada', role: 'OWNER' },
        ...{ hasSecondFactor: true, joinedAt: expect.any(Date) as Date, lastSignInAt: opened[0]?.at },
        ...{ lockedUntil: expect.any(Date) as Date, removalAskedBy: null },
      },
      {
        ...{ userId: support, email: 'support@merchant.example', name: 'Ada', role: 'SUPPORT' },
        ...{ hasSecondFactor: false, joinedAt: expect.any(Date) as Date, lastSignInAt: null },
        ...{ lockedUntil: null, removalAskedBy: null },
      },
    ]);
  });
});

describe('keys', () => {
  it('show those of the environment, revoked ones included, without hash', async () => {
    const [kept, revoked] = [await addKey(mine, 'test'), await addKey(mine, 'test')];
    await addKey(mine, 'live');
    await addKey(other, 'test');
    await sql`update api_keys set revoked_at = now() where id = ${revoked}`.execute(books.accounts);
    const keys = await listAccountKeys(deps, mine);
    expect(new Map(keys.map(({ keyId, revokedAt }) => [keyId, revokedAt !== null]))).toEqual(
      new Map([
        [kept, false],
        [revoked, true],
      ]),
    );
    expect(Object.keys(keys[0] ?? {})).not.toContain('key_sha256');
    expect(keys[0]?.key).toMatch(/^simway_test_….{4}$/);
  });
});

describe('webhooks', () => {
  const url = `https://hooks.example:8443/${SECRET}?token=${SECRET}`;
  let endpoint: string;
  let removed: string;
  beforeAll(async () => {
    endpoint = await rows.endpoint({ account_id: mine, url, failing_since: ago(5) });
    removed = await rows.endpoint({ account_id: mine, created_at: ago(1), deleted_at: ago(1) });
    await rows.endpoint({ account_id: other });
  });

  it('show the host of an endpoint, and deleted endpoints last', async () => {
    const found = await listAccountEndpoints(deps, mine);
    expect(found.map(({ endpointId, host, deletedAt }) => [endpointId, host, deletedAt !== null])).toEqual([
      [endpoint, 'hooks.example:8443', false],
      [removed, 'merchant.example', true],
    ]);
    expect(JSON.stringify(found)).not.toContain(SECRET);
  });

  it('show undelivered messages, newest first, page by page, with their latest attempts', async () => {
    const own = { account_id: mine };
    const failed = await rows.message(endpoint, {
      ...own,
      status: 'FAILED',
      attempts: 12,
      created_at: ago(3),
    });
    const pending = await rows.message(endpoint, { ...own, created_at: ago(2) });
    const delivered = await rows.message(endpoint, {
      ...own,
      status: 'DELIVERED',
      attempts: 1,
      created_at: ago(1),
    });
    const foreign = await rows.message(await rows.endpoint({ account_id: other }), {
      ...{ account_id: other, status: 'FAILED' },
    });
    await sql`
      insert into webhook_attempts (message_id, attempt, at, ms, outcome, status, answer_start, url)
      select ${failed}, i, ${NOW}::timestamptz - (20 - i) * interval '1 min', 7, case when i = 12 then 'no-connection' else 'answered' end,
             case when i < 12 then 500 end, ${SECRET}, ${url} from generate_series(1, 12) i
      union all select ${delivered}, 1, ${NOW}, 7, 'answered', 200, '', ${url}`.execute(books.owner);
    const first = await listUndeliveredMessages(deps, mine, { limit: 1 });
    expect(first).toMatchObject({ items: [{ messageId: pending, latestAttempts: [] }], next: pending });
    const second = await listUndeliveredMessages(deps, mine, { after: pending, limit: 1 });
    expect(second.next).toBeUndefined();
    const [message] = second.items;
    expect(message).toMatchObject({ messageId: failed, host: 'hooks.example:8443', attempts: 12 });
    expect(message?.latestAttempts).toHaveLength(MAX_ATTEMPTS);
    expect(message?.latestAttempts.map(({ attempt, status }) => [attempt, status])).toEqual([
      ...Array.from({ length: 9 }, (_, index) => [index + 3, 500]),
      [12, null],
    ]);
    expect(JSON.stringify([first, second], (_key, value: unknown) => value)).not.toContain(SECRET);

    const one = await listUndeliveredMessages(deps, mine, { messageId: delivered, limit: 1 });
    expect(one).toMatchObject({ items: [{ messageId: delivered, latestAttempts: [{ status: 200 }] }] });
    expect((await listUndeliveredMessages(deps, mine, { messageId: foreign, limit: 1 })).items).toEqual([]);
    await expect(listUndeliveredMessages(deps, mine, { after: foreign, limit: 1 })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
  });

  it('show undelivered messages without reading the many delivered ones', async () => {
    await sql`
      insert into webhook_messages (id, endpoint_id, account_id, event, event_key, body, status, closed_at)
      select 'msg-' || lpad(i::text, 32, '0'), ${endpoint}, ${mine}, 'esim.purchased', 'k' || i, '{}', 'DELIVERED', now()
        from generate_series(1, 20000) i`.execute(books.owner);
    await sql`analyze webhook_messages`.execute(books.owner);
    const { scans } = await explain(books, (db) => readMessages(db, { accountId: mine, limit: 20 }));
    expect(rowsReadBy(scans)).toBeLessThan(100);
  });
});

it('an unknown account gets NOT_FOUND', async () => {
  for (const list of [listAccountMembers, listAccountKeys, listAccountEndpoints])
    await expect(list(deps, unknownAccount)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(listUndeliveredMessages(deps, unknownAccount, { limit: 1 })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});
