// A worker that is paused between recording a refund and sending it. Another one sends it meanwhile; the
// first must not.
import { afterEach, expect, it, vi } from 'vitest';
import { sql } from 'kysely';
import { failPurchase } from '../support/money/give-back.ts';
import { json } from '../support/vendors/answering-server.ts';
import { refundRow, transaction, yes } from '../support/vendors/answering-gateway.ts';
import { CHARGE_MINOR, paid, usePaymentBooks } from '../payments/payments.support.ts';
import { useRefundGateway } from '../payments/refund-passes.support.ts';

const books = usePaymentBooks();
const gateway = useRefundGateway(books);
afterEach(() => void vi.restoreAllMocks());

function pass(transactionId: string, onRequest?: (nth: number) => Promise<void>) {
  let nth = 0;
  const pacer = {
    takeSlot: async () => {
      await onRequest?.((nth += 1));
      return true;
    },
  };
  return gateway.pass(transactionId, pacer);
}

it('a partial refund is sent once although its first sender was paused', async () => {
  const payer = await books.payer();
  // Overpaid: a refund of the price is a part of what the gateway holds, so the gateway would take a second
  // one.
  await books.bookCheck(payer, paid(2n * CHARGE_MINOR));
  await failPurchase(books.world, payer.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
  const listed: object[] = [];
  gateway.server.answerWith((response, call) => {
    const { pathname } = new URL(call.path, 'http://gateway.test');
    if (pathname.startsWith('/transaction/verify/'))
      json(yes(transaction({ reference: payer.reference, amount: Number(2n * CHARGE_MINOR) })))(
        response,
        call,
      );
    else if (call.method === 'GET')
      json(yes(listed, { total: listed.length, page: 1, pageCount: 1 }))(response, call);
    else {
      const { merchant_note } = JSON.parse(call.body) as { merchant_note: string };
      const row = refundRow({
        id: listed.length + 1,
        status: 'processed',
        merchant_note,
        amount: Number(CHARGE_MINOR),
      });
      listed.push(row);
      json(yes(row))(response, call);
    }
  });
  const paused = Promise.withResolvers<undefined>();
  const resumed = Promise.withResolvers<undefined>();
  const first = pass(payer.transactionId, async (nth) => {
    if (nth !== 3) return;
    paused.resolve(undefined);
    await resumed.promise;
  });
  await paused.promise;
  await passTime(36_000);
  // Nobody knows yet that nothing was sent.
  await pass(payer.transactionId);
  resumed.resolve(undefined);
  await first;
  await pass(payer.transactionId);
  expect(gateway.server.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

/** Time passes for every process. */
async function passTime(ms: number): Promise<void> {
  const back = sql`${`${ms} milliseconds`}::interval`;
  await sql`update refunds set send_before = send_before - ${back}`.execute(books.owner);
  const real = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => real() + ms);
}
