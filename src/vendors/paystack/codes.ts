/**
 * What the vendor's no means: refused for good, or unknown. It has few codes and its older answers carry
 * none, so we match its published messages too. Anything else is unknown and "unseen": the money may have
 * moved. Sources: PaystackOSS/openapi 9678dea (errors/api-errors.json and the examples) and the vendor's page
 * on errors: 400 means that a request was not carried out.
 */
import type { GatewayRefusal } from '../../payments/port.ts';
import type { GatewayName } from '../../payments/rules.ts';

export const NAME = 'paystack' satisfies GatewayName;

export type FailureMeaning =
  | { readonly kind: 'refused'; readonly reason: GatewayRefusal }
  | { readonly kind: 'unknown'; readonly retryAfterMs?: number }
  | { readonly kind: 'unseen' };

/** The vendor's no; code and category are "" on older answers. */
export interface No {
  readonly httpStatus: number;
  readonly code: string;
  readonly category: string;
  readonly message: string;
}

/** No rate limits are published: what a busy service usually needs. */
export const BUSY_RETRY_MS = 5_000;
/** The vendor says "a few minutes" where it limits us; a balance that is too low must be topped up. */
const LATER: FailureMeaning = { kind: 'unknown', retryAfterMs: 60_000 };

const refused = (reason: GatewayRefusal): FailureMeaning => ({ kind: 'refused', reason });

const BY_CODE = new Map<string, FailureMeaning>([
  ['duplicate_reference', refused('REFERENCE_TAKEN')],
  ['transaction_reversed', refused('ALREADY_REFUNDED')],
  ['transaction_not_found', refused('REQUEST_REFUSED')],
  ['invalid_key', refused('CREDENTIALS_REFUSED')],
  ['unsupported_currency', refused('CURRENCY_NOT_SERVED')],
]);

/** The more specific first. */
const BY_MESSAGE: readonly (readonly [RegExp, FailureMeaning])[] = [
  [/\bwait a few minutes\b|\btoo many (?:requests|attempts)\b|\brate limit/i, LATER],
  [/\bbalance\b.*\b(?:not enough|insufficient)\b|\binsufficient balance\b/i, LATER],
  [/\bduplicate (?:transaction reference|charge request)\b/i, refused('REFERENCE_TAKEN')],
  [/\bfully (?:reversed|refunded)\b|\balready been (?:reversed|refunded)\b/i, refused('ALREADY_REFUNDED')],
  [
    /\binvalid key\b|\bauthorization header\b|\bauthorization bearer\b|\btoken expired\b|\bip address is not allowed\b/i,
    refused('CREDENTIALS_REFUSED'),
  ],
  [
    /\binvalid merchant\b|\bintegration has been deactivated\b|\bprivileges\b/i,
    refused('CREDENTIALS_REFUSED'),
  ],
  [/\bcurrency\b.*\bnot supported\b|\b(?:unsupported|invalid) currency\b/i, refused('CURRENCY_NOT_SERVED')],
  [
    /\bno active channel\b|\bchannels?\b.*\bnot (?:supported|available|enabled)\b/i,
    refused('METHOD_NOT_SERVED'),
  ],
  [
    /\bamount limit exceeded\b|\bamount cannot be processed\b|\bless than [a-z]{3} ?\d|\bminimum\b.*\bamount\b/i,
    refused('AMOUNT_NOT_SERVED'),
  ],
  [/\binvalid amount\b|\bvalid amount\b|\bamount (?:must|should)\b/i, refused('AMOUNT_NOT_SERVED')],
];

/** Statuses by which the vendor says that it did not carry a request out. */
const NOT_CARRIED_OUT = new Set([400, 404, 422]);

/** What a refusal says about the requested effect. */
export function meaningOf(no: No): FailureMeaning {
  const byCode = BY_CODE.get(no.code.toLowerCase());
  if (byCode !== undefined) return byCode;
  if (no.httpStatus === 401) return refused('CREDENTIALS_REFUSED');
  for (const [pattern, meaning] of BY_MESSAGE) if (pattern.test(no.message)) return meaning;
  if (no.httpStatus === 403) return refused('CREDENTIALS_REFUSED');
  if (no.category === 'validation_error') return refused('REQUEST_REFUSED');
  if (no.code === 'missing_params' || no.code === 'invalid_params') return refused('REQUEST_REFUSED');
  const older = no.code === '' && no.category === '';
  return older && NOT_CARRIED_OUT.has(no.httpStatus) ? refused('REQUEST_REFUSED') : { kind: 'unseen' };
}

/** Whether a refusal means that there is no such transaction: Paystack documents 404 and also answers 400. */
export function isNotFound({ httpStatus, code, message }: No): boolean {
  if (httpStatus === 404 || code === 'transaction_not_found') return true;
  return httpStatus === 400 && /^(?:transaction(?: reference)?|entity) not found\b/i.test(message);
}
