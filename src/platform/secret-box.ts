/**
 * Seals secrets with AES-256-GCM: what is kept is unreadable and cannot be changed, or moved to another owner, unnoticed. Each seal names
 * its key, so that keys can be replaced: old ones open, the newest seals. Must not log, and never says a secret or a key in an error.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { SecretBox } from './secret-box-port.ts';

export interface SecretBoxOptions {
  /** 64 hexadecimal digits. */
  readonly key: string;
  /** Keys before it, which still open what they sealed. */
  readonly previousKeys: readonly string[];
}

/** version (1 byte), key id, nonce, tag, sealed text. */
const VERSION = 1;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_AT = 1 + KEY_ID_BYTES;
const TAG_AT = NONCE_AT + NONCE_BYTES;
const TEXT_AT = TAG_AT + TAG_BYTES;

interface Key {
  readonly id: Buffer;
  readonly bytes: Buffer;
}

/** Throws TypeError for a key that is none. */
export function createSecretBox(options: SecretBoxOptions): SecretBox {
  const current = readKey(options.key);
  const keys = [current, ...options.previousKeys.map(readKey)];
  return {
    seal: (plain, about) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(about));
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), current.id, nonce, cipher.getAuthTag(), text]);
    },
    open: (sealed, about) => {
      const key = keys.find(({ id }) => id.equals(keyIdOf(sealed)));
      if (sealed[0] !== VERSION || sealed.length < TEXT_AT || !key)
        throw new Error(`the secret of ${about} is sealed with a key that is not here`);
      const nonce = sealed.subarray(NONCE_AT, TAG_AT);
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(about));
      decipher.setAuthTag(sealed.subarray(TAG_AT, TEXT_AT));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(TEXT_AT)), decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new Error(`the seal of the secret of ${about} is broken`, { cause });
      }
    },
    isCurrent: (sealed) => sealed[0] === VERSION && current.id.equals(keyIdOf(sealed)),
  };
}

function keyIdOf(sealed: Buffer): Buffer {
  return sealed.subarray(1, NONCE_AT);
}

/** A key's id is a part of its hash, so that keys need no names and cannot be mixed up. */
function readKey(text: string): Key {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new TypeError('a key for secrets has 64 hexadecimal digits');
  const bytes = Buffer.from(text, 'hex');
  return { bytes, id: createHash('sha256').update(bytes).digest().subarray(0, KEY_ID_BYTES) };
}
