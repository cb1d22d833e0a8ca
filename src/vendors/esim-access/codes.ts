/**
 * What the vendor's error codes mean for an effect: refused for good, or unknown. Exhaustive for the published table; a code never
 * seen before is unknown, so that nobody's money goes back for something that may have been delivered.
 */
import type { SupplierRefusal } from '../../esims/port.ts';

export type CodeMeaning =
  | { readonly kind: 'refused'; readonly reason: SupplierRefusal }
  | { readonly kind: 'unknown'; readonly retryAfterMs?: number }
  | { readonly kind: 'unseen' };

/** Busy or limited (8 requests a second): a second later there is room again. */
export const BUSY_RETRY_MS = 1000;
/** The vendor's own advice while profiles are allocated: ask every 3 s. */
const ALLOCATING_RETRY_MS = 3000;

export const CODE_ALLOCATING = '200010';
export const CODE_WRONG_STATE = '200002';
export const CODE_TIMESTAMP_EXPIRED = '101001';

const busy: CodeMeaning = { kind: 'unknown', retryAfterMs: BUSY_RETRY_MS };
/** Key, headers, address: nothing was carried out, and nothing will be until an operator acts. */
const credentials: CodeMeaning = { kind: 'refused', reason: 'CREDENTIALS_REFUSED' };
const badRequest: CodeMeaning = { kind: 'refused', reason: 'REQUEST_REFUSED' };
const priceChanged: CodeMeaning = { kind: 'refused', reason: 'PRICE_CHANGED' };
const packageUnknown: CodeMeaning = { kind: 'refused', reason: 'PACKAGE_UNKNOWN' };

const MEANINGS = new Map<string, CodeMeaning>([
  ['000001', busy],
  ['000101', credentials],
  ['000102', credentials],
  ['000103', badRequest],
  ['000104', badRequest],
  ['000105', badRequest],
  ['000106', badRequest],
  ['000107', badRequest],
  [CODE_TIMESTAMP_EXPIRED, credentials],
  ['101002', credentials],
  ['101003', credentials],
  [CODE_WRONG_STATE, { kind: 'refused', reason: 'NOT_ALLOWED_IN_STATE' }],
  ['200005', priceChanged],
  ['200006', priceChanged],
  ['200007', { kind: 'refused', reason: 'BALANCE_TOO_LOW' }],
  ['200008', badRequest],
  // An order in an abnormal state exists, whatever became of it: somebody has to look.
  ['200009', { kind: 'unknown' }],
  [CODE_ALLOCATING, { kind: 'unknown', retryAfterMs: ALLOCATING_RETRY_MS }],
  ['200011', { kind: 'refused', reason: 'OUT_OF_STOCK' }],
  ['310201', packageUnknown],
  ['310211', badRequest],
  ['310221', badRequest],
  ['310231', badRequest],
  ['310241', packageUnknown],
  ['310243', packageUnknown],
  ['310251', badRequest],
  ['310272', badRequest],
  ['310403', badRequest],
  ['900001', busy],
]);

/** Every code of the vendor's table. */
export const KNOWN_CODES: readonly string[] = [...MEANINGS.keys()];

/** What an error code says about the effect that was asked for. */
export function meaningOf(code: string): CodeMeaning {
  return MEANINGS.get(code) ?? { kind: 'unseen' };
}
