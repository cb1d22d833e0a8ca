import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../../domain/account.ts';
import type { Clock } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import { rethrow } from '../../platform/database/errors.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { startPoller, type Poller } from '../../platform/poller.ts';
import * as store from '../store/accounts.ts';
import type { StoredKey } from '../store/accounts.ts';
import { environmentOfKey, hashApiKey } from './api-key.ts';

/** Half the promise, so that one failed poll still leaves time for the next. */
const POLL_INTERVAL_MS = 2_000;
const TRUST_MEMORY_MS = 4_500;
/** A change becomes visible at its commit, a little after its `changed_at`. */
const POLL_OVERLAP_MS = 10_000;
const MAX_KEYS = 20_000;
/** Refused keys rarely cost a query, and take equally long whether they were keys once or not. */
const REFUSED_TTL_MS = 4_000;

export type Authenticator = ReturnType<typeof createAuthenticator>;

/** Called before Postgres is asked about a guess. What it throws ends the request, unless the key is new. */
export type BeforeKeyLookup = () => Promise<void>;

interface AuthenticatorDeps {
  readonly db: AccountsDb;
  /** For the poll alone, so that it never waits for requests that use all connections of `db`. */
  readonly pollDb: AccountsDb;
  readonly clock: Clock;
  readonly brand: string;
  readonly onError: (error: unknown) => void;
  /** For tests. */
  readonly writeUsesEveryMs?: number;
}

/**
 * Answers known keys from memory. A poll makes revocations reach this process within 5 s (promise A7). While
 * it has failed for too long, every request asks Postgres.
 */
export function createAuthenticator(deps: AuthenticatorDeps) {
  const { db, pollDb, clock, brand, onError } = deps;
  const memory = createKeyMemory(clock);
  /** By the clock of Postgres, since `changed_at` is: ours may be wrong. */
  let changesReadUpTo: Date | undefined;
  let poller: Poller | undefined;
  const uses = createKeyUses(deps);

  const poll = async (): Promise<void> => {
    const startedAtMs = clock.now().getTime();
    const databaseTime = await store.readDatabaseTime(pollDb);
    if (!changesReadUpTo) for (const hex of await store.findValidKeyHashes(pollDb)) issued.note(hex, true);
    const since = new Date((changesReadUpTo ?? databaseTime).getTime() - POLL_OVERLAP_MS);
    for (const key of await store.findKeysChangedSince(pollDb, since)) {
      issued.note(key.sha256Hex, isValid(key, clock.now().getTime()));
      memory.update(key);
    }
    changesReadUpTo = databaseTime;
    memory.trustFrom(startedAtMs);
  };

  const issued = createIssuedKeys(poll, onError);

  /** Throws INVALID_TOKEN for a key that is malformed (no query), unknown, expired or revoked. */
  const authenticate = async (rawKey: string, beforeKeyLookup: BeforeKeyLookup): Promise<Principal> => {
    const hex = hashApiKey(rawKey);
    const remembered = memory.find(hex);
    if (remembered === 'refused') throw invalidToken();
    if (remembered) return principalOf(remembered);
    const environment = environmentOfKey(brand, rawKey);
    if (!environment) throw invalidToken();
    if (!memory.has(hex)) await issued.admit(hex, beforeKeyLookup);
    const found = await store.findKey(db, Buffer.from(hex, 'hex'));
    const key = memory.remember(hex, found?.environment === environment ? found : undefined);
    if (!key) throw invalidToken();
    return principalOf(key);
  };

  const principalOf = (key: StoredKey): Principal => {
    uses.note(key.keyId);
    return callerOf(key);
  };

  return {
    authenticate: (rawKey: string, beforeKeyLookup: BeforeKeyLookup = noLimit): Promise<Principal> =>
      authenticate(rawKey, beforeKeyLookup).catch(rethrow),
    start: (): void => {
      poller = startPoller(poll, POLL_INTERVAL_MS, onError);
      poll().catch(onError);
      uses.start();
    },
    /** Writes the last uses that are not written yet. */
    stop: async (): Promise<void> => {
      await Promise.all([poller?.stop(), uses.stop()]);
    },
  };
}

export function callerOf(key: StoredKey): Principal {
  const { account, keyId, maker, environment, scopes, allowedAddresses, mayInstall } = key;
  return { account, keyId, maker, environment, scopes, allowedAddresses, mayInstall };
}

/** By their hash in hexadecimal. */
function createKeyMemory(clock: Clock) {
  const known = new LRUCache<string, StoredKey>({ max: MAX_KEYS });
  const refused = new LRUCache<string, true>({ max: MAX_KEYS, ttl: REFUSED_TTL_MS });
  let trustedFromMs = 0;

  const remember = (hex: string, key: StoredKey | undefined): StoredKey | undefined => {
    if (key && isValid(key, clock.now().getTime())) {
      known.set(hex, key);
      return key;
    }
    known.delete(hex);
    refused.set(hex, true);
    return undefined;
  };

  return {
    remember,
    has: (hex: string): boolean => known.has(hex),
    /** Only of keys that are known: a key's change reaches memory this way. */
    update: (key: StoredKey): void => {
      if (known.has(key.sha256Hex)) remember(key.sha256Hex, key);
    },
    /** All changes up to this time have been read. */
    trustFrom: (atMs: number): void => {
      trustedFromMs = atMs;
    },
    /** Undefined: ask Postgres, since the key is not in memory or the last poll was too long ago. */
    find: (hex: string): StoredKey | 'refused' | undefined => {
      const nowMs = clock.now().getTime();
      if (Math.abs(nowMs - trustedFromMs) >= TRUST_MEMORY_MS) return undefined;
      const key = known.get(hex);
      if (!key) return refused.has(hex) ? 'refused' : undefined;
      if (isValid(key, nowMs)) return key;
      remember(hex, undefined);
      return 'refused';
    },
  };
}

const noLimit: BeforeKeyLookup = () => Promise.resolve();

/** Whether it works, as far as revocation and expiry go. */
export const isValid = ({ revokedAt, expiresAt }: StoredKey, nowMs: number): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt.getTime() > nowMs);

export const invalidToken = (): DomainError => new DomainError('INVALID_TOKEN', 'Invalid or expired API key');

/** How often unknown keys, from addresses with too many failures, make us poll for new keys. */
const NEW_KEYS_POLL_MS = 250;

/**
 * Tells valid keys that this process has not met yet from guesses, so that guesses from an address lock out
 * no neighbour behind it. `poll` reads what changed, and calls `note`.
 */
function createIssuedKeys(poll: () => Promise<void>, onError: AuthenticatorDeps['onError']) {
  /** SHA-256 of every valid key, about 100 bytes each. */
  const valid = new Set<string>();
  let soon: Promise<void> | undefined;
  /** One poll for all that wait for it, and a pause before the next: guesses cannot make it more. */
  const pollSoon = (): Promise<void> => {
    soon ??= pause(NEW_KEYS_POLL_MS)
      .then(poll)
      .catch(onError)
      .finally(() => (soon = undefined));
    return soon;
  };
  return {
    note: (sha256Hex: string, isValid: boolean): unknown =>
      isValid ? valid.add(sha256Hex) : valid.delete(sha256Hex),
    /** Counts what may be a guess. A valid key is never counted. */
    admit: async (sha256Hex: string, beforeKeyLookup: BeforeKeyLookup): Promise<void> => {
      if (valid.has(sha256Hex)) return;
      try {
        await beforeKeyLookup();
      } catch (tooMany) {
        await pollSoon();
        if (!valid.has(sha256Hex)) throw tooMany;
      }
    },
  };
}

/** One statement writes the keys of this time. */
const WRITE_INTERVAL_MS = 5 * 60_000;

/** When each key was last used, for people who search for unused keys. Requests only note it in memory. */
function createKeyUses({ db, onError, writeUsesEveryMs = WRITE_INTERVAL_MS }: AuthenticatorDeps) {
  let used = new Set<string>();
  let poller: Poller | undefined;

  /** All of them get the time of the writing, which is late by one interval at most. */
  const write = async (): Promise<void> => {
    if (used.size === 0) return;
    const written = used;
    used = new Set();
    try {
      await store.writeLastUses(db, [...written]);
    } catch (error) {
      for (const keyId of written) used.add(keyId);
      throw error;
    }
  };

  return {
    note: (keyId: string): void => void used.add(keyId),
    start: (): void => {
      poller = startPoller(write, writeUsesEveryMs, onError);
    },
    stop: async (): Promise<void> => {
      await poller?.stop();
      await write().catch(onError);
    },
  };
}
