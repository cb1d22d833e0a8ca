// For tests of refunds at a gateway whose answers the test writes.
import { afterAll, beforeAll } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { followMoney } from '../../activities/payments/refunds.ts';
import type { Pacer } from '../../src/platform/rate-limiter.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { startAnsweringGateway, type AnsweringGateway } from '../support/vendors/answering-gateway.ts';
import type { PaymentBooks } from './payments.support.ts';

/** The server, and one pass over the refunds of a purchase. */
export function useRefundGateway(books: Pick<PaymentBooks, 'world'>) {
  let server: AnsweringGateway;
  beforeAll(async () => {
    server = await startAnsweringGateway();
  });
  afterAll(() => server.close());
  return {
    get server() {
      return server;
    },
    pass: (transactionId: string, pacer?: Pacer) => {
      const deps = {
        db: books.world,
        gateway: server.gateway({ pacer }),
        events: createEvents(createLogger({ level: 'silent', destination: { write: () => undefined } })),
      } as unknown as ActivityDeps;
      return followMoney(deps, { transactionId, timings: { refundCheckFirstMs: 1, refundCheckMaxMs: 1 } });
    },
  };
}
