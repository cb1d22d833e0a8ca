/**
 * scrypt, with cost and salt beside the hash, so that the cost can be raised for new passwords. Few are
 * hashed at a time: a flood of guesses must not take 32 MiB and a fifth of a second each from requests.
 * Operators and known devices have lanes of their own, and within a lane each network address has its turn in
 * the round, so that whoever guesses from many waits longest.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { randomBytes, randomInt, scrypt, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../../domain/errors.ts';

interface ScryptCost {
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MiB, three times over: OWASP's figure for that much memory. */
const COST: ScryptCost = { logN: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Addresses that wait in a lane: about ten seconds of waiting on one core. Only attackers are so many. */
const MAX_ADDRESSES = 50;
/** Of one address: as many as it may try in a minute. */
const MAX_OF_ADDRESS = 10;
/** Leaves a core to requests. */
const USUAL_AT_ONCE = Math.max(1, Math.min(4, availableParallelism() - 1));
const RETRY_AFTER_SECONDS = 5;

const STORED = /^scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]+)\$([\w-]+)$/;

/** Without letters that look alike: people read it aloud or copy it by hand. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz';
const ONE_TIME_GROUPS = 4;
const GROUP_LENGTH = 5;

export type Passwords = ReturnType<typeof createPasswords>;

/** `operator`: from the addresses of operators. `known`: a browser in which this user signed in before. */
export type Lane = 'operator' | 'known' | 'usual';

interface Asker {
  readonly lane: Lane;
  /** The bucket of the address. */
  readonly from: string;
}

const asker = new AsyncLocalStorage<Asker>();
const NOBODY: Asker = { lane: 'usual', from: 'nobody' };

/** What is hashed in `work` waits in this lane. better-auth, which calls us, cannot say for whom. */
export const hashingFor = <T>(who: Asker, work: () => Promise<T>): Promise<T> => asker.run(who, work);

export function createPasswords({
  cost = COST,
  onFull = () => undefined,
}: { readonly cost?: ScryptCost; readonly onFull?: (lane: Lane) => void } = {}) {
  const lanes: Readonly<Record<Lane, FairQueue>> = {
    operator: createFairQueue(1),
    known: createFairQueue(1),
    usual: createFairQueue(USUAL_AT_ONCE),
  };
  const inQueue = async <T>(work: () => Promise<T>): Promise<T> => {
    const { lane, from } = asker.getStore() ?? NOBODY;
    const turn = lanes[lane](from, work);
    if (turn) return turn;
    onFull(lane);
    const retry = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    throw new DomainError('SERVICE_UNAVAILABLE', 'Too many people sign in right now', retry);
  };
  return {
    hash: async (password: string): Promise<string> => {
      const salt = randomBytes(SALT_BYTES);
      return write(cost, salt, await inQueue(() => derive(password, salt, cost)));
    },
    isRight: async (stored: string, password: string): Promise<boolean> => {
      const { salt, hash, cost: storedCost } = read(stored);
      return timingSafeEqual(await inQueue(() => derive(password, salt, storedCost)), hash);
    },
  };
}

/** About 113 bits. */
export function oneTimePassword(): string {
  const letter = (): string => ALPHABET.charAt(randomInt(ALPHABET.length));
  const group = (): string => Array.from({ length: GROUP_LENGTH }, letter).join('');
  return Array.from({ length: ONE_TIME_GROUPS }, group).join('-');
}

function derive(password: string, salt: Buffer, { logN, r, p }: ScryptCost): Promise<Buffer> {
  const N = 2 ** logN;
  return new Promise((resolve, reject) => {
    // NFKC, since keyboards compose the same letters differently.
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }, (error, hash) =>
      error ? reject(error) : resolve(hash),
    );
  });
}

function write({ logN, r, p }: ScryptCost, salt: Buffer, hash: Buffer): string {
  return `scrypt$ln=${logN},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

function read(stored: string): { readonly cost: ScryptCost; readonly salt: Buffer; readonly hash: Buffer } {
  const [, logN, r, p, salt = '', hash = ''] = STORED.exec(stored) ?? [];
  if (logN === undefined) throw new Error('a stored password cannot be read');
  return {
    cost: { logN: Number(logN), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  };
}

/** undefined: too many wait. */
type FairQueue = <T>(from: string, work: () => Promise<T>) => Promise<T> | undefined;

/** Runs so many at a time, and of those that wait one of each address in turn. */
function createFairQueue(atOnce: number): FairQueue {
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;
  const startNext = (): void => {
    for (const [from, turns] of waiting) {
      if (running >= atOnce) return;
      // The address goes to the end of the round.
      waiting.delete(from);
      const [next, ...rest] = turns;
      if (rest.length > 0) waiting.set(from, rest);
      running += 1;
      next?.();
    }
  };
  return (from, work) => {
    const own = waiting.get(from) ?? [];
    if (own.length >= MAX_OF_ADDRESS || (own.length === 0 && waiting.size >= MAX_ADDRESSES)) return undefined;
    const { promise: turn, resolve } = Promise.withResolvers<undefined>();
    waiting.set(from, [...own, () => resolve(undefined)]);
    startNext();
    return turn.then(work).finally(() => {
      running -= 1;
      startNext();
    });
  };
}
