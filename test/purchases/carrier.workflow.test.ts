// What a purchase's workflow makes of its steps' answers: it begins where the row says, waits as told, and
// never takes silence for an answer.
import { describe, expect, it } from 'vitest';
import {
  checkPayment,
  checkPaymentSoon,
  performActions,
  supplierAnnounced,
} from '../../workflows/contract.ts';
import { lost, startScripted } from '../support/world/scripted-steps.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

const scripted = await forFile(startScripted());

const CHARGE = { gateway: 'paystack', amountMinor: '23000', currency: 'NGN', rateIds: [] };
const DELIVERED = { state: 'done', iccid: '8901' };
const AT_REST = { state: 'done' };
const waiting = (waitMs: number, more: object = {}) => ({
  state: 'waiting',
  waitMs,
  why: 'a test waits',
  ...more,
});
const HOUR = 3_600_000;

/** Answers one after the other; the last one stays. */
function inTurn(...answers: unknown[]): () => unknown {
  let turn = 0;
  return () => {
    const answer = answers[Math.min(turn, answers.length - 1)];
    turn += 1;
    return typeof answer === 'function' ? (answer as () => unknown)() : answer;
  };
}

/** A purchase whose steps answer so; through the gateway, unless the test says more. */
function begin(answers: Parameters<typeof scripted.follow>[0], more: object = { charge: CHARGE }) {
  scripted.follow(answers);
  return scripted.start(more);
}

const times = (name: string): number => scripted.calls.filter((each) => each === name).length;
const called = (name: string, count = 1) =>
  until(
    () => times(name),
    (calls) => calls >= count,
    { what: `${count} of ${name}` },
  );

describe('a purchase begins where its row says', () => {
  it('paid: it delivers at once, without a word to the gateway', async () => {
    const purchase = await begin({ tryDelivering: () => DELIVERED });
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
    expect(scripted.calls).toEqual(['openPurchase', 'tryDelivering']);
  });

  it('delivered by an attempt whose answer was lost: it follows what a bank did since', async () => {
    const purchase = await begin({
      deliver: inTurn(lost, { ...DELIVERED, isMoneyOpen: true }),
      followMoney: inTurn(waiting(20, { attention: 'PAYMENT_DISPUTED' }), AT_REST),
    });
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
    expect(times('followMoney')).toBe(2);
  });

  it('delivered: it only follows refunds and disputes', async () => {
    const purchase = await begin({ openPurchase: () => ({ stage: 'delivered' }) });
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
    expect(scripted.calls).toEqual(['openPurchase', 'followMoney']);
  });

  it('failed: it follows the money that goes back, and says why', async () => {
    const refusal = { reason: 'PAYMENT_EXPIRED', detail: '' };
    const purchase = await begin({
      openPurchase: () => ({ stage: 'failed', refusal }),
      followMoney: inTurn(waiting(20), AT_REST),
    });
    expect(await purchase.result()).toEqual({ status: 'FAILED', reason: 'PAYMENT_EXPIRED' });
    expect(times('followMoney')).toBe(2);
    // What is shown already is not written again at the end.
    const { events } = await purchase.fetchHistory();
    expect(events?.filter((event) => event.upsertWorkflowSearchAttributesEventAttributes)).toHaveLength(1);
  });
});

describe('a funding', () => {
  it.each([
    { what: 'at rest', done: AT_REST, follows: 0 },
    { what: 'disputed already', done: { ...AT_REST, isMoneyOpen: true }, follows: 1 },
  ])('that is paid and $what: its money is followed $follows times', async ({ done, follows }) => {
    scripted.follow({
      openFunding: () => ({ stage: 'awaiting-payment' }),
      collectPayment: () => done,
    });
    const funding = await scripted.start({ charge: CHARGE }, 'fundWallet');
    expect(await funding.result()).toEqual({ status: 'SUCCESS' });
    expect(times('followMoney')).toBe(follows);
  });
});

describe('the queues of the vendors that its rows name', () => {
  const actions = (...runsOn: string[]) =>
    inTurn(...runsOn.map((queue) => ({ actionId: `of-${queue}`, runsOn: queue })), null);

  it('have its steps', async () => {
    const purchase = await begin({
      openPurchase: () => ({ stage: 'awaiting-payment' }),
      collectPayment: () => ({ state: 'done' }),
      deliver: inTurn(waiting(HOUR), { state: 'failed', reason: 'OUT_OF_STOCK', detail: '' }),
      checkPayment: () => ({ state: 'paid', isKnown: true }),
    });
    await called('deliver');
    await purchase.executeUpdate(checkPayment);
    await purchase.signal(supplierAnnounced);
    expect(await purchase.result()).toEqual({ status: 'FAILED', reason: 'OUT_OF_STOCK' });
    for (const step of ['collectPayment', 'checkPayment', 'followMoney'])
      expect(scripted.queueOf(step), step).toBe('gateway-another');
    expect(scripted.queueOf('deliver')).toBe('supplier-another');
  });

  it.each([
    ['supplier', 'supplier-another'],
    ['gateway', 'gateway-another'],
  ])('have the actions of operators: %s', async (runsOn, queue) => {
    const purchase = await begin({
      deliver: inTurn(waiting(HOUR), DELIVERED),
      nextAction: actions(runsOn),
      performAction: () => ({}),
    });
    await called('deliver');
    await purchase.signal(performActions);
    await called('performAction');
    expect(scripted.queueOf('performAction')).toBe(queue);
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
  });

  it('change with its rows: another supplier delivers another package', async () => {
    let supplier = 'another';
    const purchase = await begin({
      findVendors: () => ({ supplier, gateway: 'another' }),
      deliver: inTurn(waiting(HOUR), DELIVERED),
      nextAction: actions('supplier'),
      performAction: () => {
        supplier = 'third';
        return {};
      },
    });
    await called('deliver');
    expect(scripted.queueOf('deliver')).toBe('supplier-another');
    await purchase.signal(performActions);
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
    expect(scripted.queueOf('performAction')).toBe('supplier-another');
    expect(scripted.queueOf('deliver')).toBe('supplier-third');
  });

  it('are not needed where no row names one: nothing is sent, and our database performs the action', async () => {
    const refusal = { reason: 'PACKAGE_WITHDRAWN', detail: '' };
    scripted.follow({
      openPurchase: () => ({ stage: 'failed', refusal }),
      findVendors: () => ({ supplier: null, gateway: null }),
      nextAction: actions('gateway'),
      performAction: () => ({}),
    });
    const closed = { transactionId: 'txn-refused', purpose: 'purchase' as const, isThroughGateway: true };
    await scripted.operators.performAfterClose(closed);
    await called('performAction');
    expect(await scripted.client.workflow.getHandle('after-txn-refused').result()).toBe('at rest');
    expect(scripted.queueOf('performAction')).toBe('orders');
    const purchase = await scripted.start({ charge: CHARGE });
    expect(await purchase.result()).toEqual({ status: 'FAILED', reason: 'PACKAGE_WITHDRAWN' });
    expect(scripted.calls).not.toContain('followMoney');
  });
});

describe('a history that grows long', () => {
  /** Checks until the server suggests a new run: 512 events, one for each request and ten for each check. */
  async function checkUntilContinued(purchase: Awaited<ReturnType<typeof scripted.start>>): Promise<void> {
    // It may have ended by now.
    const ask = () => purchase.signal(checkPaymentSoon).catch(() => undefined);
    while (times('openPurchase') < 2) await Promise.all(Array.from({ length: 20 }, ask));
  }

  it('ends in a new run, which begins where the row says and asks the supplier at once', async () => {
    const purchase = await begin({
      openPurchase: inTurn({ stage: 'awaiting-payment' }, { stage: 'paid' }),
      collectPayment: () => ({ state: 'done' }),
      checkPayment: () => ({ state: 'paid', isKnown: true }),
      deliver: inTurn(waiting(HOUR), DELIVERED),
    });
    await called('deliver');
    await checkUntilContinued(purchase);
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
    expect(times('collectPayment')).toBe(1);
    // The attempt inside the first task is for a buyer who waits.
    expect(times('tryDelivering')).toBe(1);
  });

  it('follows refunds of a closed purchase in the new run', async () => {
    const refusal = { reason: 'OUT_OF_STOCK', detail: '' };
    let isContinued = false;
    const purchase = await begin({
      openPurchase: inTurn({ stage: 'failed', refusal }, () => {
        isContinued = true;
        return { stage: 'failed', refusal };
      }),
      checkPayment: () => ({ state: 'ended', reason: 'OUT_OF_STOCK', isKnown: true }),
      followMoney: () => (isContinued ? AT_REST : waiting(HOUR)),
    });
    await called('followMoney');
    await checkUntilContinued(purchase);
    expect(await purchase.result()).toEqual({ status: 'FAILED', reason: 'OUT_OF_STOCK' });
    expect(scripted.calls.lastIndexOf('followMoney')).toBeGreaterThan(
      scripted.calls.lastIndexOf('openPurchase'),
    );
  });
});

describe('an answer that is lost says nothing', () => {
  it('a payment step without an answer is asked again within seconds, not at the end of the time to pay', async () => {
    const purchase = await begin({
      openPurchase: () => ({ stage: 'awaiting-payment' }),
      collectPayment: inTurn(waiting(HOUR), lost, { state: 'done' }),
      checkPayment: () => ({ state: 'paid', isKnown: true }),
      tryDelivering: () => DELIVERED,
    });
    await called('collectPayment');
    await purchase.signal(checkPaymentSoon);
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
  });

  it('a check without an answer may have booked the money: the payment step is asked at once', async () => {
    const purchase = await begin({
      openPurchase: () => ({ stage: 'awaiting-payment' }),
      collectPayment: inTurn(waiting(HOUR), { state: 'done' }),
      checkPayment: inTurn(lost, { state: 'paid', isKnown: true }),
      tryDelivering: () => DELIVERED,
    });
    await called('collectPayment');
    expect(await purchase.executeUpdate(checkPayment)).toEqual({ state: 'unknown', isKnown: false });
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
  });

  it('a check that the gateway does not answer leaves the wait for money as it is', async () => {
    const unknown = { state: 'unknown', isKnown: false };
    const purchase = await begin({
      openPurchase: () => ({ stage: 'awaiting-payment' }),
      collectPayment: inTurn(waiting(HOUR), { state: 'done' }),
      checkPayment: inTurn(unknown, unknown, { state: 'paid', isKnown: true }),
      tryDelivering: () => DELIVERED,
    });
    await called('collectPayment');
    // The second is served only once the workflow has paused again.
    for (let asked = 0; asked < 2; asked += 1)
      expect(await purchase.executeUpdate(checkPayment)).toEqual(unknown);
    expect(times('collectPayment')).toBe(1);
    await purchase.executeUpdate(checkPayment);
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
  });

  it('a check whose answer was lost during the delivery is made again before the end', async () => {
    const purchase = await begin({
      deliver: inTurn(waiting(HOUR), DELIVERED),
      checkPayment: inTurn(lost, { state: 'paid', isKnown: true }),
    });
    await called('deliver');
    await purchase.signal(checkPaymentSoon);
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
    expect(times('checkPayment')).toBe(2);
    expect(scripted.calls.at(-1)).toBe('followMoney');
  });

  it('a delivery step without an answer is tried again', async () => {
    const purchase = await begin(
      {
        tryDelivering: lost,
        deliver: inTurn(lost, lost, DELIVERED),
      },
      {},
    );
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
  });

  it('an action whose step is lost stays open, and is tried again', async () => {
    let isDone = false;
    const purchase = await begin(
      {
        deliver: () =>
          isDone ? { state: 'failed', reason: 'CANCELLED_BY_OPERATOR', detail: '' } : waiting(50),
        nextAction: () => (isDone ? null : { actionId: 'action-1', runsOn: 'supplier' }),
        performAction: inTurn(lost, () => {
          isDone = true;
          return {};
        }),
      },
      {},
    );
    await called('deliver');
    await purchase.signal(performActions);
    expect(await purchase.result()).toEqual({ status: 'FAILED', reason: 'CANCELLED_BY_OPERATOR' });
    expect(times('performAction')).toBe(2);
    // Not only once its history is too long: a new run looks for actions in any case.
    expect((await purchase.describe()).runId).toBe(purchase.firstExecutionRunId);
  });
});

describe('callers who ask again and again', () => {
  const slowly = (answer: object) => async () => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return answer;
  };

  /** Three at a time, until told to stop. Steps take so long that the next one asks before they end. */
  function askOnAndOn(purchase: Awaited<ReturnType<typeof begin>>) {
    let isOver = false;
    const ask = async (): Promise<void> => {
      while (!isOver) await purchase.executeUpdate(checkPayment).catch(() => undefined);
    };
    const callers = Promise.all([1, 2, 3].map(ask));
    return async (): Promise<void> => {
      isOver = true;
      await callers;
    };
  }

  it('do not delay a delivery that is paid for', async () => {
    const purchase = await begin({
      checkPayment: slowly({ state: 'paid', isKnown: true }),
      deliver: () => (times('checkPayment') > 4 ? DELIVERED : waiting(300)),
    });
    await called('deliver');
    const stopAsking = askOnAndOn(purchase);
    await called('followMoney');
    await stopAsking();
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
  });

  it('after the end have new runs, too', async () => {
    const purchase = await begin({
      openPurchase: () => ({ stage: 'delivered' }),
      checkPayment: slowly({ state: 'ended', isKnown: true }),
      followMoney: inTurn(waiting(HOUR), slowly(AT_REST)),
    });
    await called('followMoney');
    const stopAsking = askOnAndOn(purchase);
    await called('openPurchase', 2);
    await stopAsking();
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
  });
});

describe('messages', () => {
  it('the supplier’s announcement ends the wait for it', async () => {
    const purchase = await begin(
      {
        deliver: inTurn(waiting(HOUR), DELIVERED),
      },
      {},
    );
    await called('deliver');
    await purchase.signal(supplierAnnounced);
    expect(await purchase.result()).toEqual({ status: 'SUCCESS' });
  });

  it('a message of an operator without an action on record does nothing', async () => {
    const purchase = await begin(
      {
        deliver: inTurn(waiting(HOUR), DELIVERED),
      },
      {},
    );
    await called('deliver');
    // The second is served only once the workflow has paused again.
    for (const messages of [1, 2]) {
      await purchase.signal(performActions);
      await called('nextAction', messages);
    }
    expect(times('deliver')).toBe(1);
    await purchase.signal(supplierAnnounced);
    await purchase.result();
  });

  it('a caller who asks while a check runs gets the answer of the next one', async () => {
    const began = Promise.withResolvers<undefined>();
    const mayEnd = Promise.withResolvers<undefined>();
    const first = { state: 'waiting', isKnown: true };
    const next = { state: 'paid', isKnown: true };
    const purchase = await begin({
      openPurchase: () => ({ stage: 'awaiting-payment' }),
      collectPayment: inTurn(waiting(HOUR), { state: 'done' }),
      checkPayment: inTurn(async () => {
        began.resolve(undefined);
        await mayEnd.promise;
        return first;
      }, next),
      tryDelivering: () => DELIVERED,
    });
    await called('collectPayment');
    const caller = purchase.executeUpdate(checkPayment);
    await began.promise;
    const later = await purchase.startUpdate(checkPayment, { waitForStage: 'ACCEPTED' });
    mayEnd.resolve(undefined);
    expect([await caller, await later.result()]).toEqual([first, next]);
    await purchase.result();
  });

  it('callers at one time share a check that begins after all of them asked', async () => {
    const purchase = await begin({
      openPurchase: () => ({ stage: 'awaiting-payment' }),
      collectPayment: inTurn(waiting(HOUR), { state: 'done' }),
      checkPayment: async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return { state: 'waiting', isKnown: true };
      },
      tryDelivering: () => DELIVERED,
    });
    await called('collectPayment');
    await Promise.all([1, 2, 3, 4, 5].map(() => purchase.executeUpdate(checkPayment)));
    expect(times('checkPayment')).toBeLessThanOrEqual(2);
    await purchase.terminate();
  });
});
