/**
 * The dispatcher with endpoints and a Temporal that a test answers for: what it sends itself, what it hands
 * over and how often, and what it leaves behind when it is stopped.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { currentSubject } from '../../src/platform/telemetry/subject.ts';
import type { RequestOutcome } from '../../src/platform/outbound/request.ts';
import { startDispatcher, type Dispatcher, type DispatcherDeps } from '../../src/webhooks/dispatcher.ts';
import { createEndpointLimiter } from '../../src/webhooks/endpoint-limiter.ts';
import type { HandedOver } from '../../src/webhooks/engine.ts';
import { ATTEMPT_WAITS_MS, FAILING_LIMIT_MS, HAND_OVER_FROM_MS } from '../../src/webhooks/rules.ts';
import { reopenMessage } from '../../src/webhooks/store/messages.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';
import { until } from '../support/time/until.ts';
import {
  deliveringOn,
  messagesAt,
  newMessage,
  rowOfEndpoint,
  setEndpoint,
  setMessage,
} from './webhooks.support.ts';

const books = await forFile(openBooks({ maxConnections: 10 }));
const { stateOf, waiting } = deliveringOn(books.world);

type Message = Awaited<ReturnType<typeof waiting>>;

const LIMITS = { attempts: 40, perEndpoint: 10, perAccount: 25 };
const answered = (status: number): RequestOutcome => ({ outcome: 'answered', status, ms: 1, bodyStart: '' });

let dispatcher: Dispatcher | undefined;
let sent: string[];
let handedOver: HandedOver[];
let errors: unknown[];
/** The lines of attempts: of which message, and under which purchase. */
let lines: (readonly [string, string | undefined])[];
beforeEach(async () => {
  [sent, handedOver, errors, lines] = [[], [], [], []];
  await books.owner.deleteFrom('webhook_messages').execute();
});
afterEach(() => dispatcher?.stop(0));

/** Endpoints that answer so, and a Temporal that takes what this returns. */
function dispatch(
  answer: () => Promise<RequestOutcome>,
  take: (messages: readonly HandedOver[]) => Promise<readonly HandedOver[]> = (all) => Promise.resolve(all),
  open: () => string = () => 'a secret',
  handOverFromMs = HAND_OVER_FROM_MS,
): void {
  const deps: DispatcherDeps = {
    db: books.world,
    clock: { now: () => new Date() },
    events: {
      webhookAttempted: ({ messageId }) => lines.push([messageId, currentSubject()?.transactionId]),
      webhookEndpointDisabled: () => undefined,
    },
    sender: {
      send: ({ messageId }) => {
        sent.push(messageId);
        return answer();
      },
    },
    secretBox: {
      open,
      seal: (text) => Buffer.from(text),
      isCurrent: () => true,
      prefixes: [],
    },
    completeBody: (body) => Promise.resolve(body),
    waitsMs: ATTEMPT_WAITS_MS,
    failingLimitMs: FAILING_LIMIT_MS,
    handOverFromMs,
    random: () => 0.5,
    engine: {
      handOver: async (messages) => {
        handedOver.push(...messages);
        return (await take(messages)).map(({ messageId }) => messageId);
      },
    },
    limiter: createEndpointLimiter(LIMITS),
    limits: LIMITS,
    onError: (error, messages) => errors.push({ error, messages }),
  };
  dispatcher = startDispatcher(deps);
}

/** Messages of one endpoint that has failed: it gets two attempts at a time. */
const AT_A_TIME = 2;
const never = (): Promise<RequestOutcome> => new Promise(() => undefined);

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
    dispatch(() => Promise.resolve(answered(500)), undefined, undefined, 0);
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

  it('that was not accepted and waits for a moment only is tried again from its row', async () => {
    const message = await waiting();
    const answers = [answered(500), answered(204)];
    dispatch(() => Promise.resolve(answers.shift()!));
    await until(
      () => stateOf(message),
      ({ log }) => log.length === 1,
    );
    expect((await rowOf(message)).handed_over_at).toBeNull();
    await setMessage(books.owner, message.messageId, { next_attempt_at: new Date() });
    await until(
      () => stateOf(message),
      ({ status }) => status === 'DELIVERED',
    );
    expect(handedOver).toEqual([]);
  });

  it('of an endpoint that has failed is attempted, and one that is taken clears the endpoint', async () => {
    const [message] = await failing(1);
    dispatch(() => Promise.resolve(answered(200)));
    await until(
      () => stateOf(message!),
      ({ status }) => status === 'DELIVERED',
    );
    const { failing_since: failingSince } = await rowOfEndpoint(books.owner, message!.endpoint.id);
    expect([failingSince, handedOver]).toEqual([null, []]);
  });

  it('for which a slow endpoint has no room is handed over once, however long Temporal takes', async () => {
    const messages = await failing(AT_A_TIME + 2);
    dispatch(never, (all) => pause(500, all), undefined, 0);
    await until(
      () => handedOver.length,
      (count) => count >= 2,
    );
    await pause(1_000);
    expect(handedOver).toHaveLength(2);
    expect(namesOf([...handedOver, ...sent.map((messageId) => ({ messageId }))])).toEqual(namesOf(messages));
    const rows = await messagesAt(books.owner, messages[0]!.endpoint.id);
    expect(rows.filter((row) => row.handed_over_at !== null)).toHaveLength(2);
  });

  it('that Temporal does not take is kept, and given to it again when it is due', async () => {
    const [{ endpoint }] = (await failing(AT_A_TIME + 1)) as [Message];
    dispatch(never, () => Promise.resolve([]), undefined, 0);
    await until(
      () => handedOver.length,
      (count) => count > 1,
      { withinMs: 20_000 },
    );
    const [one, again] = handedOver as [HandedOver, HandedOver];
    expect(again.messageId).toBe(one.messageId);
    expect(again.waitMs).toBeGreaterThan(500);
    await until(
      () => rowOf({ endpoint, messageId: one.messageId }),
      (row) => row.handed_over_at === null,
    );
  });

  it('that is sent again by hand while Temporal takes it is handed over again at once', async () => {
    const [{ endpoint }] = (await failing(AT_A_TIME + 1)) as [Message];
    dispatch(
      never,
      async (all) => {
        if (handedOver.length === 1)
          await reopenMessage(books.world, endpoint.accountId, all[0]!.messageId, new Date());
        return all;
      },
      undefined,
      0,
    );
    await until(
      () => handedOver.length,
      (count) => count > 1,
      { withinMs: 10_000 },
    );
    await pause(300);
    expect(handedOver).toHaveLength(2);
  });

  it('that cannot be signed is tried again a minute later, and one line says so of all', async () => {
    const messages = await failing(AT_A_TIME);
    const unsigned = (): string => {
      throw new Error('no key opens it');
    };
    dispatch(() => Promise.resolve(answered(200)), undefined, unsigned);
    for (const message of messages)
      await until(
        () => rowOf(message),
        (row) => row.next_attempt_at!.getTime() > Date.now() + 40_000,
      );
    expect(sent).toEqual([]);
    expect(errors.length).toBeLessThanOrEqual(messages.length);
    expect(errors[0]).toMatchObject({ error: { message: 'no key opens it' } });
  });

  it('is in the lines of its own purchase, however many are recorded together', async () => {
    const messages = await Promise.all(Array.from({ length: 12 }, () => waiting()));
    for (const [nth, { messageId }] of messages.entries())
      await setMessage(books.owner, messageId, { subject: `txn-${nth}` });
    dispatch(() => pause(100, answered(200)));
    await until(
      () => lines.length,
      (count) => count >= messages.length,
    );
    const expected = messages.map(({ messageId }, nth) => [messageId, `txn-${nth}`] as const);
    expect(Object.fromEntries(lines)).toEqual(Object.fromEntries(expected));
  });

  it('whose attempt our database does not record at once is not sent a second time', async () => {
    const message = await waiting();
    const role = (await sql<{ name: string }>`select current_user as name`.execute(books.world)).rows[0]!
      .name;
    dispatch(() => Promise.resolve(answered(200)));
    await sql`revoke insert on webhook_attempts from ${sql.ref(role)}`.execute(books.owner);
    await until(
      () => sent.length,
      (count) => count > 0,
    );
    await pause(100);
    await sql`grant insert on webhook_attempts to ${sql.ref(role)}`.execute(books.owner);
    await until(
      () => stateOf(message),
      ({ status }) => status === 'DELIVERED',
    );
    expect([sent.length, errors]).toEqual([1, []]);
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
    expect(errors).toEqual([]);
  });
});
