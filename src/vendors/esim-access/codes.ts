/**
 * What the vendor's error codes mean for an effect: refused for good, or unknown. Exhaustive for the
 * published table. A code that is not in it is unknown, so that no money goes back for something that may
 * have been delivered.
 */
import type { SupplierRefusal } from '../../esims/port.ts';
import type { SupplierName } from '../../esims/rules.ts';

/** The vendor's name, in rows, accounts and metrics. */
export const NAME = 'esim-access' satisfies SupplierName;

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

const REFUSED: Partial<Record<SupplierRefusal, readonly string[]>> = {
  // Key, headers, address: nothing was carried out, and nothing will be until an operator acts.
  CREDENTIALS_REFUSED: ['000101', '000102', CODE_TIMESTAMP_EXPIRED, '101002', '101003'],
  REQUEST_REFUSED: [
    ...['000103', '000104', '000105', '000106', '000107', '200008', '310211'],
    ...['310221', '310231', '310251', '310272', '310403'],
  ],
  NOT_ALLOWED_IN_STATE: [CODE_WRONG_STATE],
  PRICE_CHANGED: ['200005', '200006'],
  BALANCE_TOO_LOW: ['200007'],
  OUT_OF_STOCK: ['200011'],
  PACKAGE_UNKNOWN: ['310201', '310241', '310243'],
};

const MEANINGS = new Map<string, CodeMeaning>([
  ['000001', { kind: 'unknown', retryAfterMs: BUSY_RETRY_MS }],
  ['900001', { kind: 'unknown', retryAfterMs: BUSY_RETRY_MS }],
  // An order in an abnormal state exists in any case: a person must check it.
  ['200009', { kind: 'unknown' }],
  [CODE_ALLOCATING, { kind: 'unknown', retryAfterMs: ALLOCATING_RETRY_MS }],
  ...Object.entries(REFUSED).flatMap(([reason, codes]) =>
    codes.map((code) => [code, { kind: 'refused', reason: reason as SupplierRefusal }] as const),
  ),
]);

/** Every code of the vendor's table. */
export const KNOWN_CODES: readonly string[] = [...MEANINGS.keys()];

/** What an error code says about the requested effect. */
export function meaningOf(code: string): CodeMeaning {
  return MEANINGS.get(code) ?? { kind: 'unseen' };
}
