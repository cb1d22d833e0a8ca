// The steps of a payment at a gateway whose answers the test writes.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { collectPayment } from '../../activities/payments/collect.ts';
import { checkPayment } from '../../activities/payments/payments.ts';
import { followMoney } from '../../activities/payments/refunds.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import type { PaystackOptions } from '../../src/vendors/paystack/gateway.ts';
import {
  no,
  refundRow,
  startAnsweringGateway,
  transaction,
  yes,
  type AnsweringGateway,
} from '../support/vendors/answering-gateway.ts';
import { json, sentBody, type Answering, type Call } from '../support/vendors/answering-server.ts';
import { LONG_ANSWER_TIMINGS } from '../support/world/workflow-harness.ts';
import { CHARGE_MINOR, NOW, type PaymentBooks, type Payer } from './payments.support.ts';

export const silentEvents = createEvents(createLogger({ level: 'silent' }));

type Whose = Pick<Payer, 'transactionId' | 'purpose'>;
type Deps = Partial<ActivityDeps>;

export function useAnsweringGateway(books: Pick<PaymentBooks, 'world'>) {
  let server: AnsweringGateway;
  beforeAll(async () => {
    server = await startAnsweringGateway();
  });
  afterAll(() => server.close());
  const depsOf = (paced: Partial<PaystackOptions>, more: Deps = {}): ActivityDeps => {
    const deps: Deps = { db: books.world, gateway: server.gateway(paced), events: silentEvents };
    return {
      ...deps,
      clock: { now: () => NOW },
      returnUrl: () => 'https://simway.example.com/pay/return?key=secret',
      notices: { environment: 'test' },
      ...more,
    } as ActivityDeps;
  };
  return {
    get server() {
      return server;
    },
    check: ({ transactionId }: Whose, paced: Partial<PaystackOptions> = {}, more?: Deps) =>
      checkPayment(depsOf(paced, more), transactionId, 'purchase'),
    collect: (
      { transactionId, purpose }: Whose,
      timings: Partial<typeof LONG_ANSWER_TIMINGS>,
      paced: Partial<PaystackOptions> = {},
      more?: Deps,
    ) =>
      collectPayment(depsOf(paced, more), {
        ...{ transactionId, purpose, budgetMs: 0 },
        timings: { ...LONG_ANSWER_TIMINGS, ...timings },
      }),
    /** One pass over the refunds. */
    pass: ({ transactionId }: Whose, paced: Partial<PaystackOptions> = {}) =>
      followMoney(depsOf(paced), { transactionId, timings: { refundCheckFirstMs: 1, refundCheckMaxMs: 1 } }),
  };
}

/** What the gateway says of a charge: `away` with an error, `none` where it does not know it. */
export type Says = 'paid' | 'waiting' | 'away' | 'none';

export function chargeAnswer(says: Says, { path }: Pick<Call, 'path'>, times = 1): Answering {
  if (says === 'away') return json('oh no', 500);
  if (says === 'none') return json(no('Transaction reference not found'), 404);
  const reference = path.split('/').at(-1) ?? '';
  const status = says === 'paid' ? 'success' : 'ongoing';
  return json(yes(transaction({ reference, status, amount: times * Number(CHARGE_MINOR) })));
}

export const listedRefund = (status: string, merchantNote: string, id = 1, amountMinor = CHARGE_MINOR) =>
  refundRow({ id, status, merchant_note: merchantNote, amount: Number(amountMinor) });

/** A purchase for each test that is paid and given up, and a gateway that has its money. */
export function useDueRefund(books: PaymentBooks) {
  const gateway = useAnsweringGateway(books);
  const fresh = {
    /** Its list of refunds, and what it calls the charge. */
    listed: [] as object[],
    status: 'success',
    chargeMinor: CHARGE_MINOR,
    /** Of a refund request. */
    refusal: undefined as object | undefined,
    answersRefund: true,
  };
  const answerTo = ({ method, path, body }: Call): Answering => {
    if (path.startsWith('/transaction/verify/')) {
      const { status, chargeMinor, payer } = due;
      return json(yes(transaction({ reference: payer.reference, amount: Number(chargeMinor), status })));
    }
    if (method === 'GET') {
      const { listed } = due;
      return json(yes(listed, { total: listed.length, page: 1, pageCount: 1 }));
    }
    if (due.refusal) return json(due.refusal, 400);
    if (!due.answersRefund) return (response) => response.destroy();
    const asked = JSON.parse(body) as { merchant_note: string; amount: number };
    return json(yes(listedRefund('pending', asked.merchant_note, 1, BigInt(asked.amount))));
  };
  const due = {
    ...fresh,
    payer: undefined as unknown as Payer,
    answers: ((response, call) => answerTo(call)(response, call)) as Answering,
    get server() {
      return gateway.server;
    },
    pass: (paced?: Partial<PaystackOptions>) => gateway.pass(due.payer, paced),
    open: async () => (await books.refunds(due.payer))[0]!,
    /** What was sent in refund requests. */
    asked: () => gateway.server.calls.filter(({ method }) => method === 'POST').map(sentBody),
  };
  beforeEach(async () => {
    const { payer } = await books.refundedPayer();
    Object.assign(due, fresh, { payer, listed: [] });
    gateway.server.answerWith(due.answers);
  });
  return due;
}
