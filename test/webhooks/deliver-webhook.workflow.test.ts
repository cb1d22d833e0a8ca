// One message during its delivery, on a clock that runs fifty thousand times as fast: the whole published
// schedule in five and a half seconds, five days of failure in nine.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { ATTEMPT_WAITS_MS } from '../../src/webhooks/rules.ts';
import { findEndpoint, updateEndpoint } from '../../src/webhooks/store/endpoints.ts';
import { reopenFailed } from '../../src/webhooks/store/messages.ts';
import { eventTypes, fetchHistory, payloadTexts } from '../support/world/history.ts';
import { startStack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import {
  answerStatus,
  startReceiver,
  type Listener,
  type Received,
} from '../support/people/webhook-receiver.ts';
import { createDeliveryHarness } from './deliver-webhook.support.ts';
import { forFile } from '../support/world/for-file.ts';
import { setMessage } from './webhooks.support.ts';

const SPEED = 50_000;
const WAITS_MS = ATTEMPT_WAITS_MS.map((ms) => Math.trunc(ms / SPEED));

const stack = await forFile(
  startStack({
    env: { SIMWAY_TEST_WEBHOOK_SPEED: String(SPEED), SIMWAY_SWEEP_WEBHOOKS_MS: '1000' },
  }),
);
const harness = await forFile(createDeliveryHarness(stack));
const receiver = await forFile(startReceiver());
const account = await stack.account({ fundsMinor: 0n });

const endpointOf = (endpointId: string) => findEndpoint(stack.world, account.accountId, endpointId);
const gapsOf = (all: readonly Received[]): number[] =>
  all.slice(1).map(({ atMs }, index) => atMs - all[index]!.atMs);

/**
 * How long its workflow planned to wait each time, exactly as in its history, however busy the machine was.
 */
async function timersOf(id: string): Promise<number[]> {
  const { events } = await fetchHistory(stack, id);
  return events.flatMap(({ timerStartedEventAttributes: timer }) =>
    timer === undefined
      ? []
      : [Number.parseFloat((timer as { startToFireTimeout: string }).startToFireTimeout) * 1_000],
  );
}

/** Accepts everything but this message, so that the endpoint is never failing for good. */
async function oneIsRefused(
  attempts = 0,
): Promise<{ listener: Listener; id: string; calls: () => Received[] }> {
  const listener = await receiver.listen(stack, account);
  const refused = new Set<string>();
  listener.answerWith((response, received) =>
    answerStatus(refused.has(received.id) ? 500 : 204)(response, received),
  );
  // It is sent once its id is known.
  const later = new Date(Date.now() + 60_000);
  const id = await harness.send(account, listener, { attempts, next_attempt_at: later });
  refused.add(id);
  await setMessage(stack.owner, id, { next_attempt_at: new Date() });
  return { listener, id, calls: () => listener.received.filter((received) => received.id === id) };
}

const untilTried = (id: string, times: number) =>
  until(
    () => harness.attempts(id),
    (attempts) => attempts.length >= times,
    { everyMs: 5, what: `${id} tried ${times} times` },
  );

describe.concurrent('a message', () => {
  it('that is accepted at once costs no workflow', async ({ expect }) => {
    const listener = await receiver.listen(stack, account, {
      // The longest that an attempt may take, nearly.
      answer: (response, received) => void setTimeout(() => answerStatus(204)(response, received), 11_000),
    });
    const id = await harness.send(account, listener);
    await harness.untilState(account, id, 'DELIVERED');
    expect(listener.received).toHaveLength(1);
    expect(await harness.attempts(id)).toMatchObject([{ attempt: 1, status: 204 }]);
    await expect(stack.temporal.workflow.getHandle(id).describe()).rejects.toThrow(/not found/i);
  });

  it('that a workflow carries shows its account, and neither body nor secret', async ({ expect }) => {
    const { listener, id } = await oneIsRefused(7);
    await untilTried(id, 1);
    listener.answerWith(answerStatus(204));
    await harness.untilState(account, id, 'DELIVERED');
    expect(await stack.temporal.workflow.getHandle(id).result()).toBe('DELIVERED');
    const history = await fetchHistory(stack, id);
    expect(eventTypes(history)).not.toContain('MARKER_RECORDED');
    const text = payloadTexts(history).join('\n');
    expect(text).toContain(id);
    expect(text).not.toContain(listener.secret.slice(6));
    expect(text).not.toContain('qrCodeUrl');
    const { typedSearchAttributes } = await stack.temporal.workflow.getHandle(id).describe();
    expect(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value])).toContainEqual([
      'AccountId',
      account.accountId,
    ]);
  });

  it('that is never accepted is attempted at every time of the schedule with one id, and has then failed', async ({
    expect,
  }) => {
    const { listener, id, calls } = await oneIsRefused();
    for (const times of [4, 6, 7, 8, 9]) {
      await until(calls, (all) => all.length >= times, { everyMs: 10 });
      await harness.send(account, listener);
    }
    await harness.untilState(account, id, 'FAILED');
    const all = calls();
    expect(all).toHaveLength(WAITS_MS.length);
    expect(new Set(all.map(({ id: messageId, body }) => `${messageId} ${body}`)).size).toBe(1);
    expect(all.every(({ isGenuine }) => isGenuine)).toBe(true);
    gapsOf(all).forEach((gapMs, index) => {
      const plannedMs = WAITS_MS[index + 1]!;
      expect(gapMs, `before attempt ${index + 2}`).toBeGreaterThanOrEqual(plannedMs * 0.8 - 1);
    });
    const plannedMs = WAITS_MS.reduce((sum, waitMs) => sum + waitMs);
    const waitedMs = (await timersOf(id)).reduce((sum, timerMs) => sum + timerMs);
    expect(waitedMs).toBeLessThanOrEqual(plannedMs * 1.2);
    expect((await harness.attempts(id)).map(({ attempt }) => attempt)).toEqual(
      WAITS_MS.map((_, at) => at + 1),
    );
  }, 90_000);

  it('waits as long as its receiver asks, up to twice the planned time', async ({ expect }) => {
    const listener = await receiver.listen(stack, account, {
      answer: answerStatus(503, { 'Retry-After': '2' }),
    });
    const id = await harness.send(account, listener, { attempts: 6 });
    await listener.untilReceived(1);
    listener.answerWith(answerStatus(204));
    await harness.untilState(account, id, 'DELIVERED');
    // The plan is a second for the eighth: fourteen hours.
    expect(WAITS_MS[7]).toBe(1_008);
    const askedGapMs = gapsOf(listener.received)[0]!;
    expect(askedGapMs).toBeGreaterThanOrEqual(1_995);
    for (const timerMs of await timersOf(id)) expect(timerMs).toBeLessThanOrEqual(2 * 1_008);
  });
});

describe.concurrent('a signal', () => {
  it('wakes a waiting message, once it is due', async ({ expect }) => {
    // It now waits the longest time there is: twice the last wait of the schedule, three and a half seconds.
    const listener = await receiver.listen(stack, account, {
      answer: answerStatus(503, { 'Retry-After': '3600' }),
    });
    const id = await harness.send(account, listener, { attempts: WAITS_MS.length - 3 });
    await untilTried(id, 2);
    listener.answerWith(answerStatus(204));
    await setMessage(stack.owner, id, { next_attempt_at: new Date() });
    await harness.handOver(account, id);
    await harness.untilState(account, id, 'DELIVERED');
    expect(listener.received).toHaveLength(3);
    expect(eventTypes(await fetchHistory(stack, id))).not.toContain('TIMER_FIRED');
  });

  it('changes nothing for a message that is not due', async ({ expect }) => {
    const { id, calls } = await oneIsRefused(7);
    await untilTried(id, 1);
    for (let signal = 0; signal < 5; signal += 1) await harness.handOver(account, id);
    await harness.untilState(account, id, 'FAILED');
    expect(calls()).toHaveLength(3);
    expect(gapsOf(calls())[0]).toBeGreaterThanOrEqual(WAITS_MS[8]! * 0.8 - 1);
  });
});

describe.concurrent('an endpoint', () => {
  it('that answers 410 is disabled at once, with all messages that wait for it', async ({ expect }) => {
    const listener = await receiver.listen(stack, account, { answer: answerStatus(500) });
    const waiting = await harness.send(account, listener, { attempts: 8 });
    await untilTried(waiting, 1);
    await harness.untilCarried(waiting);
    listener.answerWith(answerStatus(410));
    const id = await harness.send(account, listener);
    await harness.untilState(account, id, 'FAILED');
    expect(await endpointOf(listener.endpointId)).toMatchObject({ enabled: false, disabledReason: 'GONE' });
    await harness.untilState(account, waiting, 'FAILED');
    expect(await harness.attempts(id)).toMatchObject([{ status: 410 }]);
    expect(await stack.temporal.workflow.getHandle(waiting).result()).toBe('FAILED');
    expect(listener.received.filter((received) => received.id === id)).toHaveLength(1);
  });

  it('that fails for five days is disabled and its owner notified; then all its messages are recovered, each once, with the same id', async ({
    expect,
  }) => {
    const owner = await stack.account({ fundsMinor: 0n });
    const watcher = await receiver.listen(stack, owner, { events: ['endpoint.disabled'] });
    const listener = await receiver.listen(stack, owner, { answer: answerStatus(500) });
    const began = new Date();
    const failed: string[] = [];
    // A message now and then, as merchants have them: a single one ends before the five days do.
    await until(
      async () => {
        failed.push(await harness.send(owner, listener));
        const endpoint = await findEndpoint(stack.world, owner.accountId, listener.endpointId);
        return endpoint?.disabledReason;
      },
      (reason) => reason === 'FAILING',
      { everyMs: 700 },
    );
    expect(Date.now() - began.getTime()).toBeGreaterThan((5 * 24 * 3_600_000) / SPEED);
    const [notice] = await watcher.untilReceived(1);
    expect(notice).toMatchObject({
      event: 'endpoint.disabled',
      isGenuine: true,
      data: { endpointId: listener.endpointId, url: listener.url, reason: 'FAILING' },
    });
    expect(failed).toContain(notice?.data['messageId']);
    for (const id of failed) await harness.untilState(owner, id, 'FAILED');
    listener.answerWith(answerStatus(204));
    const before = listener.received.length;
    await updateEndpoint(stack.world, owner.accountId, listener.endpointId, {
      enabled: true,
      now: new Date(),
    });
    const range = { from: began, to: new Date(Date.now() + 1_000), now: new Date() };
    const recover = () => reopenFailed(stack.world, owner.accountId, listener.endpointId, range);
    expect(await recover()).toBe(failed.length);
    for (const id of failed) await harness.untilState(owner, id, 'DELIVERED');
    expect(await recover()).toBe(0);
    const sent = listener.received.slice(before).map((received) => received.id);
    expect(sent.toSorted()).toEqual(failed.toSorted());
  }, 120_000);
});

describe('while Postgres is read-only', () => {
  it('nothing is sent, and each message is sent once afterwards, from its row and by a workflow', async () => {
    const listener = await receiver.listen(stack, account);
    await sql`revoke update on webhook_messages from simway_test`.execute(stack.owner);
    const ids: string[] = [];
    try {
      const send = () => harness.send(account, listener);
      ids.push(
        await send(),
        await send(),
        await harness.send(account, listener, { handed_over_at: new Date() }),
      );
      const carried = ids[2]!;
      await harness.handOver(account, carried);
      await until(
        async () => (await stack.temporal.workflow.getHandle(carried).describe()).raw.pendingActivities ?? [],
        ([tried]) => (tried?.attempt ?? 0) >= 3,
        { what: 'a step that is retried' },
      );
      expect(listener.received).toEqual([]);
    } finally {
      await sql`grant update on webhook_messages to simway_test`.execute(stack.owner);
    }
    for (const id of ids) await harness.untilState(account, id, 'DELIVERED');
    expect(listener.received.map((received) => received.id).toSorted()).toEqual(ids.toSorted());
  });
});

describe('the sweep', () => {
  it('takes back a message whose workflow is lost', async () => {
    const listener = await receiver.listen(stack, account);
    const overdue = { next_attempt_at: new Date(Date.now() - 60_000), handed_over_at: new Date() };
    const id = await harness.send(account, listener, overdue);
    await harness.untilState(account, id, 'DELIVERED');
    expect(listener.received).toHaveLength(1);
  });
});
