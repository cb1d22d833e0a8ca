// Promise G5, its second half: whatever operators do, in any order and any number, while payers pay, events
// arrive and a supplier loses answers, a purchase ends delivered or refunded exactly once, and the books net
// to zero. Random sequences of all actions, several at a time.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { ActionOutcome } from '../../src/operations/rules.ts';
import { findPurchaseRow, newBuyer } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { EVIDENCE, newOperator } from '../support/people/operator-actions.ts';
import { atGateway, clearGatewayFaults, gatewayFaults } from '../support/money/payments.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { startStack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { createWorkflowHarness, SHORT_ANSWER_TIMINGS } from '../support/world/workflow-harness.ts';
import { OPERATOR_ACTIONS, type OperatorAction } from '../../src/accounts/operators/action-table.ts';
import { forFile } from '../support/world/for-file.ts';

const PURCHASES = size({ ci: 16, prove: 2_000 });
/** Purchases that operators act on at one time. */
const AT_ONCE = 8;
const ACTIONS_EACH = 6;
const LIMIT_MS = size({ ci: 550_000, prove: 3_600_000 });

/**
 * Payments are awaited for four seconds. Checks of the supplier are rare enough for actions to come between
 * them.
 */
const TIMINGS = {
  ...SHORT_ANSWER_TIMINGS,
  checkoutMs: 4_000,
  checkMaxMs: 700,
  slowCheckMs: 700,
  inFlightGraceMs: 200,
  pollMaxMs: 2_000,
};

const stack = await forFile(startStack({ supplier: { activateAfterMs: null } }));
const harness = await forFile(createWorkflowHarness(stack));
const buyer = await newBuyer(stack, { fundsMinor: BigInt(PURCHASES) * 1_000n });
const operator = newOperator(stack, TIMINGS);

/** Often enough that most actions end within their deadline: checks of the supplier become less frequent. */
const TROUBLE = { loseAnswer: 0.3, busy: 0.3, outOfStock: 0.15 };

type Tally = Record<ActionOutcome['outcome'], number>;

/** One of the actions, as an operator would request it. A key out of a few makes repeats. */
async function actSomehow(transactionId: string, random: Random, tally: Tally): Promise<void> {
  // Mostly an allowed one, as far as an operator knows who checked a moment ago.
  const { fits = [], state } = (await operator.preview(transactionId)) ?? {};
  const action = random.pick<OperatorAction>(
    fits.length > 0 && random.below(4) > 0 ? fits : OPERATOR_ACTIONS,
  );
  // While the supplier may deliver, evidence would say that it never will: no operator here gives false
  // evidence.
  const isSentByHand = action === 'refund-to-source' && state === 'ended';
  const isVouched = action === 'mark-paid' || action === 'settle-dispute' || isSentByHand;
  const request = {
    by: random.pick(['ada', 'bayo']),
    ...(isVouched && random.below(4) > 0 ? { evidence: EVIDENCE } : {}),
    ...(random.below(3) === 0
      ? { amount: { amountMinor: BigInt(1 + random.below(300)), currency: 'USD' } }
      : {}),
    ...(random.below(2) === 0 ? { goodwill: true } : {}),
    ...(action === 'deliver-other'
      ? { packageCode: random.pick(['SIM-OK', 'SIM-NO-TOPUP', 'SIM-LOSE-ANSWER']) }
      : {}),
    ...(action === 'settle-dispute' ? { outcome: random.pick(['won', 'lost'] as const) } : {}),
    actionKey: `${transactionId}-${random.below(3) === 0 ? random.below(2) : randomUUID()}`,
  };
  tally[(await operator.act(transactionId, action, request)).outcome] += 1;
}

async function livePurchase(seed: number, tally: Tally): Promise<string> {
  const random = createRandom(seed);
  const paidBy = random.pick([undefined, 'CARD'] as const);
  const order = { account: buyer.account, timings: TIMINGS, ...(paidBy === undefined ? {} : { paidBy }) };
  const { transactionId } = await harness.purchase(order);
  const pays = paidBy !== undefined && random.below(3) > 0;
  const deeds = [
    ...(pays ? [() => atGateway(stack, transactionId, 'pay').catch(() => undefined)] : []),
    ...Array.from({ length: ACTIONS_EACH }, () => () => actSomehow(transactionId, random, tally)),
  ];
  // Two at a time: each pair races.
  while (deeds.length > 0) {
    const first = deeds.splice(random.below(deeds.length), 1);
    const second = deeds.length > 0 ? deeds.splice(random.below(deeds.length), 1) : [];
    await Promise.all([...first, ...second].map((deed) => deed()));
  }
  return transactionId;
}

/** With all faults over, allowed actions are done at once, and every refund is followed to its end. */
async function untilEnded(transactionId: string): Promise<string> {
  await until(
    async () => {
      await operator.replay(transactionId, { by: 'ada', reason: 'until it has ended' });
      const row = await findPurchaseRow(stack, transactionId);
      const open = await stack.owner
        .selectFrom('refunds')
        .select('refund_key')
        .where('transaction_id', '=', transactionId)
        .where('closed_at', 'is', null)
        .execute();
      return { status: row?.status, closed: row?.closed_at ?? null, open: open.length };
    },
    ({ closed, open }) => closed !== null && open === 0,
    { what: `${transactionId} ended`, everyMs: 300 },
  );
  return (await findPurchaseRow(stack, transactionId))?.status ?? '';
}

it(
  'whatever operators do, each purchase ends once and the books balance',
  () =>
    withSeed(async (seed) => {
      const tally: Tally = { done: 0, 'waits-for-approval': 0, refused: 0, unknown: 0 };
      const ends: Record<string, number> = {};
      for (let from = 0; from < PURCHASES; from += AT_ONCE) {
        await stack.faults(TROUBLE);
        await gatewayFaults(stack, { webhooks: 'drop' });
        const count = Math.min(AT_ONCE, PURCHASES - from);
        const ids = await Promise.all(
          Array.from({ length: count }, (_, index) => livePurchase(seed + from + index, tally)),
        );
        await stack.clearFaults();
        await clearGatewayFaults(stack);
        for (const status of await Promise.all(ids.map(untilEnded))) ends[status] = (ends[status] ?? 0) + 1;
        await expectSoundBooks(stack);
      }
      // An action whose answer came too late has ended all the same.
      const actions = () => stack.owner.selectFrom('operator_actions').select('status').execute();
      const isOpen = ({ status }: { readonly status: string }) => status === 'ASKED' || status === 'BEGUN';
      const audited = await until(actions, (all) => !all.some(isOpen), { what: 'every action ended' });
      console.log(
        `${PURCHASES} purchases, seed ${seed}: ${JSON.stringify(ends)}; actions ${JSON.stringify(tally)}, ${audited.length} lines on record`,
      );
      expect(tally.done).toBeGreaterThan(0);
      expect(tally.refused).toBeGreaterThan(0);
      expect((ends['SUCCESS'] ?? 0) + (ends['FAILED'] ?? 0)).toBe(PURCHASES);
    }),
  LIMIT_MS,
);
