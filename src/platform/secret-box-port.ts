/** Secrets that have to be kept and used again: sealed before they reach the database, opened where they are used. */

/** The bytes of a seal that say with which key it was made. */
export const SEAL_PREFIX_BYTES = 9;

/** The id of a seal's key, for people: a part of the key's hash, which gives nothing away. */
export function keyIdOf(sealed: Buffer): string {
  return sealed.subarray(1, SEAL_PREFIX_BYTES).toString('hex');
}

export interface SecretBox {
  /** `about` names what the secret belongs to: sealed for one thing, it opens for no other. */
  seal(plain: string, context: string): Buffer;
  /** Throws where the seal is broken, is about something else, or its key is not here. Never says the secret. */
  open(sealed: Buffer, context: string): string;
  /** Whether it is sealed with the key of today; otherwise it must be sealed again. */
  isCurrent(sealed: Buffer): boolean;
  /** How the seals of each key here begin: the key of today first. */
  readonly prefixes: readonly Buffer[];
}
