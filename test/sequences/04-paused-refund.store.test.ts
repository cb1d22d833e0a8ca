// A worker that is paused between recording a refund and sending it. Another one sends it meanwhile; the
// first must not.
import { afterEach, expect, it, vi } from 'vitest';
import { sql } from 'kysely';
import { sentBody } from '../support/vendors/answering-server.ts';
import { CHARGE_MINOR, paid, usePaymentBooks } from '../payments/payments.support.ts';
import { listedRefund, useDueRefund } from '../payments/answering.support.ts';

const books = usePaymentBooks();
const due = useDueRefund(books);
afterEach(() => void vi.restoreAllMocks());

it('a partial refund is sent once although its first sender was paused', async () => {
  // Overpaid: a refund of the price is a part of what the gateway holds, so the gateway would take a second
  // one.
  await books.bookCheck(due.payer, paid(2n * CHARGE_MINOR));
  due.chargeMinor = 2n * CHARGE_MINOR;
  due.server.answerWith((response, call) => {
    if (call.method === 'POST')
      due.listed.push(
        listedRefund('processed', String(sentBody(call)['merchant_note']), due.listed.length + 1),
      );
    due.answers(response, call);
  });
  const paused = Promise.withResolvers<undefined>();
  const resumed = Promise.withResolvers<undefined>();
  let nth = 0;
  const takeSlot = async (): Promise<boolean> => {
    if ((nth += 1) === 3) {
      paused.resolve(undefined);
      await resumed.promise;
    }
    return true;
  };
  const first = due.pass({ pacer: { takeSlot } });
  await paused.promise;
  await passTime(36_000);
  // Nobody knows yet that nothing was sent.
  await due.pass();
  resumed.resolve(undefined);
  await first;
  await due.pass();
  expect(due.asked()).toHaveLength(1);
});

/** Time passes for every process. */
async function passTime(ms: number): Promise<void> {
  const back = sql`${`${ms} milliseconds`}::interval`;
  await sql`update refunds set send_before = send_before - ${back}`.execute(books.owner);
  const real = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => real() + ms);
}
