// Requests with an Idempotency-Key, one of each kind: how to repeat it, and the one effect it must have,
// however often it was repeated and whatever was killed meanwhile. Each has its own account, so that its
// effects cannot be confused with another's.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { holdOf, newBuyer, untilClosed, type Buyer } from './buyer.ts';
import { untilFunding } from '../money/fundings.ts';
import { atGateway } from '../money/payments.ts';
import type { Answer, Stack } from '../world/stack.ts';
import { until } from '../time/until.ts';

const FUNDS_MINOR = 10_000n;
const PRICE_MINOR = 230n;
const FUNDING_MINOR = 2_500n;
const SETTLED_WITHIN_MS = 60_000;

export interface Keyed {
  readonly accountId: string;
  /** The status of every answer but "still running". */
  readonly status: number;
  /** Sends the same request with the same key, as often as called. */
  readonly ask: () => Promise<Answer>;
  /** Whether the answer is kept under the key. A refusal without effect is not. */
  readonly isKept: (answer: Answer) => boolean;
  /**
   * Pays a payment through the gateway, waits until the purchase has ended, and checks all of its effects.
   */
  readonly expectOnce: () => Promise<void>;
}

/**
 * What every answer repeats: its bytes. A refusal that is not kept is judged anew each time. It has an id
 * where a FAILED purchase was written for a caller who may have missed it, and else none.
 */
export function saidBy({ isKept }: Keyed, answer: Answer): unknown {
  if (isKept(answer)) return [answer.status, answer.text];
  const { error, ...rest } = answer.body;
  return [answer.status, { ...rest, error: { ...error, transactionId: undefined } }];
}

export const KINDS = {
  bought: (stack: Stack) => purchase(stack, 'SIM-OK', { status: 201, ends: 'SUCCESS' }),
  'bought, its answer from the supplier lost': (stack: Stack) =>
    purchase(stack, 'SIM-LOSE-ANSWER', { status: 201, ends: 'SUCCESS' }),
  'out of stock': (stack: Stack) => purchase(stack, 'SIM-OUT-OF-STOCK', { status: 400, ends: 'FAILED' }),
  'topped up': topUp,
  'refused: too poor': tooPoor,
  'paid by card': paidByCard,
  'wallet funded': walletFunded,
} as const satisfies Record<string, (stack: Stack) => Promise<Keyed>>;
export type Kind = keyof typeof KINDS;

const always = (): boolean => true;

async function purchase(
  stack: Stack,
  code: string,
  { status, ends }: { status: number; ends: 'SUCCESS' | 'FAILED' },
): Promise<Keyed> {
  const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
  const idempotencyKey = randomUUID();
  return {
    accountId: buyer.account.accountId,
    status,
    ask: () => buyer.buy(code, { idempotencyKey }),
    isKept: always,
    expectOnce: async () => {
      const costMinor = ends === 'SUCCESS' ? PRICE_MINOR : 0n;
      await expectOnePurchase(stack, buyer, ends);
      expect(await buyer.balanceMinor()).toBe(FUNDS_MINOR - costMinor);
    },
  };
}

async function topUp(stack: Stack): Promise<Keyed> {
  const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
  const { esimId, transactionId } = await buyer.activeEsim();
  const idempotencyKey = randomUUID();
  return {
    accountId: buyer.account.accountId,
    status: 200,
    ask: () => buyer.buy('TOPUP_SIM-OK', { esimId, idempotencyKey }),
    isKept: always,
    expectOnce: async () => {
      await expectOnePurchase(stack, buyer, 'SUCCESS', transactionId);
      expect(await buyer.balanceMinor()).toBe(FUNDS_MINOR - 2n * PRICE_MINOR);
    },
  };
}

async function tooPoor(stack: Stack): Promise<Keyed> {
  const buyer = await newBuyer(stack, { fundsMinor: 1n });
  const idempotencyKey = randomUUID();
  return {
    accountId: buyer.account.accountId,
    status: 400,
    ask: () => buyer.buy('SIM-OK', { idempotencyKey }),
    isKept: ({ status }) => status !== 400,
    expectOnce: async () => {
      // A refusal that a caller may have missed is stored as a failed purchase.
      const rows = await buyer.purchases();
      expect(rows.filter(({ reason }) => reason !== 'INSUFFICIENT_BALANCE')).toEqual([]);
      expect(await buyer.balanceMinor()).toBe(1n);
    },
  };
}

async function paidByCard(stack: Stack): Promise<Keyed> {
  const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
  const { accountId } = buyer.account;
  const body = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'CARD' };
  return {
    accountId,
    status: 201,
    ask: asking(stack, buyer, '/api/esim/buy', body),
    isKept: always,
    expectOnce: async () => {
      const [row] = await untilThere(() => buyer.purchases());
      await payAtGateway(stack, buyer, row!.transaction_id);
      await expectOnePurchase(stack, buyer, 'SUCCESS');
      expect(await buyer.balanceMinor()).toBe(FUNDS_MINOR);
    },
  };
}

async function walletFunded(stack: Stack): Promise<Keyed> {
  const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
  const { accountId } = buyer.account;
  const body = { amount: Number(FUNDING_MINOR) / 100, paymentMethod: 'CARD' };
  const fundings = () =>
    stack.owner.selectFrom('fundings').select('transaction_id').where('account_id', '=', accountId).execute();
  return {
    accountId,
    status: 201,
    ask: asking(stack, buyer, '/api/wallet/fund', body),
    isKept: always,
    expectOnce: async () => {
      const [row, ...others] = await untilThere(fundings);
      expect(others).toEqual([]);
      await payAtGateway(stack, buyer, row!.transaction_id);
      await untilFunding(stack, row!.transaction_id, 'SUCCESS', { withinMs: SETTLED_WITHIN_MS });
      expect(await fundings()).toHaveLength(1);
      expect(await buyer.balanceMinor()).toBe(FUNDS_MINOR + FUNDING_MINOR);
    },
  };
}

function asking(stack: Stack, buyer: Buyer, path: string, body: object): () => Promise<Answer> {
  const headers = { 'Idempotency-Key': randomUUID() };
  return () => stack.call('POST', path, { key: buyer.account.apiKey, body, headers });
}

/** An answer may come before any row is written. */
function untilThere<T>(made: () => Promise<T[]>): Promise<T[]> {
  return until(made, (rows) => rows.length > 0, { what: 'its row', withinMs: SETTLED_WITHIN_MS });
}

/** Once the gateway has sent instructions; a second attempt at opening the payment has its own reference. */
async function payAtGateway(stack: Stack, buyer: Buyer, transactionId: string): Promise<void> {
  const answered = await until(
    () =>
      stack.call('POST', '/api/esim/confirm-payment', { key: buyer.account.apiKey, body: { transactionId } }),
    ({ status, body }) => status === 200 && (body.status !== 'PENDING' || 'paymentUrl' in body),
    { what: 'the payment instructions', withinMs: SETTLED_WITHIN_MS, everyMs: 200 },
  );
  if (answered.body.status === 'PENDING') await atGateway(stack, answered.body.gatewayReference, 'pay');
}

/** One more purchase than those named, one hold, and one order at the supplier if it succeeds. */
async function expectOnePurchase(
  stack: Stack,
  buyer: Buyer,
  ends: 'SUCCESS' | 'FAILED',
  except?: string,
): Promise<void> {
  const made = async () => (await buyer.purchases()).filter((row) => row.transaction_id !== except);
  const [row, ...others] = await untilThere(made);
  expect(others).toEqual([]);
  const id = row!.transaction_id;
  const closed = await untilClosed(stack, id, { withinMs: SETTLED_WITHIN_MS });
  expect(closed.status).toBe(ends);
  expect(await holdOf(stack, id)).toBe(ends === 'SUCCESS' ? 'POSTED' : 'VOIDED');
  expect(await stack.supplierOrders(id)).toHaveLength(ends === 'SUCCESS' ? 1 : 0);
  expect(await made()).toHaveLength(1);
}
