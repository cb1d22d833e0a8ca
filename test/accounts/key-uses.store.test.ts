// When a key was last used: collected in memory, written for many keys at once, without changing the key
// otherwise.
import { setTimeout } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createAuthenticator, type Authenticator } from '../../src/accounts/keys/authenticate.ts';
import { writeLastUses } from '../../src/accounts/store/accounts.ts';
import type { AccountsDatabase } from '../../src/platform/database/tables.ts';
import { makeAccount, makeKey as makeKeyOf, openAccountsPool } from '../support/people/keys.ts';
import { openBooks } from '../support/world/books.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
/** With one connection, which a test may hold. */
const narrow = new Kysely<AccountsDatabase>({
  dialect: new PostgresDialect({ pool: openAccountsPool(books.url, 1) }),
});
afterAll(() => narrow.destroy());
const accountId = await makeAccount(books.accounts);

const running: Authenticator[] = [];
afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())));

function start(
  given: { db?: typeof narrow; writeUsesEveryMs?: number; errors?: unknown[] } = {},
): Authenticator {
  const { errors = [], db = books.accounts, writeUsesEveryMs } = given;
  const authenticator = createAuthenticator({
    db,
    pollDb: books.accounts,
    clock: { now: () => new Date() },
    brand: 'simway',
    onError: (error) => errors.push(error),
    writeUsesEveryMs,
  });
  running.push(authenticator);
  authenticator.start();
  return authenticator;
}

const makeKey = () => makeKeyOf(books.accounts, accountId);

const keyRow = (keyId: string) =>
  books.accounts.selectFrom('api_keys').selectAll().where('id', '=', keyId).executeTakeFirstOrThrow();
const lastUseOf = async (keyId: string): Promise<Date | null> => (await keyRow(keyId)).last_used_at;
const age = (keyId: string, minutes: number) =>
  sql`update accounts.api_keys set last_used_at = now() - make_interval(mins => ${minutes}) where id = ${keyId}`.execute(
    books.owner,
  );

describe('the last use of a key', () => {
  it('is written periodically, for used keys only, and changes nothing else of the key', async () => {
    const [used, unused] = [await makeKey(), await makeKey()];
    const before = await keyRow(used.keyId);
    const authenticator = start({ writeUsesEveryMs: 20 });
    for (let i = 0; i < 50; i += 1) await authenticator.authenticate(used.apiKey);
    const lastUse = await until(
      () => lastUseOf(used.keyId),
      (at) => at !== null,
    );
    expect(Math.abs(Date.now() - (lastUse?.getTime() ?? 0))).toBeLessThan(60_000);
    expect(await keyRow(used.keyId)).toEqual({ ...before, last_used_at: lastUse });
    expect(await lastUseOf(unused.keyId)).toBeNull();
  });

  it('does not delay a request: it is answered while every connection is taken', async () => {
    const { apiKey, keyId } = await makeKey();
    const authenticator = start({ db: narrow });
    await authenticator.authenticate(apiKey);
    const open = await narrow.startTransaction().execute();
    try {
      await sql`select 1`.execute(open);
      // The cache is used once the first poll is over; an earlier request waits for the connection.
      const answer = await until(
        () => Promise.race([authenticator.authenticate(apiKey), setTimeout(500, undefined)]),
        (principal) => principal !== undefined,
      );
      expect(answer).toMatchObject({ keyId });
    } finally {
      await open.rollback().execute();
    }
  });

  it('is written when the process stops', async () => {
    const { apiKey, keyId } = await makeKey();
    const authenticator = start();
    await authenticator.authenticate(apiKey);
    expect(await lastUseOf(keyId)).toBeNull();
    await authenticator.stop();
    expect(await lastUseOf(keyId)).not.toBeNull();
  });

  it('is written once every few minutes, whatever the number of processes', async () => {
    const { keyId } = await makeKey();
    await age(keyId, 3);
    const recent = await lastUseOf(keyId);
    await writeLastUses(books.accounts, [keyId]);
    expect(await lastUseOf(keyId)).toEqual(recent);
    await age(keyId, 5);
    await writeLastUses(books.accounts, [keyId]);
    expect(await lastUseOf(keyId)).not.toEqual(recent);
  });

  it('is not after the revocation or the end of the key, however late it is written', async () => {
    const [revoked, expired] = [await makeKey(), await makeKey()];
    await sql`update accounts.api_keys set revoked_at = now() - interval '5 minutes' where id = ${revoked.keyId}`.execute(
      books.owner,
    );
    await sql`update accounts.api_keys set expires_at = now() - interval '5 minutes' where id = ${expired.keyId}`.execute(
      books.owner,
    );
    await writeLastUses(books.accounts, [revoked.keyId, expired.keyId]);
    expect(await lastUseOf(revoked.keyId)).toEqual((await keyRow(revoked.keyId)).revoked_at);
    expect(await lastUseOf(expired.keyId)).toEqual((await keyRow(expired.keyId)).expires_at);
  });

  it('does not wait for a revocation in progress, nor a revocation for it', async () => {
    const [held, free] = [await makeKey(), await makeKey()];
    const open = await books.accounts.startTransaction().execute();
    await sql`update api_keys set revoked_at = now() where id = ${held.keyId}`.execute(open);
    await writeLastUses(books.accounts, [held.keyId, free.keyId]);
    await open.rollback().execute();
    expect(await lastUseOf(held.keyId)).toBeNull();
    expect(await lastUseOf(free.keyId)).not.toBeNull();
  });

  it('is written the next time if it could not be written', async () => {
    const { apiKey, keyId } = await makeKey();
    const errors: unknown[] = [];
    await sql`revoke update on accounts.api_keys from simway_accounts`.execute(books.owner);
    try {
      await start({ writeUsesEveryMs: 20, errors }).authenticate(apiKey);
      await until(
        () => errors.length,
        (count) => count > 0,
      );
    } finally {
      await sql`grant update on accounts.api_keys to simway_accounts`.execute(books.owner);
    }
    const usedAt = await until(
      () => lastUseOf(keyId),
      (at) => at !== null,
    );
    expect(Date.now() - usedAt!.getTime()).toBeLessThan(60_000);
  });
});
