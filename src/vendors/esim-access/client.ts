/**
 * The vendor's side of the shared transport: one POST per call, signed over the bytes that are sent, within its rate limit. Guarantee:
 * never throws and never guesses; whatever is not the vendor's own clear answer is "lost", which callers must treat as unknown. Must not
 * log bodies: they hold activation codes.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../domain/clock.ts';
import type { Pacer } from '../../platform/rate-limiter.ts';
import { createTransport, type Heard, type Lost } from '../http/transport.ts';
import { BUSY_RETRY_MS, CODE_TIMESTAMP_EXPIRED } from './codes.ts';
import { authenticationHeaders, type Credentials } from './sign.ts';
import { parseEnvelope } from './wire.ts';

const PREFIX = '/api/v1/open';
/** An eSIM is about 2 KB and a page of them at most 500. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface ClientOptions {
  /** `https://api.esimaccess.com`, or where a simulator listens; a path in it is kept. */
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly pacer: Pacer;
  readonly clock: Clock;
  /** For a whole exchange, from the slot to the last byte. */
  readonly timeLimitMs: number;
  /** How long a call may wait for its slot before it is given up unsent. */
  readonly paceWithinMs: number;
}

export interface CallOptions {
  readonly timeLimitMs?: number;
  readonly maxBodyBytes?: number;
  /** Asks for nothing to be done, so it is sent again when a kept-alive connection turns out to be closed. */
  readonly question?: boolean;
  /** Not sent after this, wherever it waited. */
  readonly sendBefore?: Date | undefined;
}

/** What came back: the vendor's yes, its no with a code, or nothing that can be trusted. */
export type Answer =
  | { readonly kind: 'answered'; readonly obj: unknown }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | Lost;

export interface Client {
  /** Calls one operation, such as `/esim/order`. Never rejects. */
  call(operation: string, body: object, options?: CallOptions): Promise<Answer>;
  /** Closes all connections; a call under way is lost, so drain first. */
  close(): void;
}

const TOO_LATE: Lost = { kind: 'lost', detail: 'not sent: it is too late for it' };

/** Makes the client; one per account and base address. Throws when the address is no http or https URL. */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport({ baseUrl: options.baseUrl, busyRetryMs: BUSY_RETRY_MS });

  const attempt = async (operation: string, body: string, call: CallOptions): Promise<Answer> => {
    if (!(await options.pacer.takeSlot(options.paceWithinMs))) {
      return { kind: 'lost', detail: 'not sent: no slot within the rate limit', retryAfterMs: BUSY_RETRY_MS };
    }
    if (call.sendBefore && options.clock.now() >= call.sendBefore) return TOO_LATE;
    const heard = await transport.send(
      () => ({ method: 'POST', path: PREFIX + operation, headers: headersFor(options, body), body }),
      {
        timeLimitMs: call.timeLimitMs ?? options.timeLimitMs,
        maxBodyBytes: call.maxBodyBytes ?? MAX_BODY_BYTES,
        question: call.question ?? false,
      },
    );
    return heard.kind === 'lost' ? heard : answerOf(heard);
  };

  return {
    call: async (operation, body, call = {}) => {
      const text = JSON.stringify(body);
      const answer = await attempt(operation, text, call);
      // A clock a little off, or a request that waited too long: a fresh timestamp settles it, and if not, nothing will.
      const again = answer.kind === 'failed' && answer.code === CODE_TIMESTAMP_EXPIRED;
      return again ? attempt(operation, text, call) : answer;
    },
    close: () => transport.close(),
  };
}

function headersFor({ clock, credentials }: ClientOptions, body: string): Record<string, string> {
  return authenticationHeaders(credentials, {
    timestamp: String(clock.now().getTime()),
    requestId: randomUUID().replaceAll('-', ''),
    body,
  });
}

/** A business error may come with 200 or a 4xx; a success only with 2xx. */
function answerOf({ status, body }: Heard): Answer {
  try {
    const envelope = parseEnvelope(body);
    if (!envelope.success)
      return { kind: 'failed', code: envelope.code, message: envelope.message.slice(0, 200) };
    if (status >= 200 && status < 300) return { kind: 'answered', obj: envelope.obj };
    return { kind: 'lost', detail: `HTTP ${status} with a success inside` };
  } catch (error) {
    return { kind: 'lost', detail: `HTTP ${status}, unreadable: ${(error as Error).message}` };
  }
}
