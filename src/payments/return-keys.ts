/** The keys in the addresses that hosted checkouts send buyers back to. Never logged. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Environment } from '../domain/account.ts';

export type ReturnKeys = ReturnType<typeof createReturnKeys>;

/** 192 bits, as install links have. */
const KEY_BYTES = 24;
const KEY = /^[A-Za-z0-9_-]{32}$/;

/**
 * A payment's reference is its transaction id, which shops print on receipts and put into addresses. So it
 * alone does not show how an eSIM is installed: that takes this key, which only the gateway's page has, for
 * the browser that paid. Derived from SIMWAY_ID_SECRET, another one in each environment.
 */
export function createReturnKeys({
  idSecret,
  environment,
}: {
  readonly idSecret: Buffer;
  readonly environment: Environment;
}) {
  const secret = Buffer.from(hkdfSync('sha256', idSecret, '', `simway return pages 1 ${environment}`, 32));
  const keyOf = (reference: string): Buffer =>
    createHmac('sha256', secret).update(reference).digest().subarray(0, KEY_BYTES);
  return {
    keyOf: (reference: string): string => keyOf(reference).toString('base64url'),
    isKeyOf: (reference: string, given: string | undefined): boolean =>
      given !== undefined &&
      KEY.test(given) &&
      timingSafeEqual(keyOf(reference), Buffer.from(given, 'base64url')),
  };
}
