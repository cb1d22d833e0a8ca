/**
 * Seals secrets with AES-256-GCM: what is kept is unreadable and cannot be changed, or moved to another
 * owner, unnoticed. Each seal names its key, so that keys can be replaced: old ones open, the newest seals.
 * Must not log, and never says a secret or a key in an error.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** The bytes of a seal that say with which key it was made. */
export const SEAL_PREFIX_BYTES = 9;

/** The id of a seal's key, for people: a part of the key's hash, which gives nothing away. */
export function keyIdOf(sealed: Buffer): string {
  return sealed.subarray(1, SEAL_PREFIX_BYTES).toString('hex');
}

export interface SecretBox {
  /** `context` names what the secret belongs to: sealed for one thing, it opens for no other. */
  seal(plain: string, context: string): Buffer;
  /**
   * Throws where the seal is broken, is of another context, or its key is not here. Never says the secret.
   */
  open(sealed: Buffer, context: string): string;
  /** Whether it is sealed with the key of today; otherwise it must be sealed again. */
  isCurrent(sealed: Buffer): boolean;
  /** How the seals of each key here begin: the key of today first. */
  readonly prefixes: readonly Buffer[];
}

export interface SecretBoxOptions {
  /** 64 hexadecimal digits. */
  readonly key: string;
  /** Keys before it, which still open what they sealed. */
  readonly previousKeys: readonly string[];
}

/** version (1 byte), key id, nonce, tag, sealed text. */
const VERSION = 1;
const KEY_ID_BYTES = SEAL_PREFIX_BYTES - 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_AT = SEAL_PREFIX_BYTES;
const TAG_AT = NONCE_AT + NONCE_BYTES;
const TEXT_AT = TAG_AT + TAG_BYTES;

interface Key {
  /** The version and the key's id. */
  readonly prefix: Buffer;
  readonly bytes: Buffer;
}

/** The key is not here. A seal that is broken throws another error. */
export class SealKeyMissing extends Error {
  override readonly name = 'SealKeyMissing';
}

/** Throws TypeError for a malformed key. */
export function createSecretBox(options: SecretBoxOptions): SecretBox {
  const { seal, open, isCurrent, prefixes } = createByteBox(options);
  return {
    seal: (plain, context) => seal(Buffer.from(plain), context),
    open: (sealed, context) => open(sealed, context).toString('utf8'),
    isCurrent,
    prefixes,
  };
}

/** The same for bytes. Throws TypeError for a malformed key. */
export function createByteBox(options: SecretBoxOptions) {
  const current = readKey(options.key);
  const keys = [current, ...options.previousKeys.map(readKey)];
  return {
    seal: (plain: Uint8Array, context: string): Buffer => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([current.prefix, nonce, cipher.getAuthTag(), text]);
    },
    /** Throws SealKeyMissing if none of the keys made the seal. */
    open: (sealed: Buffer, context: string): Buffer => {
      const key = keys.find(({ prefix }) => prefix.equals(prefixOf(sealed)));
      if (sealed.length < TEXT_AT || !key)
        throw new SealKeyMissing(
          `the secret of ${context} is sealed with a key that is not here: ${keyIdOf(sealed)}`,
        );
      const nonce = sealed.subarray(NONCE_AT, TAG_AT);
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(TAG_AT, TEXT_AT));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(TEXT_AT)), decipher.final()]);
      } catch (cause) {
        throw new Error(`the seal of the secret of ${context} is broken`, { cause });
      }
    },
    isCurrent: (sealed: Buffer): boolean => current.prefix.equals(prefixOf(sealed)),
    prefixes: keys.map(({ prefix }) => prefix),
  };
}

function prefixOf(sealed: Buffer): Buffer {
  return sealed.subarray(0, SEAL_PREFIX_BYTES);
}

/** A key's id is a part of its hash, so that keys need no names and cannot be mixed up. */
function readKey(text: string): Key {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new TypeError('a key for secrets has 64 hexadecimal digits');
  const bytes = Buffer.from(text, 'hex');
  const id = createHash('sha256').update(bytes).digest().subarray(0, KEY_ID_BYTES);
  return { bytes, prefix: Buffer.concat([Buffer.of(VERSION), id]) };
}
