/** Processing the inbox: each event once, even if another cannot be applied; while no workflow can be reached, all of them stay. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { applyInbox, createGatewayInbox, type EventDeps } from '../../src/payments/gateway-events.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import type { GatewayEvent } from '../../src/payments/port.ts';
import { createEventWriter, type InboxEvent } from '../../src/payments/store/gateway-events.ts';
import { recordCheck } from '../../src/payments/store/payments.ts';
import { until } from '../support/until.ts';
import { usePaymentBooks, type Payer } from './payments.support.ts';
import { EngineUnavailable } from '../../src/domain/outcome.ts';
import type { PaymentSubject } from '../../src/payments/engine.ts';

const books = usePaymentBooks();

/** The checked purchases, and what a check does. */
let checked: string[] = [];
let keepEvent: ReturnType<typeof createEventWriter>;
let runCheck: (whose: PaymentSubject) => Promise<void>;
/** The result of verification, whatever the bytes. */
let verified: Partial<GatewayEvent> | undefined;
beforeEach(async () => {
  keepEvent = createEventWriter(books.world);
  checked = [];
  runCheck = () => Promise.resolve();
  await books.owner.deleteFrom('gateway_events').execute();
});

const deps = (): EventDeps => ({
  db: books.world,
  events: createEvents(createLogger({ level: 'silent' })),
  gateway: {
    name: 'paystack',
    verifyWebhook: () =>
      verified && {
        eventKey: randomUUID(),
        type: 'charge.success',
        about: 'charge',
        reference: null,
        email: null,
        amount: null,
        ...verified,
      },
  } as Partial<EventDeps['gateway']> as EventDeps['gateway'],
  engine: {
    check: (whose: PaymentSubject) => runCheck(whose),
    checkSoon: async (whose: PaymentSubject) => {
      await runCheck(whose);
      checked.push(whose.transactionId);
    },
  } as Partial<EventDeps['engine']> as EventDeps['engine'],
});

async function keep(payer: Payer, about = 'charge'): Promise<void> {
  const event: InboxEvent = {
    gateway: 'paystack',
    event_key: randomUUID(),
    type: 'charge.success',
    about,
    reference: payer.reference,
    email: null,
  };
  await keepEvent(event);
}

async function notes(): Promise<(string | null)[]> {
  const rows = await books.world.selectFrom('gateway_events').select('note').orderBy('id').execute();
  return rows.map((row) => row.note);
}

it('one run applies all events, however many there are', async () => {
  const payers = await Promise.all(Array.from({ length: 30 }, () => books.payer()));
  for (const payer of payers) await keep(payer);
  expect(await applyInbox(deps())).toBe(30);
  expect(new Set(await notes())).toEqual(new Set(['looked at']));
  expect(checked.toSorted()).toEqual(payers.map((payer) => payer.transactionId).toSorted());
  expect(await applyInbox(deps())).toBe(0);
});

it('an event that cannot be applied delays no other, stays, and is reported', async () => {
  const [disputed, other] = [await books.payer(), await books.payer()];
  await keep(disputed, 'dispute');
  for (let count = 0; count < 10; count += 1) await keep(other);
  await expect(applyInbox(deps())).rejects.toThrow('1 gateway events are left');
  expect((await notes()).filter((note) => note === null)).toHaveLength(1);
  runCheck = ({ transactionId }) => recordCheck(books.world, transactionId, new Date());
  expect(await applyInbox(deps())).toBe(1);
  expect((await notes())[0]).toBe('nothing of it is here');
});

it('the run stops when workflows cannot be reached, and all events stay', async () => {
  const payer = await books.payer();
  for (let count = 0; count < 20; count += 1) await keep(payer);
  let asked = 0;
  runCheck = () => {
    asked += 1;
    return Promise.reject(new EngineUnavailable('away'));
  };
  await expect(applyInbox(deps())).rejects.toThrow('away');
  expect(asked).toBeLessThan(10);
  expect((await notes()).filter((note) => note !== null)).toEqual([]);
});

it('a received event is applied at once if possible, and otherwise left to the inbox', async () => {
  const payer = await books.payer();
  verified = { reference: payer.reference };
  expect(await createGatewayInbox(deps()).take(Buffer.from('{}'), {})).toBe('kept');
  await until(notes, (all) => all[0] === 'looked at');
  let asked = 0;
  runCheck = () => {
    asked += 1;
    return Promise.reject(new EngineUnavailable('away'));
  };
  expect(await createGatewayInbox(deps()).take(Buffer.from('{}'), {})).toBe('kept');
  await until(
    () => asked,
    (times) => times === 1,
  );
  runCheck = () => Promise.resolve();
  expect(await applyInbox(deps())).toBe(1);
  expect(await notes()).toEqual(['looked at', 'looked at']);
  verified = undefined;
  expect(await createGatewayInbox(deps()).take(Buffer.from('{}'), {})).toBe('refused');
  expect(await notes()).toHaveLength(2);
});

it('text that Postgres would refuse is not stored', async () => {
  verified = { reference: 'txn-\0', email: 'a\0@test.example' };
  expect(await createGatewayInbox(deps()).take(Buffer.from('{}'), {})).toBe('kept');
  await until(notes, (all) => all[0] === 'about no payment of ours');
});

it('two processes that store the same burst in opposite orders both succeed, and each event is stored once', async () => {
  const burst = Array.from({ length: 400 }, (): InboxEvent => ({
    gateway: 'paystack',
    event_key: randomUUID(),
    type: 'charge.success',
    about: 'charge',
    reference: null,
    email: null,
  }));
  for (let round = 0; round < 10; round += 1) {
    await books.owner.deleteFrom('gateway_events').execute();
    // The first goes alone; the rest share the commit after it.
    const process = (events: readonly InboxEvent[]) =>
      Promise.all(events.map(createEventWriter(books.world)));
    const ids = await Promise.all([process(burst), process(burst.toReversed())]);
    expect(ids.flat().filter((id) => id !== undefined)).toHaveLength(burst.length);
  }
});
