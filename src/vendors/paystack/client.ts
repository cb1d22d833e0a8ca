/**
 * JSON with a bearer key. Any answer that is not clearly the vendor's own is "lost", which callers must treat
 * as unknown. Must not log keys or bodies: they hold people's addresses and account numbers, which are cut
 * out of the messages passed on, too.
 */
import type { Fence } from '../../domain/fence.ts';
import type { Pacer } from '../../platform/rate-limiter.ts';
import {
  createTransport,
  type Effect,
  type HttpAnswer,
  type HttpRequest,
  type NoAnswer,
} from '../http/transport.ts';
import { BUSY_RETRY_MS, type No } from './codes.ts';
import { envelope, parseJson, read } from './wire.ts';

/** A transaction with its log is some 5 KB; only lists are larger. */
const MAX_BODY_BYTES = 1024 * 1024;
/** A step has 20 s, and a buyer who waits for a page is answered after 8. Longer queues wait in Temporal. */
const PACE_WITHIN_MS = 5_000;

/** The vendor's yes to the call (not to the payment), its no, or nothing that can be trusted. */
export type Answer = Answered | NotAnswered;
export interface Answered {
  readonly kind: 'answered';
  readonly data?: unknown;
  readonly meta?: unknown;
}
export type NotAnswered = ({ readonly kind: 'failed' } & No) | NoAnswer;

export interface Client {
  /** Reads only. Never rejects. */
  get(path: string, query?: Readonly<Record<string, string>>, maxBodyBytes?: number): Promise<Answer>;
  /** Requests an effect. Sent once, even if the connection breaks, and not after the fence. Never rejects. */
  post(path: string, body: object, fence: Fence): Promise<Answer>;
  /** The same connections, with another place to wait for a turn. */
  pacedBy(pacer: Pacer): Client;
  /** Closes all connections; a call under way is lost, so drain first. */
  close(): void;
}

export interface ClientOptions {
  /** `https://api.paystack.co`, or where a simulator listens; a path in it is kept. */
  readonly baseUrl: string;
  readonly secretKey: string;
  /** For a whole exchange. */
  readonly timeLimitMs: number;
  /** Where requests wait for their turn; without one they do not wait. */
  readonly pacer?: Pacer | undefined;
}

/** Makes the client; one per account and base address. Throws when the address is no http or https URL. */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport({ baseUrl: options.baseUrl, busyRetryMs: BUSY_RETRY_MS });
  return clientOn(transport, options);
}

function clientOn(transport: ReturnType<typeof createTransport>, options: ClientOptions): Client {
  const headers = { Authorization: `Bearer ${options.secretKey}` };
  const send = async (
    request: Omit<HttpRequest, 'headers'>,
    effect: Effect,
    maxBodyBytes = MAX_BODY_BYTES,
  ): Promise<Answer> => {
    if (options.pacer && !(await options.pacer.takeSlot(PACE_WITHIN_MS))) {
      const detail = 'not sent: no slot within the rate limit';
      return { kind: 'lost', detail, retryAfterMs: BUSY_RETRY_MS, notSent: true };
    }
    const answered = await transport.send(() => ({ ...request, headers }), {
      timeLimitMs: options.timeLimitMs,
      maxBodyBytes,
      ...effect,
    });
    return answered.kind === 'lost' ? answered : answerOf(answered);
  };
  return {
    get: (path, query = {}, maxBodyBytes) => {
      const search = new URLSearchParams(query).toString();
      const read = { method: 'GET', path: search === '' ? path : `${path}?${search}` } as const;
      return send(read, { isIdempotent: true }, maxBodyBytes);
    },
    post: (path, body, fence) => send({ method: 'POST', path, body: JSON.stringify(body) }, { fence }),
    pacedBy: (pacer) => clientOn(transport, { ...options, pacer }),
    close: () => transport.close(),
  };
}

/** A no may come with 200 or a 4xx; a yes only with 2xx. */
function answerOf({ status: httpStatus, body }: HttpAnswer): Answer {
  try {
    const { status, code, category, message, data, meta } = read(envelope, parseJson(body));
    if (!status)
      return { kind: 'failed', httpStatus, code, category, message: withoutSecrets(message).slice(0, 200) };
    if (httpStatus >= 200 && httpStatus < 300) return { kind: 'answered', data, meta };
    return { kind: 'lost', detail: `HTTP ${httpStatus} with a success inside` };
  } catch (error) {
    return { kind: 'lost', detail: `HTTP ${httpStatus}, unreadable: ${(error as Error).message}` };
  }
}

/** Messages quote what they are about; keys, addresses and long numbers stay here. */
function withoutSecrets(message: string): string {
  return message.replaceAll(/\bsk_\w+|\S+@\S+|\d{8,}/g, '…');
}
