/**
 * What the Agentic Commerce Protocol (https://agenticcommerce.dev) says of every request and refusal. What
 * its checkout is stands in src/purchases/acp/.
 */
import type { DomainError, ErrorCode } from '../../domain/errors.ts';

/** The only version of the protocol that is spoken here. */
export const ACP_VERSION = '2026-04-17';

export const ACP_ERROR_TYPES = ['invalid_request', 'processing_error', 'service_unavailable'] as const;

/** The protocol has names of its own for these; it leaves all others to the seller. */
const CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  IDEMPOTENCY_KEY_REUSED: 'idempotency_conflict',
  IDEMPOTENCY_KEY_IN_USE: 'idempotency_in_flight',
};

/** What a request says wrongly where the refusal itself names no field. */
const FIELDS: Readonly<Partial<Record<ErrorCode, string>>> = {
  CURRENCY_MISMATCH: 'currency',
};

/** A refusal as the protocol writes it. Its codes are ours in small letters. */
export function acpBody({ code, fields }: DomainError, message: string, status: number): object {
  const param = jsonPath(fields[0]?.field ?? FIELDS[code]);
  return {
    type: typeOf(status),
    code: CODES[code] ?? code.toLowerCase(),
    message,
    ...(param !== undefined && { param }),
    ...(code === 'UNSUPPORTED_API_VERSION' && { supported_versions: [ACP_VERSION] }),
  };
}

function typeOf(status: number): (typeof ACP_ERROR_TYPES)[number] {
  if (status < 500) return 'invalid_request';
  return status === 503 ? 'service_unavailable' : 'processing_error';
}

/** `line_items.0.quantity` is `$.line_items[0].quantity`. Headers and the body as a whole have no path. */
function jsonPath(field: string | undefined): string | undefined {
  if (field === undefined || field === 'body' || !/^[a-z_]+(\.\w+)*$/.test(field)) return undefined;
  return `$.${field}`.replaceAll(/\.(\d+)/g, '[$1]');
}
