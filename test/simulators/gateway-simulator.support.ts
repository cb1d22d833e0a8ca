/**
 * Starts gateway simulators and calls them over real HTTP. `stopAll` leaves no server and no folder behind.
 */
import {
  createPaystackSimulator,
  type PaystackSimulatorOptions,
} from '../../packages/simulators/paystack/index.ts';
import { controlOf, exchange, startInProcess, type Control, type Receiver } from './simulator.support.ts';

export { exchange, startReceiver, stopAll, tempFolder, until, type Receiver } from './simulator.support.ts';

export const SECRET_KEY = 'sk_test_simulator';
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** An answer of the API. */
export interface Reply {
  status: number;
  ok: unknown;
  message: string;
  code: unknown;
  data: Record<string, unknown>;
  meta: Record<string, unknown>;
  text: string;
}

/** A charge as the control interface shows it, with the fields that tests read. */
export interface HeldCharge {
  reference: string;
  status: string;
  requested: { amountMinor: number; currency: string };
  received: { amountMinor: number; currency: string };
  feesMinor: number;
  givenBackMinor: number;
  requests: number;
  payments: { amountMinor: number; currency: string; state: string; feesMinor: number; at: string }[];
  refunds: { id: number; status: string; amountMinor: number }[];
  disputes: { status: string; resolution: string | null }[];
  instructions: Record<string, unknown>;
  webhooks: LoggedEvent[];
  paidAt: string | null;
}

/** A webhook as the control interface shows it. */
export interface LoggedEvent {
  id: number;
  event: string;
  reference: string;
  body: string;
  deliveries: {
    url: string;
    state: string;
    attempts: { at: string; status: number | null }[];
    nextAttemptAt: string | null;
  }[];
}

/** A message as its receiver reads it. */
export interface Message {
  event: string;
  data: Record<string, unknown>;
}

export interface CallOptions {
  headers?: Record<string, string>;
  rawBody?: string;
  signal?: AbortSignal;
}

export interface Client {
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Reply>;
  control: Control;
  /** Opens a hosted charge of NGN 5,000 under a new reference. */
  initialize(extra?: Record<string, unknown>): Promise<{ reference: string; page: string }>;
  /** Opens a charge of NGN 5,000 by bank transfer. */
  transfer(extra?: Record<string, unknown>): Promise<string>;
  verify(reference: string): Promise<Record<string, unknown>>;
  held(reference: string): Promise<HeldCharge>;
  /** The buyer pays. */
  pay(reference: string, body?: unknown): Promise<HeldCharge>;
  /** Another action on a charge; anything but 200 fails the test. */
  act(reference: string, action: string, body?: unknown): Promise<HeldCharge>;
  setFaults(faults: Record<string, unknown>): Promise<void>;
  /** Skips time on the simulator's clock. */
  advance(ms: number): Promise<void>;
  statement(): Promise<{ kind: string; reference: string; amountMinor: number; currency: string }[]>;
}

let serial = 0;
/** A reference that is not used yet. */
export const fresh = (name = 'ref') => `${name}-${(serial += 1)}`;

function readReply(status: number, text: string): Reply {
  const { status: ok, message, code, data, meta } = JSON.parse(text) as Record<string, unknown>;
  return {
    status,
    ok,
    message: String(message),
    code,
    data: (data ?? {}) as Record<string, unknown>,
    meta: (meta ?? {}) as Record<string, unknown>,
    text,
  };
}

/** Functions that call the simulator at these addresses. */
export function clientOf(url: string, controlUrl: string): Client {
  const control = controlOf(controlUrl);
  const call: Client['call'] = async (method, path, body, options = {}) => {
    const headers = options.headers ?? { authorization: `Bearer ${SECRET_KEY}` };
    const text = options.rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const answer = await exchange(`${url}${path}`, method, headers, text, options.signal);
    return readReply(answer.status, answer.text);
  };
  const ok = async (reply: Promise<Reply>): Promise<Reply> => {
    const { status, text, ...rest } = await reply;
    if (status !== 200) throw new Error(`answered ${status}: ${text}`);
    return { status, text, ...rest };
  };
  const controlOk = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await control(method, path, body);
    if (answer.status !== 200)
      throw new Error(`control answered ${answer.status}: ${JSON.stringify(answer)}`);
    return answer.body;
  };
  const basics = { email: 'buyer@example.com', amount: 500_000 };
  return {
    call,
    control,
    initialize: async (extra = {}) => {
      const body = { ...basics, reference: fresh('page'), ...extra };
      const { data } = await ok(call('POST', '/transaction/initialize', body));
      return { reference: String(data['reference']), page: String(data['authorization_url']) };
    },
    transfer: async (extra = {}) => {
      const body = { ...basics, reference: fresh('transfer'), bank_transfer: {}, ...extra };
      const { data } = await ok(call('POST', '/charge', body));
      return String(data['reference']);
    },
    verify: async (reference) => (await ok(call('GET', `/transaction/verify/${reference}`))).data,
    held: async (reference) => (await controlOk('GET', `/charges/${reference}`)) as HeldCharge,
    pay: async (reference, body) =>
      (await controlOk('POST', `/charges/${reference}/pay`, body)) as HeldCharge,
    act: async (reference, action, body) =>
      (await controlOk('POST', `/charges/${reference}/${action}`, body)) as HeldCharge,
    setFaults: async (faults) => {
      await controlOk('PUT', '/faults', faults);
    },
    advance: async (advanceMs) => {
      await controlOk('POST', '/clock', { advanceMs });
    },
    statement: async () => (await controlOk('GET', '/statement')) as Awaited<ReturnType<Client['statement']>>,
  };
}

export type TestGateway = Awaited<ReturnType<typeof startGateway>>;

/**
 * Starts a simulator in this process; its clock stands still until the test moves it, unless `now` is given.
 */
export async function startGateway(options: Partial<PaystackSimulatorOptions> = {}) {
  const started = await startInProcess(createPaystackSimulator, { secretKey: SECRET_KEY, ...options });
  return { ...started, ...clientOf(started.url, started.controlUrl) };
}

/** The webhooks that a receiver got, parsed. */
export function messagesOf(receiver: Receiver): Message[] {
  return receiver.messages.map(({ text }) => JSON.parse(text) as Message);
}

/** The data of a charge's events of one kind. */
export function eventsOf(held: HeldCharge, event: string): Record<string, unknown>[] {
  return held.webhooks
    .filter((each) => each.event === event)
    .map(({ body }) => (JSON.parse(body) as Message).data);
}
