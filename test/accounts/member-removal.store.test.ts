// A removed member's endpoints end in the transaction that removes the member: never one without the other.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { memberUseCases, type MemberDeps } from '../../src/accounts/members.ts';
import { insertMember, insertUser } from '../../src/accounts/store/users.ts';
import { ENVIRONMENTS } from '../../src/domain/account.ts';
import type { Member } from '../../src/domain/callers.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import { endEndpointsBy } from '../../src/webhooks/endpoint-changes.ts';
import { createEndpoint } from '../../src/webhooks/store/endpoints.ts';
import { makeAccount, makeKey } from '../support/people/keys.ts';
import { openBooks } from '../support/world/books.ts';
import { openSchema } from '../support/world/database.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
const db = books.accounts;
const now = new Date();
const live = openSchema<WorldDatabase>(books.url, 'live');
await forFile(Promise.resolve({ close: () => live.destroy() }));
const owners = { test: books.owner, live };

const EMAIL = 'bob@merchant.example';
const accountId = await makeAccount(db);
const join = async (email: string): Promise<string> => {
  const id = (await insertUser(db, { email, name: email, passwordHash: 'scrypt$x' })) ?? '';
  await insertMember(db, { account_id: accountId, user_id: id, role: 'OWNER' });
  return id;
};
const [ada, bob] = [await join('ada@merchant.example'), await join(EMAIL)];
await makeKey(db, accountId, {}, EMAIL);
for (const [digit, createdBy] of [EMAIL, 'ada@merchant.example'].entries())
  for (const world of Object.values(owners))
    await createEndpoint(world, {
      ...{ id: `ep-${String(digit).repeat(32)}`, accountId, createdBy, url: 'https://shop.example/hooks' },
      ...{ events: ['esim.purchased'], secretSealed: Buffer.alloc(64), now, maxPerAccount: 16 },
    });

const remove = (): Promise<void> => {
  const deps = { db, clock: { now: () => now }, endEndpoints: endEndpointsBy } as unknown as MemberDeps;
  const member = { account: { id: accountId }, userId: ada, email: 'ada@merchant.example' };
  return memberUseCases.removeMember(deps, member as unknown as Member, bob, { keepKeys: false });
};

/** What the member still has. */
async function left(): Promise<string[]> {
  const found: string[] = [];
  const members = db.selectFrom('members').select('user_id').where('user_id', '=', bob);
  if (await members.executeTakeFirst()) found.push('member');
  const keys = db.selectFrom('api_keys').select('id').where('created_by', '=', EMAIL);
  if (await keys.where('revoked_at', 'is', null).executeTakeFirst()) found.push('key');
  for (const environment of ENVIRONMENTS) {
    const endpoints = owners[environment].selectFrom('webhook_endpoints').select('created_by');
    for (const { created_by } of await endpoints.where('deleted_at', 'is', null).execute())
      if (created_by === EMAIL) found.push(`${environment} endpoint`);
  }
  return found;
}

it('a commit that fails leaves member, keys and endpoints, and the next attempt ends them all', async () => {
  const everything = ['member', 'key', ...ENVIRONMENTS.map((one) => `${one} endpoint`)];
  expect(await left()).toEqual(everything);
  await sql`
    create function accounts.fail() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create constraint trigger failing after delete on accounts.members
      deferrable initially deferred for each row execute function accounts.fail()`.execute(books.owner);
  await expect(remove()).rejects.toThrow('not now');
  expect(await left()).toEqual(everything);
  await sql`drop trigger failing on accounts.members`.execute(books.owner);
  await remove();
  expect(await left()).toEqual([]);
  const { detail } = await db
    .selectFrom('audit_log')
    .select('detail')
    .where('action', '=', 'member.remove')
    .executeTakeFirstOrThrow();
  expect(detail).toMatchObject({ revokedKeys: 1, endedEndpoints: 2 });
  for (const world of Object.values(owners)) {
    const kept = world.selectFrom('webhook_endpoints').select('created_by').where('deleted_at', 'is', null);
    expect(await kept.execute()).toEqual([{ created_by: 'ada@merchant.example' }]);
  }
});
