/**
 * scrypt, with cost and salt beside the hash, so that the cost can be raised for new passwords. One is hashed
 * at a time: a flood of guesses must not take 32 MiB and a fifth of a second each from requests.
 */
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
/** About four seconds of waiting; only an attacker signs in that often. */
const MAX_WAITING = 20;
const RETRY_AFTER_SECONDS = 5;

const STORED = /^scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]+)\$([\w-]+)$/;

/** Without letters that look alike: people read it aloud or copy it by hand. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz';
const ONE_TIME_GROUPS = 4;
const GROUP_LENGTH = 5;

export type Passwords = ReturnType<typeof createPasswords>;

export function createPasswords({ cost = COST }: { readonly cost?: ScryptCost } = {}) {
  const inQueue = createQueue();
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

/** Runs one at a time, in order of arrival. Throws SERVICE_UNAVAILABLE when too many wait. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (work) => {
    if (waiting >= MAX_WAITING) {
      const retry = { retryAfterSeconds: RETRY_AFTER_SECONDS };
      throw new DomainError('SERVICE_UNAVAILABLE', 'Too many people sign in right now', retry);
    }
    waiting += 1;
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      waiting -= 1;
    }
  };
}
