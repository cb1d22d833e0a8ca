// A backlog at an endpoint that hangs, through the whole service: purchases and other merchants' messages are
// not affected, waiting messages are attempted seldom, and a worker that stops leaves nothing behind.
import { expect, it } from 'vitest';
import { newBuyer } from '../support/people/buyer.ts';
import { answerStatus, startReceiver, type Listener } from '../support/people/webhook-receiver.ts';
import { createDeliveryHarness } from './deliver-webhook.support.ts';
import { forFile } from '../support/world/for-file.ts';
import { soundStack } from '../support/world/sound-stack.ts';
import type { TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { messagesAt } from './webhooks.support.ts';

const BACKLOG = 150;
const PURCHASES = 5;
/** For one message, on a busy machine; an attempt that hangs takes 15 s. */
const SOON_MS = 8_000;

const stack = await soundStack();
const harness = await forFile(createDeliveryHarness(stack));
const receiver = await forFile(startReceiver());

async function hangingEndpoint(
  messages: number,
): Promise<{ account: TestAccount; listener: Listener; ids: string[] }> {
  const account = await stack.account({ fundsMinor: 0n });
  const listener = await receiver.listen(stack, account, { answer: () => undefined });
  const sending = Array.from({ length: messages }, () => harness.send(account, listener));
  const ids = await Promise.all(sending);
  await listener.untilReceived(1);
  return { account, listener, ids };
}

it('a backlog delays no purchase and no other merchant’s messages, and is attempted seldom', async () => {
  const { listener: hanging } = await hangingEndpoint(BACKLOG);
  const buyer = await newBuyer(stack);
  const listener = await receiver.listen(stack, buyer.account);
  for (let count = 1; count <= PURCHASES; count += 1) {
    const boughtAtMs = performance.now();
    expect((await buyer.buy('SIM-OK')).body.status).toBe('SUCCESS');
    const arrived = await listener.untilReceived(count);
    expect(arrived.at(-1)!.atMs - boughtAtMs).toBeLessThan(SOON_MS);
  }
  expect(hanging.received.length).toBeLessThanOrEqual(12);
  // Those that have to wait for half a minute and longer are found in Temporal.
  const carried = await until(
    async () => {
      const messages = await messagesAt(stack.owner, hanging.endpointId);
      return messages.filter((message) => message.handed_over_at !== null);
    },
    (messages) => messages.length > BACKLOG / 5,
    { withinMs: 60_000, what: 'messages that wait for long' },
  );
  const workflow = stack.temporal.workflow.getHandle(carried[0]!.id);
  expect((await workflow.describe()).status.name).toBe('RUNNING');
  expect(hanging.received.length).toBeLessThanOrEqual(20);
}, 120_000);

it('a backlog does not keep a worker from stopping, and is sent by the next', async () => {
  const { account, listener, ids } = await hangingEndpoint(3);
  // An endpoint that has hung for a second gets no third attempt next to two others.
  await listener.untilReceived(2);
  const stopsAtMs = performance.now();
  await stack.stopWorker();
  // Its grace time is two seconds here, and the attempts would hang for fifteen.
  expect(performance.now() - stopsAtMs).toBeLessThan(10_000);
  listener.answerWith(answerStatus(204));
  await stack.startWorker();
  // Once the leases of the attempts that were given up are over.
  for (const id of ids) await harness.untilState(account, id, 'DELIVERED', { withinMs: 60_000 });
  expect(new Set(listener.received.map(({ id }) => id))).toEqual(new Set(ids));
}, 120_000);
