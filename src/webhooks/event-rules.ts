import { formatMinor } from '../domain/money.ts';
import type { Metadata } from '../domain/own-details.ts';
import type { PurchaseStatus } from '../domain/states.ts';

/** Shares of the allowance that a merchant is notified of, in percent used, each once for an allowance. */
export const USAGE_THRESHOLDS = [50, 80, 90] as const;

/** Days before the end of validity that a merchant is notified at, each at most once for an end. */
export const EXPIRY_NOTICE_DAYS = [3, 1] as const;

/** Opening a purchase sends no event. */
export const PURCHASE_EVENT_STATUSES = [
  'PROCESSING',
  'SUCCESS',
  'FAILED',
] as const satisfies readonly PurchaseStatus[];

export type PurchaseEventStatus = (typeof PURCHASE_EVENT_STATUSES)[number];

/** What is known of an event, by name. */
type FactValues = Readonly<Record<string, string | bigint | number | Metadata | null>>;

/**
 * The body of a message, byte for byte as it is stored, and, but for a sealed address, signed and sent. The
 * fact `amountMinor: 1234n` is the field `"amount":12.34`. Null becomes an empty text.
 */
export function writeBody(
  { event, fields, at }: { readonly event: string; readonly fields: readonly string[]; readonly at: Date },
  facts: FactValues,
): string {
  const data = fields.map((name) => {
    const value = facts[`${name}Minor`] ?? facts[name] ?? '';
    return `${JSON.stringify(name)}:${typeof value === 'bigint' ? formatMinor(value) : JSON.stringify(value)}`;
  });
  return `{"event":${JSON.stringify(event)},"data":{${data.join(',')}},"timestamp":"${at.toISOString()}"}`;
}

/** In place of a QR address, which is encrypted with its eSIM. No address holds a control character. */
export function sealedQrCodeUrl(esimId: string): string {
  return `\u0001qr-code-url-of:${esimId}\u0001`;
}

const SEALED_QR_CODE_URL = /(?<="qrCodeUrl":)"\\u0001qr-code-url-of:([^"\\]+)\\u0001"/;

/** The eSIM of the placeholder; undefined: the body has none. */
export function sealedEsimOf(body: string): string | undefined {
  return SEALED_QR_CODE_URL.exec(body)?.[1];
}

export function fillQrCodeUrl(body: string, qrCodeUrl: string): string {
  return body.replace(SEALED_QR_CODE_URL, () => JSON.stringify(qrCodeUrl));
}
