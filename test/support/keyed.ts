// Requests under an Idempotency-Key, one of each kind: how to make it again, and what it must have done once, whoever asked how often and
// whatever was killed meanwhile. Each has an account of its own, so that what it did cannot be mistaken for another's.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { holdOf, newBuyer, untilClosed, type Buyer } from './buyer.ts';
import { untilFunding } from './fundings.ts';
import { atGateway } from './payments.ts';
import type { Answer, Stack } from './stack.ts';
import { until } from './until.ts';

const FUNDS_MINOR = 10_000n;
const PRICE_MINOR = 230n;
const FUNDING_MINOR = 2_500n;
const SETTLED_WITHIN_MS = 60_000;

export interface Keyed {
  readonly accountId: string;
  /** What every answer but "still running" has for a status. */
  readonly status: number;
  /** The same request under the same key, as often as called. */
  readonly ask: () => Promise<Answer>;
  /** Pays what is to be paid from outside, waits until it has ended, and looks at everything that it did. */
  readonly expectOnce: () => Promise<void>;
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
    expectOnce: async () => {
      // A refusal that a caller may have missed is kept as a purchase that failed.
      const rows = await buyer.purchases();
      expect(rows.filter(({ reason }) => reason !== 'INSUFFICIENT_BALANCE')).toEqual([]);
      expect(rows.length).toBeLessThanOrEqual(1);
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

/** An answer may come before anything of it is written. */
function untilThere<T>(made: () => Promise<T[]>): Promise<T[]> {
  return until(made, (rows) => rows.length > 0, { what: 'its row', withinMs: SETTLED_WITHIN_MS });
}

/** Once the gateway has said how; a second try at opening the payment has a reference of its own. */
async function payAtGateway(stack: Stack, buyer: Buyer, transactionId: string): Promise<void> {
  const told = await until(
    () =>
      stack.call('POST', '/api/esim/confirm-payment', { key: buyer.account.apiKey, body: { transactionId } }),
    ({ status, body }) => status === 200 && (body.status !== 'PENDING' || 'paymentUrl' in body),
    { what: 'how to pay', withinMs: SETTLED_WITHIN_MS, everyMs: 200 },
  );
  if (told.body.status === 'PENDING') await atGateway(stack, told.body.gatewayReference, 'pay');
}

/** One purchase beside those named, one hold, one order at the supplier where it ends well. */
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
