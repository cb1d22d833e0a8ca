// Refund and dispute of one payment, in every order, whole and partial, of purchases and fundings: never
// twice out, nothing in suspense that no
// one can close, and no word about money that is not so.
import { afterEach, describe, expect, it } from 'vitest';
import { readWalletEntries } from '../../src/ledger/store/wallet-entries.ts';
import { newBuyer, untilClosed } from '../support/people/buyer.ts';
import { disputing } from '../support/money/disputing.ts';
import { fundThroughGateway, movedBy, untilBalance, untilFunding } from '../support/money/fundings.ts';
import { newOperator } from '../support/people/operator-actions.ts';
import {
  atGateway,
  chargeAt,
  clearGatewayFaults,
  confirm,
  gatewayFaults,
  untilStatus,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { RARE_CHECK_TIMINGS, startWorkflows } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const operator = newOperator(stack);
const { dispute, resolve, settle, untilAttention } = disputing(stack, operator);
afterEach(async () => {
  await stack.clearFaults();
  await clearGatewayFaults(stack);
});

/** Paid by card, and not allocated by the supplier. */
async function paidAndWaiting(): Promise<string> {
  await stack.faults({ neverAllocate: 1 });
  const order = { account: buyer.account, timings: RARE_CHECK_TIMINGS, paidBy: 'CARD' } as const;
  const { transactionId } = await harness.purchase(order);
  await atGateway(stack, transactionId, 'pay');
  await untilStatus(stack, transactionId, 'PROCESSING');
  await until(
    () => harness.isParked(transactionId),
    (parked) => parked,
    { what: 'a purchase that pauses' },
  );
  return transactionId;
}

async function delivered(): Promise<string> {
  const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD' });
  await atGateway(stack, transactionId, 'pay');
  await harness.result(transactionId);
  return transactionId;
}

/** What it moved on the accounts that hold money of others, and on revenue. */
async function openMoneyOf(transactionId: string): Promise<Record<string, number>> {
  const moved = await movedBy(stack, transactionId);
  return Object.fromEntries(
    Object.entries(moved).filter(([account]) => /^(suspense|held|revenue|gateway-clearing)/.test(account)),
  );
}

/** What its merchant reads, newest first. */
async function entriesOf({ accountId }: { readonly accountId: string }) {
  const entries = await readWalletEntries(stack.world, { accountId, limit: 100 });
  return entries.map(({ kind, amountMinor, description }) => [kind, Number(amountMinor) / 100, description]);
}

async function timelineOf(account: Parameters<typeof confirm>[1], transactionId: string) {
  return (await confirm(stack, account, transactionId)).body.timeline.map(({ what }) => what);
}

const refundsAt = async (transactionId: string) =>
  (await chargeAt(stack, transactionId)).refunds.map(({ status, amountMinor }) => [status, amountMinor]);

describe('a purchase that is paid and not delivered', () => {
  it('refunds nothing while disputed; after a loss all accounts balance', async () => {
    const transactionId = await paidAndWaiting();
    await dispute(transactionId);
    await stack.clearFaults();
    const cancelled = await operator.act(transactionId, 'cancel');
    expect(cancelled).toMatchObject({ outcome: 'done' });
    await untilClosed(stack, transactionId);
    expect(await refundsAt(transactionId)).toEqual([]);
    await resolve(transactionId, 'merchant-accepted');
    expect(await settle(transactionId, 'lost')).toMatchObject({ outcome: 'done' });
    await untilAttention(transactionId, null);
    expect(await refundsAt(transactionId)).toEqual([]);
    expect(await openMoneyOf(transactionId)).toEqual({});
  });

  it('sends back what the bank leaves: the rest at once, and the disputed part once the dispute is won', async () => {
    const transactionId = await paidAndWaiting();
    await dispute(transactionId, 100);
    await stack.clearFaults();
    await operator.act(transactionId, 'cancel');
    await until(
      () => refundsAt(transactionId),
      (refunds) => refunds.length === 1 && refunds[0]?.[0] === 'processed',
      { what: 'the rest is sent back' },
    );
    expect(await refundsAt(transactionId)).toEqual([['processed', 130]]);
    await resolve(transactionId, 'declined');
    expect(await settle(transactionId, 'won')).toMatchObject({ outcome: 'done' });
    await until(
      () => openMoneyOf(transactionId),
      (open) => Object.keys(open).length === 0,
      { what: 'all is sent back' },
    );
    expect(
      (await chargeAt(stack, transactionId)).refunds.map((refund) => refund.amountMinor).toSorted(),
    ).toEqual([100, 130]);
  });

  it('is not credited to a wallet when the bank has the money: credit-wallet is refused', async () => {
    const transactionId = await paidAndWaiting();
    await atGateway(stack, transactionId, 'reverse');
    await operator.act(transactionId, 'check-gateway');
    await untilAttention(transactionId, 'PAYMENT_REVERSED');
    await stack.clearFaults();
    const before = await buyer.balanceMinor();
    const credited = await operator.act(transactionId, 'credit-wallet');
    expect([credited.outcome, (await buyer.balanceMinor()) - before]).toEqual(['refused', 0n]);
    expect(credited).toMatchObject({ code: 'DOES_NOT_FIT' });
    expect(await operator.act(transactionId, 'cancel')).toMatchObject({ outcome: 'done' });
    expect(await untilClosed(stack, transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'PAYMENT_REVERSED',
    });
    expect(await openMoneyOf(transactionId)).toEqual({});
  });

  it('is not sent back a second time when the refund came first', async () => {
    await gatewayFaults(stack, { refund: 'pending' });
    const transactionId = await paidAndWaiting();
    await stack.clearFaults();
    await operator.act(transactionId, 'cancel');
    await until(
      () => refundsAt(transactionId),
      (refunds) => refunds.length === 1,
      { what: 'the refund is asked for' },
    );
    await dispute(transactionId);
    await clearGatewayFaults(stack);
    await until(
      () => refundsAt(transactionId),
      (refunds) => refunds[0]?.[0] === 'processed',
      { what: 'the refund is sent' },
    );
    await resolve(transactionId, 'declined');
    expect(await settle(transactionId, 'won')).toMatchObject({ outcome: 'done' });
    await until(
      () => openMoneyOf(transactionId),
      (open) => Object.keys(open).length === 0,
      { what: 'nothing is open' },
    );
    expect(await refundsAt(transactionId)).toEqual([['processed', 230]]);
  });
});

describe('a delivered purchase', () => {
  it('of which a part is disputed has that part at risk, and loses that part', async () => {
    const transactionId = await delivered();
    await dispute(transactionId, 100);
    expect(await openMoneyOf(transactionId)).toEqual({
      ...{ 'revenue:USD': 130, 'suspense:USD': 100 },
      'gateway-clearing:paystack:USD': expect.any(Number) as number,
    });
    await resolve(transactionId, 'merchant-accepted');
    expect(await settle(transactionId, 'lost')).toMatchObject({ did: 'Dispute lost: our loss is USD 1.00' });
    await untilAttention(transactionId, null);
    const open = await openMoneyOf(transactionId);
    expect(open).toMatchObject({ 'revenue:USD': 130 });
    expect(open).not.toHaveProperty('suspense:USD');
    expect(Object.values(open).reduce((sum, minor) => sum + minor, 0)).toBe(0);
  });

  it('of which a part went back as goodwill has the rest at risk, and no more goodwill while it is', async () => {
    const transactionId = await delivered();
    const goodwill = (amountMinor: bigint) =>
      operator.act(transactionId, 'refund-to-source', {
        goodwill: true,
        amount: { amountMinor, currency: 'USD' },
      });
    expect(await goodwill(100n)).toMatchObject({ outcome: 'done' });
    await until(
      () => refundsAt(transactionId),
      (refunds) => refunds[0]?.[0] === 'processed',
      { what: 'the goodwill is sent' },
    );
    await until(
      () => openMoneyOf(transactionId),
      (open) => !('suspense:USD' in open),
      { what: 'the goodwill is booked as sent' },
    );
    await dispute(transactionId);
    expect(await openMoneyOf(transactionId)).toMatchObject({ 'suspense:USD': 130 });
    expect(await goodwill(10n)).toMatchObject({ outcome: 'refused' });
    await resolve(transactionId, 'merchant-accepted');
    expect(await settle(transactionId, 'lost')).toMatchObject({ did: 'Dispute lost: our loss is USD 1.30' });
    await untilAttention(transactionId, null);
    expect(await openMoneyOf(transactionId)).toEqual({});
  });
});

describe('a funding of a wallet', () => {
  async function funded(amount = 20) {
    const payer = await newBuyer(stack, { fundsMinor: 0n });
    const { account } = payer;
    const { transactionId } = await fundThroughGateway(stack, account, { amount, method: 'CARD' });
    await atGateway(stack, transactionId, 'pay');
    await untilFunding(stack, transactionId, 'SUCCESS');
    return { ...payer, transactionId };
  }

  it('that is disputed is frozen, and free again once the dispute is won', async () => {
    const { account, transactionId } = await funded();
    await dispute(transactionId, 500);
    await untilBalance(stack, account, 1_500);
    await resolve(transactionId, 'declined');
    expect(await settle(transactionId, 'won')).toMatchObject({ outcome: 'done' });
    await untilBalance(stack, account, 2_000);
    expect(await openMoneyOf(transactionId)).not.toHaveProperty('suspense:USD');
    expect(await entriesOf(account)).toEqual([
      ['DISPUTE', 5, 'Free again after a dispute of a funding of the wallet'],
      ['DISPUTE', -5, 'Frozen: a bank disputes a funding of the wallet'],
      ['FUNDING', 20, 'Wallet funded'],
    ]);
    expect(await timelineOf(account, transactionId)).toEqual([
      'opened',
      'wallet-credited',
      'payment-disputed',
      'dispute-won',
    ]);
  });

  it('that is disputed and lost after it was spent leaves the wallet owing; later fundings pay it first', async () => {
    const { transactionId, ...payer } = await funded();
    const { account } = payer;
    expect((await payer.buy('SIM-OK')).body.status).toBe('SUCCESS');
    await untilBalance(stack, account, 1_770);
    await dispute(transactionId);
    await untilBalance(stack, account, 0);
    await resolve(transactionId, 'merchant-accepted');
    expect(await settle(transactionId, 'lost')).toMatchObject({ outcome: 'done' });
    await untilAttention(transactionId, null);
    const { body } = await stack.call('GET', '/api/wallet/balance', { key: account.apiKey });
    expect(body.data).toMatchObject({ balance: 0, owed: 2.3 });
    expect(await openMoneyOf(transactionId)).toEqual({});
    const next = await fundThroughGateway(stack, account, { amount: 10, method: 'CARD' });
    await atGateway(stack, next.transactionId, 'pay');
    await untilFunding(stack, next.transactionId, 'SUCCESS');
    await untilBalance(stack, account, 770);
    const after = await stack.call('GET', '/api/wallet/balance', { key: account.apiKey });
    expect(after.body.data).toMatchObject({ balance: 7.7, owed: 0 });
    expect((await entriesOf(account))[0]).toEqual(['FUNDING', 7.7, 'Wallet funded']);
    expect(await timelineOf(account, next.transactionId)).toEqual(['opened', 'wallet-credited', 'owed-paid']);
    expect(await timelineOf(account, transactionId)).toEqual([
      'opened',
      'wallet-credited',
      'payment-disputed',
      'payment-reversed',
      'dispute-lost',
    ]);
  });
});
