/**
 * The vendor's side of the shared transport: JSON with a bearer key. Guarantee: never throws and never guesses; whatever is not the
 * vendor's own clear answer is "lost", which callers must treat as unknown. Must not log keys or bodies: they hold people's addresses
 * and account numbers, which are cut out of the messages passed on, too.
 */
import { createTransport, type Heard, type Lost } from '../http/transport.ts';
import { BUSY_RETRY_MS, type No } from './codes.ts';
import { parseEnvelope } from './wire.ts';

/** A transaction with its log is some 5 KB; nothing but lists is larger. */
const MAX_BODY_BYTES = 1024 * 1024;

export interface ClientOptions {
  /** `https://api.paystack.co`, or where a simulator listens; a path in it is kept. */
  readonly baseUrl: string;
  readonly secretKey: string;
  /** For a whole exchange. */
  readonly timeLimitMs: number;
}

export interface CallOptions {
  readonly maxBodyBytes?: number;
}

/** What came back: the vendor's yes to the call (not to the payment), its no, or nothing that can be trusted. */
export type Answer =
  | { readonly kind: 'answered'; readonly data: unknown; readonly meta: unknown }
  | ({ readonly kind: 'failed'; readonly data: unknown } & No)
  | Lost;

export interface Client {
  /** Asks for nothing to be done. Never rejects. */
  get(
    path: string,
    query?: Readonly<Record<string, string | number>>,
    options?: CallOptions,
  ): Promise<Answer>;
  /** Asks for an effect; sent once, whatever happens to the connection. Never rejects. */
  post(path: string, body: object): Promise<Answer>;
  /** Closes all connections; a call under way is lost, so drain first. */
  close(): void;
}

/** Makes the client; one per account and base address. Throws when the address is no http or https URL. */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport({ baseUrl: options.baseUrl, busyRetryMs: BUSY_RETRY_MS });
  const headers = { Authorization: `Bearer ${options.secretKey}` };
  const { timeLimitMs } = options;
  return {
    get: async (path, query = {}, call = {}) => {
      const pairs = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
      const search = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
      const heard = await transport.send(() => ({ method: 'GET', path: path + search, headers }), {
        timeLimitMs,
        maxBodyBytes: call.maxBodyBytes ?? MAX_BODY_BYTES,
        question: true,
      });
      return heard.kind === 'lost' ? heard : answerOf(heard);
    },
    post: async (path, body) => {
      const text = JSON.stringify(body);
      const heard = await transport.send(() => ({ method: 'POST', path, headers, body: text }), {
        timeLimitMs,
        maxBodyBytes: MAX_BODY_BYTES,
        question: false,
      });
      return heard.kind === 'lost' ? heard : answerOf(heard);
    },
    close: () => transport.close(),
  };
}

/** A no may come with 200 or a 4xx; a yes only with 2xx. */
function answerOf({ status, body }: Heard): Answer {
  try {
    const envelope = parseEnvelope(body);
    if (!envelope.ok) {
      const { code, category, data } = envelope;
      const message = withoutSecrets(envelope.message).slice(0, 200);
      return { kind: 'failed', httpStatus: status, code, category, message, data };
    }
    if (status >= 200 && status < 300) return { kind: 'answered', data: envelope.data, meta: envelope.meta };
    return { kind: 'lost', detail: `HTTP ${status} with a success inside` };
  } catch (error) {
    return { kind: 'lost', detail: `HTTP ${status}, unreadable: ${(error as Error).message}` };
  }
}

/** Messages quote what they are about; keys, addresses and long numbers stay here. */
function withoutSecrets(message: string): string {
  return message.replaceAll(/\bsk_\w+|\S+@\S+|\d{8,}/g, '…');
}
