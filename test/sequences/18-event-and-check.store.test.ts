// An event of the gateway is done when a check that began after it is booked: never when one was only asked
// for, and never by an older one.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { applyInbox } from '../../src/payments/gateway-events.ts';
import { createEventWriter } from '../../src/payments/store/gateway-events.ts';
import { chargeAnswer, silentEvents, useAnsweringGateway } from '../payments/answering.support.ts';
import { PRICE_MINOR, usePaymentBooks } from '../payments/payments.support.ts';

const books = usePaymentBooks();
const gateway = useAnsweringGateway(books);

it('an event that came during a check is asked for again, until a check that began after it is booked', async () => {
  const payer = await books.payer();
  const asked: string[] = [];
  const engine = {
    checkSoon: ({ transactionId }: { transactionId: string }) =>
      Promise.resolve(void asked.push(transactionId)),
  };
  const sweep = () =>
    applyInbox({ db: books.world, events: silentEvents, engine } as unknown as Parameters<
      typeof applyInbox
    >[0]);
  const isAsked = Promise.withResolvers<undefined>();
  const mayAnswer = Promise.withResolvers<undefined>();
  let times = 1;
  gateway.server.answerWith((response, call) => {
    const answer = chargeAnswer('paid', call, times);
    isAsked.resolve(undefined);
    void mayAnswer.promise.then(() => {
      answer(response, call);
    });
  });
  const first = gateway.check(payer);
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
  await gateway.check(payer);
  expect(await books.balance(payer)).toBe(PRICE_MINOR);
  await sweep();
  expect(asked).toHaveLength(2);
});
