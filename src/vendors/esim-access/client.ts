/**
 * The vendor's side of the shared transport: one POST per call, signed over the bytes that are sent, within
 * its rate limit. It never throws and never guesses: everything but the vendor's own clear answer is "lost",
 * which callers must treat as unknown. Bodies hold activation codes, so neither they nor the key may be
 * logged.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { SupplierUnavailable } from '../../catalogue/port.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Pacer } from '../../platform/rate-limiter.ts';
import {
  createTransport,
  type Effect,
  type HttpAnswer,
  type NoAnswer,
  type SendOptions,
} from '../http/transport.ts';
import { BUSY_RETRY_MS, CODE_TIMESTAMP_EXPIRED, meaningOf } from './codes.ts';
import { parseEnvelope } from './wire.ts';

const PREFIX = '/api/v1/open';
/** An eSIM is about 2 KB and a page of them at most 500. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Five times the slowest answer that the vendor's pages lead one to expect. */
const DEFAULT_TIME_LIMIT_MS = 5000;
/** At 8 calls a second this is a queue of 40; callers spread longer ones. */
const DEFAULT_PACE_WITHIN_MS = 5000;

export interface Credentials {
  readonly accessCode: string;
  /** The signing key. Newer accounts sign with the access code itself, so it is the default. */
  readonly secretKey?: string | undefined;
  /** Off: only the access code is sent, which the vendor accepts too. */
  readonly sign: boolean;
}

/** Where calls wait for their turn. */
export interface Pacing {
  /** Limits everything that calls under this account, or one kind of work among it. */
  readonly pacer: Pacer;
  /** How long a call may wait for its slot before it is given up unsent. */
  readonly paceWithinMs?: number | undefined;
}

export interface ClientOptions extends Credentials, Pacing {
  /** In place of `pacer` for a call that names its account. */
  readonly accountPacer?: ((accountId: string, work: 'effects' | 'questions') => Pacer) | undefined;
  /** `https://api.esimaccess.com`, or where a simulator listens; a path in it is kept. */
  readonly baseUrl: string;
  readonly clock: Clock;
  /** For a whole exchange, from the slot to the last byte. */
  readonly timeLimitMs?: number | undefined;
}

export type CallOptions = Effect &
  Partial<Pick<SendOptions, 'timeLimitMs' | 'maxBodyBytes'>> &
  Pick<Pacing, 'paceWithinMs'> & { readonly accountId?: string | undefined };

/** What came back: the vendor's yes, its no with a code, or nothing that can be trusted. */
export type Answer =
  | { readonly kind: 'answered'; readonly obj: unknown }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | NoAnswer;

export interface Client {
  /** The longest that an effect is waited for once it is sent. */
  readonly timeLimitMs: number;
  /** Calls one operation, such as `/esim/order`. Never rejects. */
  call(operation: string, body: object, call: CallOptions): Promise<Answer>;
  /** The same connections, with another place to wait for a turn. */
  pacedBy(pacing: Pacing): Client;
  /** Closes all connections; a call under way is lost, so drain first. */
  close(): void;
}

/** Makes the client; one per account and base address. Throws when the address is no http or https URL. */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport({ baseUrl: options.baseUrl, busyRetryMs: BUSY_RETRY_MS });
  return clientOn(transport, options, { aheadMs: 0 });
}

/** How far the vendor's clock is ahead of ours, once it has refused our time. */
interface VendorClock {
  aheadMs: number;
}

function clientOn(
  transport: ReturnType<typeof createTransport>,
  options: ClientOptions,
  vendorClock: VendorClock,
): Client {
  const {
    pacer,
    accountPacer,
    clock,
    timeLimitMs = DEFAULT_TIME_LIMIT_MS,
    paceWithinMs = DEFAULT_PACE_WITHIN_MS,
  } = options;

  const pacerOf = (call: CallOptions): Pacer =>
    call.accountId === undefined
      ? pacer
      : (accountPacer?.(call.accountId, 'fence' in call ? 'effects' : 'questions') ?? pacer);
  const attempt = async (operation: string, body: string, call: CallOptions): Promise<Answer> => {
    const withinMs = call.paceWithinMs ?? paceWithinMs;
    if (!(await pacerOf(call).takeSlot(withinMs))) {
      const detail = 'not sent: no slot within the rate limit';
      // All moments of its wait are taken. In half of it as many are given out anew: asking sooner is vain.
      return { kind: 'lost', detail, retryAfterMs: Math.max(BUSY_RETRY_MS, withinMs / 2), notSent: true };
    }
    const request = () => {
      const timestamp = String(clock.now().getTime() + vendorClock.aheadMs);
      const requestId = randomUUID().replaceAll('-', '');
      const headers = authenticationHeaders(options, { timestamp, requestId, body });
      return { method: 'POST', path: PREFIX + operation, headers, body } as const;
    };
    const answered = await transport.send(request, { timeLimitMs, maxBodyBytes: MAX_BODY_BYTES, ...call });
    if (answered.kind === 'lost') return answered;
    const answer = answerOf(answered);
    if (isTimeRefused(answer) && Number.isFinite(answered.vendorTimeMs))
      vendorClock.aheadMs = answered.vendorTimeMs - clock.now().getTime();
    return answer;
  };

  return {
    timeLimitMs,
    call: async (operation, body, call) => {
      const text = JSON.stringify(body);
      const answer = await attempt(operation, text, call);
      // Our clock is wrong, or the request waited too long: a fresh time by the vendor's clock helps.
      return isTimeRefused(answer) ? attempt(operation, text, call) : answer;
    },
    pacedBy: (pacing) =>
      clientOn(
        transport,
        { ...options, paceWithinMs: undefined, accountPacer: undefined, ...pacing },
        vendorClock,
      ),
    close: () => transport.close(),
  };
}

const isTimeRefused = (answer: Answer): boolean =>
  answer.kind === 'failed' && answer.code === CODE_TIMESTAMP_EXPIRED;

/**
 * The access code alone, or with an HMAC-SHA256 over exactly the bytes that are sent. `timestamp` and
 * `requestId` must be fresh for every attempt, since the vendor refuses old timestamps (101001).
 */
export function authenticationHeaders(
  { accessCode, secretKey, sign }: Credentials,
  request: { readonly timestamp: string; readonly requestId: string; readonly body: string },
): Record<string, string> {
  if (!sign) return { 'RT-AccessCode': accessCode };
  const signature = createHmac('sha256', secretKey ?? accessCode)
    .update(request.timestamp + request.requestId + accessCode + request.body, 'utf8')
    .digest('hex');
  return {
    'RT-AccessCode': accessCode,
    'RT-RequestID': request.requestId,
    'RT-Timestamp': request.timestamp,
    'RT-Signature': signature,
  };
}

/** A business error may come with 200 or a 4xx; a success only with 2xx. */
function answerOf({ status, body }: HttpAnswer): Answer {
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

/**
 * The value read from an answered read. Throws SupplierUnavailable, final when the vendor refused the read
 * itself.
 */
export function requireAnswer<T>(what: string, answer: Answer, read: (obj: unknown) => T): T {
  if (answer.kind === 'answered') return requireReadable(what, () => read(answer.obj));
  if (answer.kind === 'lost') throw new SupplierUnavailable(`${what}: ${answer.detail}`, { retryable: true });
  const retryable = meaningOf(answer.code).kind !== 'refused';
  throw new SupplierUnavailable(`${what}: ${answer.code} ${answer.message}`, { retryable });
}

/** What `read` reads of the answer to an operation that changes nothing. Throws SupplierUnavailable. */
export async function ask<T>(
  client: Client,
  what: string,
  [operation, body = {}, more]: [operation: string, body?: object, more?: Partial<CallOptions>],
  read: (obj: unknown) => T,
): Promise<T> {
  return requireAnswer(what, await client.call(operation, body, { ...more, isIdempotent: true }), read);
}

/** Throws SupplierUnavailable for what `read` cannot read. */
export function requireReadable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const detail = `${what}: unreadable: ${(cause as Error).message}`;
    throw new SupplierUnavailable(detail, { retryable: true, cause });
  }
}
