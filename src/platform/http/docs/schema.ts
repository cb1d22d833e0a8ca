/** Error bodies and headers that every route shares, for the reference. */
import { z } from 'zod';
import { ERROR_CODES } from '../../../domain/errors.ts';
import type { ErrorShape } from '../errors.ts';

const code = z.enum(ERROR_CODES).meta({ id: 'ErrorCode', description: 'See docs/ERRORS.md for each code' });
const message = z.string().meta({ description: 'For people' });
const statusCode = z.number().int();
const failed = z.literal(false);

export const errorSchemas: Record<ErrorShape | 'authentication', z.ZodType> = {
  base: z
    .object({ success: failed, message, error: z.object({ code, details: z.string() }) })
    .meta({ id: 'DetailedError' }),
  'top-up': z.object({ success: failed, message, statusCode, code }).meta({ id: 'FlatError' }),
  general: z
    .object({ success: failed, error: z.object({ code, message }), statusCode })
    .meta({ id: 'GeneralError' }),
  authentication: z
    .object({ error: code, message, statusCode: z.literal(401) })
    .meta({ id: 'AuthenticationError' }),
};

export interface DocumentedHeader {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer' };
}

export const commonHeaders = {
  'X-Request-Id': { description: 'Names this request in our log', schema: { type: 'string' } },
  'X-RateLimit-Limit': {
    description: 'Requests allowed in a window of 60 seconds',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Remaining': { description: 'Requests left in this window', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'End of this window, Unix time in seconds',
    schema: { type: 'integer' },
  },
} satisfies Record<string, DocumentedHeader>;

export const retryAfterHeader = {
  'Retry-After': { description: 'Seconds to wait before trying again', schema: { type: 'integer' } },
} satisfies Record<string, DocumentedHeader>;

export const replayedHeader = {
  'Idempotent-Replayed': {
    description: '`true` when this is the first answer again',
    schema: { type: 'string' },
  },
} satisfies Record<string, DocumentedHeader>;
