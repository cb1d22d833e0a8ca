// What buyers, banks and operators do, as stories that run to their end whatever is down meanwhile: every
// request is repeated under its own key until it is answered, as docs/API.md asks callers to.
import { randomUUID } from 'node:crypto';
import type { Buyer } from './buyer.ts';
import { findPurchaseRow } from './buyer.ts';
import { fundThroughGateway } from '../money/fundings.ts';
import { untilOpened } from '../money/payers.ts';
import type { Operator } from './operator-actions.ts';
import { EVIDENCE } from './operator-actions.ts';
import { atGateway, buyThroughGateway, type GatewayMethod } from '../money/payments.ts';
import type { Random } from '../time/size.ts';
import type { Stack } from '../world/stack.ts';
import { until } from '../time/until.ts';

export interface Scene {
  readonly stack: Stack;
  readonly buyer: Buyer;
  readonly operator: Operator;
  readonly random: Random;
  /** An eSIM of the buyer's that is in use. */
  readonly esimId: string;
}

/** The transaction that a story was about. */
type Story = (scene: Scene) => Promise<string>;

const PACKAGES = ['SIM-OK', 'SIM-OK', 'SIM-LOSE-ANSWER', 'SIM-BUSY', 'SIM-OUT-OF-STOCK'] as const;
/** Whatever is killed meanwhile. */
const ANSWERED = { everyMs: 200 } as const;

const answered = <T extends { readonly status: number }>(ask: () => Promise<T>, what: string): Promise<T> =>
  until(ask, ({ status }) => status < 409 || status === 422, { what: `an answer to ${what}`, ...ANSWERED });

const byWallet: Story = async ({ buyer, random }) => {
  const [packageCode, idempotencyKey] = [random.pick(PACKAGES), randomUUID()];
  const answer = await answered(() => buyer.buy(packageCode, { idempotencyKey }), 'buying');
  return answer.body.transactionId;
};

const topUp: Story = async ({ buyer, esimId }) => {
  const idempotencyKey = randomUUID();
  const answer = await answered(() => buyer.buy('TOPUP_SIM-OK', { idempotencyKey, esimId }), 'topping up');
  return answer.body.transactionId;
};

/** Bought through the gateway, and paid once or twice. */
const paidOutside =
  (method: GatewayMethod): Story =>
  async (scene) => {
    const { stack, buyer, random } = scene;
    const headers = { 'Idempotency-Key': randomUUID() };
    const packageCode = random.pick(PACKAGES);
    const bought = await until(
      () => buyThroughGateway(stack, buyer.account, { method, packageCode, headers }),
      ({ answer }) => answer.status === 201,
      { what: 'an answer to buying', ...ANSWERED },
    );
    const times = random.below(4) === 0 ? 2 : 1;
    await pay(scene, bought, times);
    return bought.transactionId;
  };

async function pay({ stack }: Scene, bought: Parameters<typeof untilOpened>[1], times = 1): Promise<string> {
  const opened = await until(() => untilOpened(stack, bought), Boolean, {
    what: 'a way to pay',
    ...ANSWERED,
  });
  await atGateway(stack, opened.reference, 'pay', { times });
  return opened.reference;
}

const funding: Story = async (scene) => {
  const { stack, buyer } = scene;
  const headers = { 'Idempotency-Key': randomUUID() };
  const asked = await until(
    () => fundThroughGateway(stack, buyer.account, { amount: 10, method: 'CARD', headers }),
    ({ answer }) => answer.status === 201,
    { what: 'an answer to funding', ...ANSWERED },
  );
  await pay(scene, asked);
  return asked.transactionId;
};

/** A delivered purchase: what comes afterwards. */
const delivered = async (scene: Scene): Promise<{ transactionId: string; reference: string }> => {
  const { stack, buyer } = scene;
  const headers = { 'Idempotency-Key': randomUUID() };
  const bought = await until(
    () => buyThroughGateway(stack, buyer.account, { headers }),
    ({ answer }) => answer.status === 201,
    { what: 'an answer to buying', ...ANSWERED },
  );
  const reference = await pay(scene, bought);
  await until(
    () => findPurchaseRow(stack, bought.transactionId),
    (row) => row?.status === 'SUCCESS',
    { what: `${bought.transactionId} delivered`, ...ANSWERED },
  );
  return { transactionId: bought.transactionId, reference };
};

const refundedByOperator: Story = async (scene) => {
  const { transactionId } = await delivered(scene);
  const asked = {
    amount: { amountMinor: 100n, currency: 'USD' },
    goodwill: true,
    evidence: EVIDENCE,
    actionKey: randomUUID(),
  };
  await until(
    () => scene.operator.act(transactionId, 'refund-to-source', asked),
    ({ outcome }) => outcome === 'done',
    { what: `${transactionId} refunded by an operator`, ...ANSWERED },
  );
  return transactionId;
};

const disputed: Story = async (scene) => {
  const { transactionId, reference } = await delivered(scene);
  await atGateway(scene.stack, reference, 'dispute');
  return transactionId;
};

export const STORIES: readonly Story[] = [
  byWallet,
  byWallet,
  topUp,
  paidOutside('CARD'),
  paidOutside('CARD'),
  paidOutside('BANK_TRANSFER'),
  funding,
  refundedByOperator,
  disputed,
];
