/** Over real HTTP. `stopAll` leaves no server and no folder behind. */
import type { chargeView, eventView } from '../../packages/simulators/paystack/control/server.ts';
import {
  createPaystackSimulator,
  type PaystackSimulatorOptions,
} from '../../packages/simulators/paystack/index.ts';
import { controlOf, exchange, shareOne, startInProcess, type Receiver } from './simulator.support.ts';

export { exchange, startReceiver, stopAll, tempFolder, until, type Receiver } from './simulator.support.ts';

export const SECRET_KEY = 'sk_test_simulator';
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

type HeldCharge = ReturnType<typeof chargeView>;
export type LoggedEvent = ReturnType<typeof eventView>;

interface Message {
  event: string;
  data: Record<string, unknown>;
}

let serial = 0;
export const fresh = (name = 'ref') => `${name}-${(serial += 1)}`;

/** Functions that call the simulator at these addresses; those that answer no status fail on all but 200. */
export function clientOf(url: string, controlUrl: string) {
  const control = controlOf(controlUrl);
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    options: { headers?: Record<string, string>; rawBody?: string } = {},
  ) => {
    const headers = options.headers ?? { authorization: `Bearer ${SECRET_KEY}` };
    const sent = options.rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const { status, text } = await exchange(`${url}${path}`, method, headers, sent);
    const { status: ok, ...envelope } = JSON.parse(text) as Record<string, unknown>;
    return {
      status,
      ok,
      message: String(envelope['message']),
      code: envelope['code'],
      data: (envelope['data'] ?? {}) as Record<string, unknown>,
      meta: (envelope['meta'] ?? {}) as Record<string, unknown>,
      text,
    };
  };
  const dataOf = async (...request: Parameters<typeof call>) => {
    const { status, text, data } = await call(...request);
    if (status !== 200) throw new Error(`answered ${status}: ${text}`);
    return data;
  };
  const controlled = async <Body>(...request: Parameters<typeof control>) => {
    const answer = await control(...request);
    if (answer.status !== 200) throw new Error(`control answered ${JSON.stringify(answer)}`);
    return answer.body as Body;
  };
  const act = (reference: string, action: string, body?: unknown) =>
    controlled<HeldCharge>('POST', `/charges/${reference}/${action}`, body);
  const pay = (reference: string, body?: unknown) => act(reference, 'pay', body);
  const basics = { email: 'buyer@example.com', amount: 500_000 };
  /** Opens a charge of NGN 5,000 by bank transfer. */
  const transfer = async (extra: object = {}) => {
    const body = { ...basics, reference: fresh('transfer'), bank_transfer: {}, ...extra };
    return String((await dataOf('POST', '/charge', body))['reference']);
  };
  return {
    call,
    control,
    transfer,
    /** Opens a hosted charge of NGN 5,000 under a new reference. */
    initialize: async (extra: object = {}) => {
      const body = { ...basics, reference: fresh('page'), ...extra };
      const data = await dataOf('POST', '/transaction/initialize', body);
      return { reference: String(data['reference']), page: String(data['authorization_url']) };
    },
    verify: (reference: string) => dataOf('GET', `/transaction/verify/${reference}`),
    held: (reference: string) => controlled<HeldCharge>('GET', `/charges/${reference}`),
    pay,
    paid: async (extra: object = {}) => {
      const reference = await transfer(extra);
      await pay(reference);
      return reference;
    },
    act,
    setFaults: (faults: object) => controlled<object>('PUT', '/faults', faults),
    advance: (advanceMs: number) => controlled<object>('POST', '/clock', { advanceMs }),
    statement: (query = '') => controlled<Record<string, unknown>[]>('GET', `/statement${query}`),
  };
}

export type TestGateway = Awaited<ReturnType<typeof startGateway>>;

/** Its clock stands still until the test moves it, unless `now` is given. */
export async function startGateway(options: Partial<PaystackSimulatorOptions> = {}) {
  const started = await startInProcess(createPaystackSimulator, { secretKey: SECRET_KEY, ...options });
  return { ...started, ...clientOf(started.url, started.controlUrl) };
}

/** One simulator for the tests of a file, without faults when each begins. */
export const sharedGateway = (options: Partial<PaystackSimulatorOptions> = {}) =>
  shareOne(() => startGateway(options));

export function messagesOf(receiver: Receiver): Message[] {
  return receiver.messages.map(({ text }) => JSON.parse(text) as Message);
}

export function eventsOf(held: HeldCharge, event: string): Record<string, unknown>[] {
  return held.webhooks
    .filter((each) => each.event === event)
    .map(({ body }) => (JSON.parse(body) as Message).data);
}
