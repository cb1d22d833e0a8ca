// A payment gateway whose answers a test writes itself, and gateway adapters that call it. The test must
// close it.
import { readFileSync } from 'node:fs';
import type { UnknownStatus } from '../../../src/vendors/paystack/answers.ts';
import {
  createPaystackGateway,
  type PaystackGateway,
  type PaystackOptions,
} from '../../../src/vendors/paystack/gateway.ts';
import type { StatementLine } from '../../../src/payments/port.ts';
import { json, startAnsweringServer, type Answering } from './answering-server.ts';

export type AnsweringGateway = Awaited<ReturnType<typeof startAnsweringGateway>>;

export const SECRET_KEY = 'sk_test_simulator';

/** Starts the server on a free port. */
export async function startAnsweringGateway() {
  const server = await startAnsweringServer();
  const { baseUrl } = server;
  let alerts: UnknownStatus[] = [];
  const gateways: PaystackGateway[] = [];
  return {
    baseUrl,
    get calls() {
      return server.calls;
    },
    /** What the adapter raised an alert for since the last `answerWith`. */
    get alerts() {
      return alerts;
    },
    answerWith: (...next: Answering[]) => {
      alerts = [];
      server.answerWith(...next);
    },
    /** A gateway in test mode at this server, with a time limit of 5 s by default. */
    gateway: (options: Partial<PaystackOptions> = {}) => {
      const gateway = createPaystackGateway({
        baseUrl,
        secretKey: SECRET_KEY,
        mode: 'test',
        onUnknown: (unseen) => alerts.push(unseen),
        timeLimitMs: 5_000,
        ...options,
      });
      gateways.push(gateway);
      return gateway;
    },
    close: async () => {
      for (const gateway of gateways) gateway.close();
      await server.close();
    },
  };
}

/** The text of an example answer or event under test/fixtures/paystack. */
export function fixture(name: string): string {
  return readFileSync(new URL(`../../fixtures/paystack/${name}.json`, import.meta.url), 'utf8');
}

/** Answers with an example. */
export const example = (name: string, status = 200): Answering => json(fixture(name), status);

/** The vendor's envelope of a success. */
export const yes = (data: unknown, meta?: object) => ({ status: true, message: 'ok', data, meta });

/** The vendor's envelope of a refusal; without code and type, as in older answers. */
export const no = (message: string, more: object = {}) => ({ status: false, message, ...more });

/** A charge by card, one by transfer, and a refund. */
const NEVER_OVER = { isOver: () => false };
export const byCard = {
  fence: NEVER_OVER,
  reference: 'txn-1',
  method: 'CARD',
  amount: { amountMinor: 250_00n, currency: 'NGN' },
  email: 'buyer@example.com',
} as const;
export const byTransfer = {
  ...byCard,
  method: 'BANK_TRANSFER',
  accountExpiresAt: new Date('2026-09-27T12:30:00.000Z'),
} as const;
export const giveBack = {
  fence: NEVER_OVER,
  reference: 'txn-1',
  amount: { amountMinor: 100_00n, currency: 'NGN' },
  refundKey: 'txn-1:refund',
} as const;

/** A transaction as verify and lists return it. */
export const transaction = (change: object = {}) => ({
  id: 4099260516,
  domain: 'test',
  status: 'success',
  reference: 'txn-1',
  amount: 25000,
  requested_amount: 25000,
  currency: 'NGN',
  fees: 375,
  paid_at: '2026-09-27T12:05:00.000Z',
  created_at: '2026-09-27T12:00:00.000Z',
  metadata: '',
  ...change,
});

/** A refund as lists return it. */
export const refundRow = (change: object = {}) => ({
  id: 3018284,
  domain: 'test',
  transaction: 4099260516,
  status: 'processed',
  amount: 10000,
  currency: 'NGN',
  merchant_note: 'txn-1:refund',
  refunded_at: '2026-09-28T08:00:00.000Z',
  createdAt: '2026-09-27T13:00:00.000Z',
  ...change,
});

/** All lines of a statement of one day. */
export async function linesOf(gateway: PaystackGateway): Promise<StatementLine[]> {
  const lines: StatementLine[] = [];
  const [from, to] = [new Date('2026-09-27T00:00:00.000Z'), new Date('2026-09-28T00:00:00.000Z')];
  for await (const line of gateway.statement(from, to)) lines.push(line);
  return lines;
}
