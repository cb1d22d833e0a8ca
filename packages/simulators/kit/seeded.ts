/**
 * Randomness that is the same in every process: everything is derived from text or a seed.
 * Guarantee: no Math.random anywhere in the simulator's answers. Must not be used for secrets.
 */
import { createHash } from 'node:crypto';

/** 32-bit FNV-1a hash of a text, as an unsigned integer. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** A seeded generator of fractions in [0, 1) (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** SHA-256 of a text as lower-case hex: the source of every made-up identifier. */
export function digestHex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
