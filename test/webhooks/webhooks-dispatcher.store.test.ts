/**
 * The dispatcher with endpoints and a Temporal that a test answers for: what it sends itself, what it hands
 * over and how often, and what it leaves behind when it is stopped.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import type { RequestOutcome } from '../../src/platform/outbound/request.ts';
import { startDispatcher, type Dispatcher, type DispatcherDeps } from '../../src/webhooks/dispatcher.ts';
import { createEndpointLimiter } from '../../src/webhooks/endpoint-limiter.ts';
import type { HandedOver } from '../../src/webhooks/engine.ts';
import { ATTEMPT_WAITS_MS, FAILING_LIMIT_MS } from '../../src/webhooks/rules.ts';
import { reopenMessage } from '../../src/webhooks/store/messages.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';
import { until } from '../support/time/until.ts';
import { deliveringOn, messagesAt, newMessage, setEndpoint } from './webhooks.support.ts';

const books = await forFile(openBooks({ maxConnections: 10 }));
const { stateOf, waiting } = deliveringOn(books.world);

type Message = Awaited<ReturnType<typeof waiting>>;

const LIMITS = { attempts: 40, perEndpoint: 10, perAccount: 25 };
const answered = (status: number): RequestOutcome => ({ outcome: 'answered', status, ms: 1, bodyStart: '' });

let dispatcher: Dispatcher | undefined;
let sent: string[];
let handedOver: HandedOver[];
let errors: unknown[];
beforeEach(async () => {
  [sent, handedOver, errors] = [[], [], []];
  await books.owner.deleteFrom('webhook_messages').execute();
});
afterEach(() => dispatcher?.stop(0));

/** Endpoints that answer so, and a Temporal that takes what this returns. */
function dispatch(
  answer: () => Promise<RequestOutcome>,
  take: (messages: readonly HandedOver[]) => Promise<readonly HandedOver[]> = (all) => Promise.resolve(all),
): void {
  const deps: DispatcherDeps = {
    db: books.world,
    clock: { now: () => new Date() },
    events: createEvents(createLogger({ level: 'silent' })),
    sender: {
      send: ({ messageId }) => {
        sent.push(messageId);
        return answer();
      },
    },
    secretBox: {
      open: () => 'a secret',
      seal: (text) => Buffer.from(text),
      isCurrent: () => true,
      prefixes: [],
    },
    completeBody: (body) => Promise.resolve(body),
    waitsMs: ATTEMPT_WAITS_MS,
    failingLimitMs: FAILING_LIMIT_MS,
    random: () => 0.5,
    engine: {
      handOver: async (messages) => {
        handedOver.push(...messages);
        return (await take(messages)).map(({ messageId }) => messageId);
      },
    },
    limiter: createEndpointLimiter(LIMITS),
    limits: LIMITS,
    onError: (error) => errors.push(error),
  };
  dispatcher = startDispatcher(deps);
}

/** Messages of one endpoint that has failed, to which a permit is given all the same. */
async function failing(count: number): Promise<Message[]> {
  const { endpoint, messageId } = await waiting();
  await setEndpoint(books.owner, endpoint.id, { failing_since: new Date() });
  const more = Array.from({ length: count - 1 }, () => newMessage(books.world, endpoint));
  return [messageId, ...(await Promise.all(more))].map((id) => ({ endpoint, messageId: id }));
}

const rowOf = async ({ endpoint, messageId }: Message) =>
  (await messagesAt(books.owner, endpoint.id)).find(({ id }) => id === messageId)!;
const namesOf = (messages: readonly { readonly messageId: string }[]): string[] =>
  messages.map(({ messageId }) => messageId).toSorted();

describe('a message', () => {
  it('of a working endpoint is sent once from its row, and never handed over', async () => {
    const messages = await Promise.all(Array.from({ length: 30 }, () => waiting()));
    dispatch(() => Promise.resolve(answered(200)));
    for (const message of messages)
      await until(
        () => stateOf(message),
        ({ status }) => status === 'DELIVERED',
      );
    expect(sent.toSorted()).toEqual(namesOf(messages));
    expect([handedOver, errors]).toEqual([[], []]);
  });

  it('that was not accepted is handed over with the wait for its next attempt', async () => {
    const message = await waiting();
    dispatch(() => Promise.resolve(answered(500)));
    await until(
      () => rowOf(message),
      ({ handed_over_at }) => handed_over_at !== null,
    );
    expect(await stateOf(message)).toEqual({ status: 'PENDING', attempts: 1, log: [500] });
    await until(
      () => handedOver,
      (all) => all.length > 0,
    );
    expect(handedOver).toMatchObject([{ messageId: message.messageId, waitMs: 5_000 }]);
    expect(sent).toHaveLength(1);
  });

  it('of a failing endpoint is handed over once, however long Temporal takes to take it', async () => {
    const messages = await failing(2);
    dispatch(
      () => Promise.resolve(answered(200)),
      (all) => pause(500, all),
    );
    await until(
      () => handedOver.length,
      (count) => count >= messages.length,
    );
    await pause(1_000);
    expect(namesOf(handedOver)).toEqual(namesOf(messages));
    for (const message of messages) expect((await rowOf(message)).handed_over_at).not.toBeNull();
    expect(sent).toEqual([]);
  });

  it('that Temporal does not take is kept, and given to it again after a while', async () => {
    const [message] = await failing(1);
    dispatch(
      () => Promise.resolve(answered(200)),
      () => Promise.resolve([]),
    );
    await until(
      () => handedOver.length,
      (count) => count > 0,
    );
    await pause(1_000);
    expect(handedOver).toHaveLength(1);
    expect(await rowOf(message!)).toMatchObject({ status: 'PENDING', attempts: 0, handed_over_at: null });
    await until(
      () => handedOver.length,
      (count) => count > 1,
    );
  });

  it('that is sent again by hand while Temporal takes it is handed over again at once', async () => {
    const [message] = await failing(1);
    const { endpoint, messageId } = message!;
    dispatch(
      () => Promise.resolve(answered(200)),
      async (all) => {
        if (handedOver.length === 1)
          await reopenMessage(books.world, endpoint.accountId, messageId, new Date());
        return all;
      },
    );
    await until(
      () => handedOver.length,
      (count) => count > 1,
      { withinMs: 10_000 },
    );
    await pause(300);
    expect(handedOver).toHaveLength(2);
  });
});

describe('a dispatcher that is stopped', () => {
  it('ends its attempts and records them, and leases nothing more', async () => {
    const message = await waiting();
    dispatch(() => pause(300, answered(200)));
    await until(
      () => sent.length,
      (count) => count > 0,
    );
    await dispatcher!.stop(10_000);
    expect(await stateOf(message)).toEqual({ status: 'DELIVERED', attempts: 1, log: [200] });
    const later = await waiting();
    await pause(500);
    expect(await stateOf(later)).toMatchObject({ status: 'PENDING', attempts: 0 });
    expect(sent).toHaveLength(1);
  });

  it('gives up attempts that take too long: another one repeats them when their leases expire', async () => {
    const message = await waiting();
    const { promise, resolve } = Promise.withResolvers<RequestOutcome>();
    dispatch(() => promise);
    await until(
      () => sent.length,
      (count) => count > 0,
    );
    await dispatcher!.stop(50);
    resolve(answered(200));
    expect(await stateOf(message)).toEqual({ status: 'PENDING', attempts: 0, log: [] });
    expect((await rowOf(message)).next_attempt_at!.getTime()).toBeGreaterThan(Date.now() + 5_000);
    expect(errors).toMatchObject([{ message: 'the worker has to stop' }]);
  });
});
