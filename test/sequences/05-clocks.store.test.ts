// Workers whose clocks differ, by 90 s and by an hour: nothing that the gateway says is dropped as outdated.
import { afterAll, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/index.ts';
import { checkPayment } from '../../activities/payments/payments.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { startAnsweringGateway, transaction, yes } from '../support/vendors/answering-gateway.ts';
import { json } from '../support/vendors/answering-server.ts';
import { CHARGE_MINOR, usePaymentBooks } from '../payments/payments.support.ts';

const books = usePaymentBooks();
const server = await startAnsweringGateway();
afterAll(() => server.close());

const checkBy = (aheadMs: number, transactionId: string) => {
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  const events = createEvents(createLogger({ level: 'silent' }));
  const deps = { db: books.world, gateway: server.gateway(), events, clock };
  return checkPayment(deps as unknown as ActivityDeps, transactionId, 'purchase');
};

it.each([
  ['90 s', 90_000],
  ['an hour', 3_600_000],
])(
  'a payment is booked by the next check, though the one before was made by a clock %s ahead',
  async (_how, aheadMs) => {
    const payer = await books.payer();
    let status = 'ongoing';
    server.answerWith((response, call) => {
      json(yes(transaction({ reference: payer.reference, status, amount: Number(CHARGE_MINOR) })))(
        response,
        call,
      );
    });
    expect(await checkBy(aheadMs, payer.transactionId)).toMatchObject({ state: 'waiting', isKnown: true });
    status = 'success';
    expect(await checkBy(0, payer.transactionId)).toMatchObject({ state: 'paid', isKnown: true });
    expect(await books.status(payer)).toBe('PROCESSING');
  },
);
