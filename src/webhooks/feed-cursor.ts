/** Where a reader of the feed stands, as an opaque text. Pure. */
import { createHash } from 'node:crypto';

export interface FeedPosition {
  readonly position: bigint;
  readonly seq: bigint;
}

/** Before the oldest event. */
export const FEED_START: FeedPosition = { position: 0n, seq: 0n };

const NUMBER_BYTES = 8;
const NUMBERS_BYTES = 2 * NUMBER_BYTES;
/** Finds what was cut off, mistyped, or made for another account or environment. It keeps nothing secret: a cursor opens nothing. */
const CHECK_BYTES = 8;
/** In base64url. */
export const CURSOR_CHARACTERS = ((NUMBERS_BYTES + CHECK_BYTES) * 4) / 3;

/** `owner`: the account and its environment. A cursor is good for no other. */
export function writeCursor({ position, seq }: FeedPosition, owner: string): string {
  const numbers = Buffer.alloc(NUMBERS_BYTES);
  numbers.writeBigInt64BE(position, 0);
  numbers.writeBigInt64BE(seq, NUMBER_BYTES);
  return Buffer.concat([numbers, checkOf(numbers, owner)]).toString('base64url');
}

/** undefined: no cursor of this owner. */
export function readCursor(text: string, owner: string): FeedPosition | undefined {
  if (text.length !== CURSOR_CHARACTERS) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const numbers = bytes.subarray(0, NUMBERS_BYTES);
  const isOurs =
    bytes.toString('base64url') === text && checkOf(numbers, owner).equals(bytes.subarray(NUMBERS_BYTES));
  return isOurs
    ? { position: numbers.readBigInt64BE(0), seq: numbers.readBigInt64BE(NUMBER_BYTES) }
    : undefined;
}

function checkOf(numbers: Buffer, owner: string): Buffer {
  const hash = createHash('sha256').update(`feed cursor of ${owner}:`).update(numbers).digest();
  return hash.subarray(0, CHECK_BYTES);
}
