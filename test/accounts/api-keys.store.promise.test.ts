/**
 * Promise A7 where a key is checked: a stolen database holds no usable key, junk costs no query, a revocation
 * takes effect in time whatever the clocks say, and the time of a refusal does not show whether the key ever
 * existed.
 */
import { randomBytes } from 'node:crypto';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { environmentOfKey, hashApiKey, newApiKey } from '../../src/accounts/keys/api-key.ts';
import { createAuthenticator, type Authenticator } from '../../src/accounts/keys/authenticate.ts';
import { revoke } from '../../src/accounts/keys/manage-keys.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { revokeKeys } from '../../src/accounts/store/accounts.ts';
import type { AccountsDatabase } from '../../src/platform/database/tables.ts';
import { openBooks } from '../support/world/books.ts';
import { makeAccount, makeKey as makeKeyOf, openAccountsPool } from '../support/people/keys.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { until } from '../support/time/until.ts';
import { compareTimes } from '../support/time/welch.ts';
import { forFile } from '../support/world/for-file.ts';

const JUNK = 100_000;
const TIMED = size({ ci: 20_000, prove: 100_000 });
/** Of either kind. So many that differences between single keys average out. */
const KEYS = 200;
const REVOCATIONS = size({ ci: 2, prove: 25 });
const REVOKED_WITHIN_MS = 5_000;
/** The threshold of leakage tests: one in a hundred thousand by chance. */
const TELLING_T = 4.5;

const books = await forFile(openBooks());
const accountId = await makeAccount(books.accounts);
const running: Authenticator[] = [];
afterAll(() => Promise.all(running.map((authenticator) => authenticator.stop())));

const makeKey = (given: { expiresAt?: Date; environment?: 'live'; accountId?: string } = {}) =>
  makeKeyOf(books.accounts, accountId, given);

/** It does not poll by itself. */
const stopped = ({ aheadMs = 0, db = books.accounts } = {}): Authenticator =>
  createAuthenticator({
    db,
    pollDb: books.accounts,
    clock: { now: () => new Date(Date.now() + aheadMs) },
    brand: 'simway',
    onError: () => undefined,
  });

function authenticator(options: Parameters<typeof stopped>[0] = {}): Authenticator {
  const made = stopped(options);
  running.push(made);
  made.start();
  return made;
}

const isKnown = async (to: Authenticator, apiKey: string): Promise<boolean> => {
  try {
    await to.authenticate(apiKey);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'INVALID_TOKEN') return false;
    throw error;
  }
};

describe('a dump of the database', () => {
  /** Every row of our tables, as text. */
  async function dump(): Promise<string> {
    const { rows: tables } = await sql<{ name: string }>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname in ('accounts', 'live', 'test', 'public')`.execute(books.owner);
    const texts = await Promise.all(
      tables.map(async ({ name }) => {
        const { rows } = await sql<{ text: string | null }>`
          select string_agg(t::text, e'\n') as text from ${sql.raw(name)} t`.execute(books.owner);
        return `${name}\n${rows[0]?.text ?? ''}`;
      }),
    );
    return texts.join('\n');
  }

  /**
   * Every form in which a key could be used: the key, its random part in pieces, and other spellings of both.
   */
  function tracesIn(text: string, apiKey: string): string[] {
    const random = apiKey.split('_').at(-1)!;
    const pieces = Array.from({ length: random.length - 7 }, (_, i) => random.slice(i, i + 8));
    const spellings = [apiKey, random].flatMap((part) =>
      (['base64', 'base64url', 'hex', 'latin1'] as const).map((as) =>
        Buffer.from(part).toString(as).replaceAll('=', ''),
      ),
    );
    return [...pieces, ...spellings].filter((trace) => text.includes(trace));
  }

  it('contains no key, and nothing that is accepted as a key', async () => {
    const keys = [await makeKey(), await makeKey({ environment: 'live' }), await makeKey()];
    await revoke(books.accounts, { keyId: keys[2]!.keyId }, 'a test');
    const text = await dump();
    // The dump covers the keys: it contains their hashes and what is shown of a key.
    for (const { apiKey, keyId } of keys) {
      expect(text).toContain(hashApiKey(apiKey));
      expect(text).toContain(keyId);
      expect(tracesIn(text, apiKey)).toEqual([]);
    }
    const ours = authenticator();
    const words = new Set(text.match(/[\w-]{8,}/g));
    expect(words.size).toBeGreaterThan(20);
    for (const word of words) {
      for (const tried of [word, `simway_test_${word}`, `simway_live_${word}`]) {
        expect(environmentOfKey('simway', tried)).toBeUndefined();
        expect(await isKnown(ours, tried)).toBe(false);
      }
    }
  });

  it('would be caught if it contained a key', async () => {
    const { apiKey } = await makeKey();
    await sql`insert into accounts.audit_log (actor, action, subject) values ('a', 'b', ${apiKey})`.execute(
      books.owner,
    );
    expect(tracesIn(await dump(), apiKey).length).toBeGreaterThan(10);
    await sql`delete from accounts.audit_log where subject = ${apiKey}`.execute(books.owner);
  });
});

/** Lookups of keys, counted. Polls are not. */
function countedDb() {
  const pool = openAccountsPool(books.url, 2);
  const counts = { queries: 0, connections: 0 };
  pool.on('acquire', () => (counts.connections += 1));
  const db = new Kysely<AccountsDatabase>({
    dialect: new PostgresDialect({ pool }),
    log: () => void (counts.queries += 1),
  });
  return { db, counts };
}

describe('a key that was checked', () => {
  it('costs no query once changes are polled, and one each time before', async () => {
    const { db, counts } = countedDb();
    const { apiKey, keyId } = await makeKey();
    const costOf = async (by: Authenticator): Promise<number> => {
      const before = counts.queries;
      expect(await by.authenticate(apiKey)).toMatchObject({ keyId });
      return counts.queries - before;
    };
    const ours = authenticator({ db });
    await until(
      () => costOf(ours),
      (cost) => cost === 0,
    );
    const neverPolled = stopped({ db });
    expect([await costOf(neverPolled), await costOf(neverPolled)]).toEqual([1, 1]);
    await db.destroy();
  });
});

describe('junk', () => {
  const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-. ü\u0000'.split('');

  /** A real key with one fault. */
  function junk(random: Random, apiKey: string): string {
    const place = random.below(apiKey.length);
    const character = random.pick(CHARACTERS);
    const kinds = [
      () => apiKey.slice(0, place) + character + apiKey.slice(place + 1),
      () => apiKey.slice(0, place) + character + apiKey.slice(place),
      () => apiKey.slice(0, place) + apiKey.slice(place + 1),
      () => apiKey.slice(0, place),
      () => apiKey.slice(0, -6) + newApiKey('simway', 'test').slice(-6),
      () => apiKey.replace('_test_', '_live_'),
      () => newApiKey('other', 'test'),
      () => randomBytes(1 + random.below(40)).toString('base64'),
      () => apiKey.toUpperCase(),
    ];
    return random.pick(kinds)();
  }

  it(`of ${JUNK} sorts costs no query and no connection`, async () => {
    const { db, counts } = countedDb();
    try {
      const { apiKey } = await makeKey();
      // Not started: its own polling would be counted too.
      const checked = stopped({ db });
      await withSeed(async (seed) => {
        const random = createRandom(seed);
        let tried = 0;
        while (tried < JUNK) {
          const wrong = junk(random, apiKey);
          if (wrong === apiKey) continue;
          if (await isKnown(checked, wrong)) throw new Error(`accepted: ${JSON.stringify(wrong)}`);
          tried += 1;
          if (counts.queries > 0 || counts.connections > 0)
            throw new Error(`asked the database about ${JSON.stringify(wrong)}`);
        }
      });
      // Check that the counters work.
      expect(await isKnown(checked, newApiKey('simway', 'test'))).toBe(false);
      expect(await isKnown(checked, apiKey)).toBe(true);
      expect(counts).toEqual({ queries: 2, connections: 2 });
    } finally {
      await db.destroy();
    }
  });
});

describe.concurrent('a revocation', () => {
  /** The time until this key is refused, and whether it stays refused. */
  async function refusedAfterMs(
    by: Authenticator,
    apiKey: string,
    change: () => Promise<unknown>,
  ): Promise<number> {
    expect(await isKnown(by, apiKey)).toBe(true);
    await change();
    const startedAtMs = performance.now();
    await until(
      () => isKnown(by, apiKey),
      (known) => !known,
      { withinMs: 2 * REVOKED_WITHIN_MS, everyMs: 20 },
    );
    const refusedMs = performance.now() - startedAtMs;
    for (let i = 0; i < 20; i += 1) expect(await isKnown(by, apiKey)).toBe(false);
    return refusedMs;
  }

  const HOUR_MS = 3_600_000;
  it.for([
    ['as the database says', 0],
    ['an hour ahead', HOUR_MS],
    ['an hour behind', -HOUR_MS],
  ] as const)('takes effect in time with a clock %s', async ([, aheadMs], { expect }) => {
    const by = authenticator({ aheadMs });
    const refusedAfter = await Promise.all(
      Array.from({ length: REVOCATIONS }, async () => {
        const { keyId, apiKey } = await makeKey();
        return refusedAfterMs(by, apiKey, () => revoke(books.accounts, { keyId }, 'a test'));
      }),
    );
    expect(Math.max(...refusedAfter)).toBeLessThan(REVOKED_WITHIN_MS);
  });

  it("of an account's keys takes effect for each key", async ({ expect }) => {
    const by = authenticator();
    const own = { accountId: await makeAccount(books.accounts) };
    const [other, { apiKey }] = [await makeKey(own), await makeKey(own)];
    expect(await isKnown(by, other.apiKey)).toBe(true);
    const change = () => revoke(books.accounts, own, 'a test');
    expect(await refusedAfterMs(by, apiKey, change)).toBeLessThan(REVOKED_WITHIN_MS);
    expect(await isKnown(by, other.apiKey)).toBe(false);
  });

  it('takes effect where its transaction began before a poll and was committed after it', async ({
    expect,
  }) => {
    const by = authenticator();
    const keys = await Promise.all([makeKey(), makeKey(), makeKey()]);
    for (const { apiKey } of keys) expect(await isKnown(by, apiKey)).toBe(true);
    const [late, first, second] = keys;
    const open = await books.accounts.startTransaction().execute();
    await revokeKeys(open, { keyId: late.keyId });
    // A poll finds each of these two. The second poll begins after the time that the open revocation carries.
    for (const { keyId, apiKey } of [first, second])
      await refusedAfterMs(by, apiKey, () => revoke(books.accounts, { keyId }, 'a test'));
    expect(await isKnown(by, late.apiKey)).toBe(true);
    expect(await refusedAfterMs(by, late.apiKey, () => open.commit().execute())).toBeLessThan(
      REVOKED_WITHIN_MS,
    );
  });

  it('takes effect while requests hold every connection of their pool, and known keys keep working', async ({
    expect,
  }) => {
    const pool = openAccountsPool(books.url, 2);
    const by = authenticator({
      db: new Kysely<AccountsDatabase>({ dialect: new PostgresDialect({ pool }) }),
    });
    const [revoked, known] = [await makeKey(), await makeKey()];
    for (const { apiKey } of [revoked, known]) expect(await isKnown(by, apiKey)).toBe(true);
    const held = [await pool.connect(), await pool.connect()];
    // Longer than cached keys are trusted without a poll.
    const untilMs = performance.now() + REVOKED_WITHIN_MS + 500;
    try {
      const change = () => revoke(books.accounts, { keyId: revoked.keyId }, 'a test');
      expect(await refusedAfterMs(by, revoked.apiKey, change)).toBeLessThan(REVOKED_WITHIN_MS);
      while (performance.now() < untilMs) {
        expect(await isKnown(by, known.apiKey)).toBe(true);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    } finally {
      for (const client of held) client.release();
      await by.stop();
      await pool.end();
    }
  });

  it('is not needed for an expired key: it is refused without a poll', async ({ expect }) => {
    const by = authenticator();
    const { apiKey } = await makeKey({ expiresAt: new Date(Date.now() + 1_000) });
    expect(await refusedAfterMs(by, apiKey, () => Promise.resolve())).toBeLessThan(1_500);
  });

  it('takes effect when polling fails: cached keys are trusted for a short time only', async ({ expect }) => {
    const { keyId, apiKey } = await makeKey();
    const by = stopped();
    expect(await isKnown(by, apiKey)).toBe(true);
    await revoke(books.accounts, { keyId }, 'a test');
    expect(await isKnown(by, apiKey)).toBe(false);
  });

  it('does not affect a new key: it is accepted soon, even if it was guessed and refused before it existed', async ({
    expect,
  }) => {
    const by = authenticator();
    const { keyId, apiKey } = await makeKey();
    const hidden = sql`update accounts.api_keys set key_sha256 = ${randomBytes(32)} where id = ${keyId}`;
    await hidden.execute(books.owner);
    expect(await isKnown(by, apiKey)).toBe(false);
    await sql`update accounts.api_keys set key_sha256 = decode(${hashApiKey(apiKey)}, 'hex') where id = ${keyId}`.execute(
      books.owner,
    );
    await until(
      () => isKnown(by, apiKey),
      (known) => known,
      { withinMs: REVOKED_WITHIN_MS, everyMs: 50 },
    );
  });
});

interface TimedKey {
  readonly apiKey: string;
  readonly timesNs: number[];
}

describe('a refusal', () => {
  it(`takes as long for a revoked key as for an unknown one: ${TIMED} samples`, async () => {
    await withSeed(async (seed) => {
      const random = createRandom(seed);
      const by = authenticator();
      const kinds = { revoked: [] as TimedKey[], unknown: [] as TimedKey[] };
      for (let i = 0; i < KEYS; i += 1) {
        const { keyId, apiKey } = await makeKey();
        await revoke(books.accounts, { keyId }, 'a test');
        kinds.revoked.push({ apiKey, timesNs: [] });
        kinds.unknown.push({ apiKey: newApiKey('simway', 'test'), timesNs: [] });
      }
      const warmUp = Math.trunc(TIMED / 10);
      for (let i = -warmUp; i < TIMED; i += 1) {
        const kind = random.below(2) === 0 ? 'revoked' : 'unknown';
        const { apiKey, timesNs } = random.pick(kinds[kind]);
        // A fresh string, as each request brings one: reusing a string would change the timing.
        const given = Buffer.from(apiKey).toString('latin1');
        const startedAtNs = process.hrtime.bigint();
        const known = await isKnown(by, given);
        const tookNs = Number(process.hrtime.bigint() - startedAtNs);
        if (known) throw new Error(`a ${kind} key was accepted`);
        if (i >= 0) timesNs.push(tookNs);
      }
      const timesOf = (keys: readonly TimedKey[]) => keys.map(({ timesNs }) => timesNs);
      const { t, meansNs } = compareTimes(timesOf(kinds.revoked), timesOf(kinds.unknown));
      console.log(
        `A7: |t| = ${Math.abs(t).toFixed(2)} (${meansNs.map((ns) => ns.toFixed(0)).join(' and ')} ns)`,
      );
      expect(Math.abs(t)).toBeLessThan(TELLING_T);
    });
  });
});
