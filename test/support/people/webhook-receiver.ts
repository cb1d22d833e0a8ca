// A merchant's server in a test: receives messages for endpoints, one path each, verifies every one with the
// unmodified `standardwebhooks` package, and answers as the test says. Must not read our rows.
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createSecretBox } from '../../../src/platform/secret-box.ts';
import { DEFAULT_EVENTS, type WebhookEvent } from '../../../src/webhooks/events.ts';
import { createEndpoint } from '../../../src/webhooks/store/endpoints.ts';
import { startAnsweringServer, type Call } from '../vendors/answering-server.ts';
import type { Stack, TestAccount } from '../world/stack.ts';
import { until, type UntilOptions } from '../time/until.ts';
import { isSigned } from './webhook-inbox.ts';

export type Received = ReturnType<typeof read>;

export type Answering = (response: ServerResponse, received: Received) => void;

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

interface ListenOptions {
  readonly events?: readonly WebhookEvent[];
  readonly answer?: Answering;
}

export type Listener = Awaited<ReturnType<Receiver['listen']>>;

export const answerStatus =
  (status: number, headers: Record<string, string> = {}, body = ''): Answering =>
  (response) =>
    response.writeHead(status, headers).end(body);

const TAKEN = answerStatus(204);

interface Path {
  readonly secret: string;
  readonly received: Received[];
  answer: Answering;
}

/** Starts the server on a free port of the loopback address. */
export async function startReceiver() {
  const paths = new Map<string, Path>();
  const { baseUrl, answerWith, close } = await startAnsweringServer();
  answerWith((response, call) => {
    const path = paths.get(call.path);
    if (!path) return void response.writeHead(404).end();
    const received = read(call, path.secret);
    path.received.push(received);
    path.answer(response, received);
  });
  return {
    baseUrl,
    /** An endpoint of the account at its own path here. */
    listen: async (
      stack: Stack,
      account: TestAccount,
      { events = DEFAULT_EVENTS, answer = TAKEN }: ListenOptions = {},
    ) => {
      const name = `/${randomBytes(8).toString('hex')}`;
      const path: Path = { secret: newSecret(), received: [], answer };
      paths.set(name, path);
      const url = baseUrl + name;
      const endpointId = await addEndpoint(stack, account, { url, events, secret: path.secret });
      return {
        endpointId,
        secret: path.secret,
        url,
        /** All received messages, repeats included. */
        received: path.received as readonly Received[],
        /** From now on. */
        answerWith: (next: Answering) => void (path.answer = next),
        /** All received messages, once there are this many. */
        untilReceived: (count: number, options?: UntilOptions) =>
          until(
            () => path.received,
            (all) => all.length >= count,
            { what: `${count} messages at ${name}`, everyMs: 10, ...options },
          ),
      };
    },
    close,
  };
}

export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

function read(call: Call, secret: string) {
  const { body, headers } = call;
  const { event, data } = JSON.parse(body) as { event: string; data: Readonly<Record<string, unknown>> };
  const id = String(headers['webhook-id']);
  return {
    ...{ id, body, event, data, headers },
    /** When it was received completely, on the clock of `performance.now`. */
    atMs: performance.now(),
    /** Whether the package accepts it as ours. */
    isGenuine: isSigned(call, secret),
  };
}

/** An endpoint in the rows of a stack, its secret encrypted with the stack's key. */
async function addEndpoint(
  stack: Stack,
  account: TestAccount,
  endpoint: { url: string; events: readonly WebhookEvent[]; secret: string },
): Promise<string> {
  const id = `ep-${randomBytes(16).toString('hex')}`;
  const box = createSecretBox({ key: stack.env['SIMWAY_SECRETS_KEY'] ?? '', previousKeys: [] });
  await createEndpoint(stack.world, {
    id,
    accountId: account.accountId,
    url: endpoint.url,
    events: endpoint.events,
    secretSealed: box.seal(endpoint.secret, id),
    now: new Date(),
    maxPerAccount: 1_000,
  });
  return id;
}
