// An event of the gateway is done when a check that began after it is booked: never when one was only asked
// for, and never by an older one.
import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/index.ts';
import { checkPayment } from '../../activities/payments/payments.ts';
import { applyInbox } from '../../src/payments/gateway-events.ts';
import { createEventWriter } from '../../src/payments/store/gateway-events.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { startAnsweringGateway, transaction, yes } from '../support/vendors/answering-gateway.ts';
import { json } from '../support/vendors/answering-server.ts';
import { CHARGE_MINOR, PRICE_MINOR, usePaymentBooks } from '../payments/payments.support.ts';

const books = usePaymentBooks();
const server = await startAnsweringGateway();
afterAll(() => server.close());
const events = createEvents(createLogger({ level: 'silent' }));
const gateway = server.gateway();

it('an event that came during a check is asked for again, until a check that began after it is booked', async () => {
  const payer = await books.payer();
  const asked: string[] = [];
  const engine = {
    checkSoon: ({ transactionId }: { transactionId: string }) =>
      Promise.resolve(void asked.push(transactionId)),
  };
  const sweep = () =>
    applyInbox({ db: books.world, gateway, events, engine } as unknown as Parameters<typeof applyInbox>[0]);
  const check = () =>
    checkPayment(
      { db: books.world, gateway, events, clock: { now: () => new Date() } } as unknown as ActivityDeps,
      payer.transactionId,
      'purchase',
    );
  const isAsked = Promise.withResolvers<undefined>();
  const mayAnswer = Promise.withResolvers<undefined>();
  let times = 1;
  server.answerWith((response, call) => {
    const answer = json(
      yes(
        transaction({ reference: payer.reference, status: 'success', amount: times * Number(CHARGE_MINOR) }),
      ),
    );
    isAsked.resolve(undefined);
    void mayAnswer.promise.then(() => {
      answer(response, call);
    });
  });
  const first = check();
  await isAsked.promise;
  // The buyer pays a second time; the answer that is under way does not know of it.
  await createEventWriter(books.world)({
    gateway: 'paystack',
    event_key: randomUUID(),
    type: 'charge.success',
    about: 'charge',
    reference: payer.reference,
    email: null,
  });
  await sweep();
  times = 2;
  mayAnswer.resolve(undefined);
  expect(await first).toMatchObject({ state: 'paid' });
  expect(await books.balance(payer)).toBe(0n);
  await sweep();
  expect(asked).toEqual([payer.transactionId, payer.transactionId]);
  await check();
  expect(await books.balance(payer)).toBe(PRICE_MINOR);
  await sweep();
  expect(asked).toHaveLength(2);
});
