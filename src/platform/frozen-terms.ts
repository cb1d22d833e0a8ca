/**
 * Signs what the API freezes for a purchase or a funding, so that the step that writes the first row can tell
 * it from what an attacker put into Temporal. The key is derived from SIMWAY_ID_SECRET: the same in every
 * process, and another one in each environment.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Environment } from '../domain/account.ts';
import { DAY_MS } from '../domain/clock.ts';

export type FrozenKind = 'purchase' | 'funding';

/** `too-old`: signed by us, and its price is too old to open anything. */
export type TermsVerdict = 'ours' | 'too-old' | 'not-ours';

export interface TermsSigner {
  /** Covers every field of `terms`, so a field that is added later is covered as well. */
  sign<Terms extends object>(
    kind: FrozenKind,
    terms: Terms,
    now: Date,
  ): Terms & { readonly signature: string };
  verify(kind: FrozenKind, terms: { readonly signature?: string }, now: Date): TermsVerdict;
}

/** As old as an exchange rate may be. Longer than an outage of the workers that a purchase should outlive. */
const GOOD_FOR_MS = DAY_MS;

/** When it was signed, in Unix milliseconds, and the HMAC. */
const SIGNATURE = /^(\d{13})\.([0-9a-f]{64})$/;

export function createTermsSigner(idSecret: Buffer, environment: Environment): TermsSigner {
  const key = Buffer.from(hkdfSync('sha256', idSecret, '', `simway frozen terms 1 ${environment}`, 32));
  const hmac = (kind: FrozenKind, terms: object, signedAtMs: number): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([kind, signedAtMs, sorted({ ...terms, signature: undefined })]))
      .digest();
  return {
    sign: (kind, terms, now) => {
      const signedAtMs = now.getTime();
      return { ...terms, signature: `${signedAtMs}.${hmac(kind, terms, signedAtMs).toString('hex')}` };
    },
    verify: (kind, terms, now) => {
      const [, signedAt = '', given = ''] = SIGNATURE.exec(String(terms.signature)) ?? [];
      if (given === '') return 'not-ours';
      const signedAtMs = Number(signedAt);
      if (!timingSafeEqual(hmac(kind, terms, signedAtMs), Buffer.from(given, 'hex'))) return 'not-ours';
      return now.getTime() - signedAtMs > GOOD_FOR_MS ? 'too-old' : 'ours';
    },
  };
}

/** The same text for the same value: keys in order. JSON leaves out what is undefined, as Temporal does. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}
