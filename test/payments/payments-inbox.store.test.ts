/**
 * Processing the inbox: each event once, even if another cannot be applied; while no workflow can be reached,
 * all of them stay.
 */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { applyInbox, createGatewayInbox, type EventDeps } from '../../src/payments/gateway-events.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import type { GatewayEvent } from '../../src/payments/port.ts';
import { createEventWriter, type InboxEvent } from '../../src/payments/store/gateway-events.ts';
import { asksForDisputes, saveDisputes } from '../../src/payments/store/disputes.ts';
import { until } from '../support/time/until.ts';
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

it('one run asks once for each payment, however many events there are, and the booked check marks them', async () => {
  const payers = await Promise.all(Array.from({ length: 30 }, () => books.payer()));
  for (const payer of [...payers, ...payers]) await keep(payer);
  expect(await applyInbox(deps())).toBe(60);
  expect(checked.toSorted()).toEqual(payers.map((payer) => payer.transactionId).toSorted());
  expect(new Set(await notes())).toEqual(new Set([null]));
  for (const payer of payers) await books.bookCheck(payer);
  expect(new Set(await notes())).toEqual(new Set(['checked']));
  expect(await applyInbox(deps())).toBe(0);
});

it('an event about a dispute is done when a check that began after it has asked for disputes', async () => {
  const payer = await books.payer();
  const before = await books.checkNumber();
  await keep(payer, 'dispute');
  await books.bookCheck(payer);
  expect(await asksForDisputes(books.world, await books.payment(payer))).toBe(true);
  await saveDisputes(books.world, payer.reference, [], before);
  expect(await notes()).toEqual([null]);
  await saveDisputes(books.world, payer.reference, [], await books.checkNumber());
  expect(await notes()).toEqual(['checked']);
});

it('an event that cannot be applied delays no other, stays, and is reported', async () => {
  const [failing, other] = [await books.payer(), await books.payer()];
  await keep(failing);
  for (let count = 0; count < 10; count += 1) await keep(other);
  runCheck = ({ transactionId }) =>
    transactionId === failing.transactionId ? Promise.reject(new Error('fails')) : Promise.resolve();
  await expect(applyInbox(deps())).rejects.toThrow('1 gateway events are left');
  expect(checked).toEqual([other.transactionId]);
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
  expect(await createGatewayInbox(deps()).takeGatewayEvent('paystack', Buffer.from('{}'), {})).toBe('kept');
  await until(
    () => checked,
    (all) => all.length === 1,
  );
  let asked = 0;
  runCheck = () => {
    asked += 1;
    return Promise.reject(new EngineUnavailable('away'));
  };
  expect(await createGatewayInbox(deps()).takeGatewayEvent('paystack', Buffer.from('{}'), {})).toBe('kept');
  await until(
    () => asked,
    (times) => times === 1,
  );
  runCheck = () => Promise.resolve();
  expect(await applyInbox(deps())).toBe(2);
  expect(checked).toHaveLength(2);
  verified = { reference: payer.reference };
  expect(await createGatewayInbox(deps()).takeGatewayEvent('another', Buffer.from('{}'), {})).toBe('refused');
  verified = undefined;
  expect(await createGatewayInbox(deps()).takeGatewayEvent('paystack', Buffer.from('{}'), {})).toBe(
    'refused',
  );
  expect(await notes()).toHaveLength(2);
});

it('text that Postgres would refuse is not stored', async () => {
  verified = { reference: 'txn-\0', email: 'a\0@test.example' };
  expect(await createGatewayInbox(deps()).takeGatewayEvent('paystack', Buffer.from('{}'), {})).toBe('kept');
  await until(notes, (all) => all[0] === 'unmatched');
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
