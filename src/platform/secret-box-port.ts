/** Secrets that have to be kept and used again: sealed before they reach the database, opened where they are used. */

export interface SecretBox {
  /** `about` names what the secret belongs to: sealed for one thing, it opens for no other. */
  seal(plain: string, about: string): Buffer;
  /** Throws where the seal is broken, is about something else, or its key is not here. Never says the secret. */
  open(sealed: Buffer, about: string): string;
  /** Whether it is sealed with the key of today; otherwise it is to be sealed anew. */
  isCurrent(sealed: Buffer): boolean;
}
