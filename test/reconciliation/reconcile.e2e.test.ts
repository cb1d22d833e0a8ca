// Reconciliation on the whole service: purchases, refunds and unusual payments leave no difference; changes
// made directly at a vendor, or in our ledger, are found; a corrected difference is closed, and a person
// closes the others.
import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../src/domain/clock.ts';
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { reconcileEngineOf } from '../support/money/reconciling.ts';
import { reconciliationUseCases } from '../../src/reconciliation/operator-use-cases.ts';
import { listOpenDifferences } from '../../src/reconciliation/store/reconciliation.ts';
import type { Session } from '../../src/domain/callers.ts';
import type { DifferenceKind, ReconcileSummary } from '../../src/reconciliation/payment-rules.ts';
import { transfer } from '../../src/ledger/store/ledger.ts';
import { RECONCILE_WORKFLOW } from '../../workflows/contract.ts';
import { newBuyer } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import {
  atGateway,
  buyThroughGateway,
  confirm,
  gatewayFaults,
  untilStatus,
  type Paid,
} from '../support/money/payments.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack, type TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

/** What the simulated supplier begins with. */
const PAID_IN_USD_E4 = 100_000_000_000n;
const SECRET_KEY = 'sk_test_simulator';

const stack = await forFile(
  startStack({
    timings: {
      pollFirstMs: 400,
      refundCheckFirstMs: 200,
      refundCheckMaxMs: 500,
    },
    env: {
      // Nothing changes any more when these runs begin.
      SIMWAY_TEST_RECONCILE_SETTLE_MS: '1',
    },
  }),
);
const temporal = await forFile(
  connectClient({ address: stack.env['TEMPORAL_ADDRESS'] ?? '', namespace: stack.namespace }),
);
const usd = await stack.account({ fundsMinor: 0n });
const ngn = await stack.account({ fundsMinor: 0n, currency: 'NGN' });

async function reconcile(range?: { from: Date; to: Date }): Promise<ReconcileSummary> {
  const engine = reconcileEngineOf(stack, temporal);
  const summary = await engine.reconcile({ askedBy: 'a test', ...(range ? { range } : {}) });
  if (summary === null) throw new Error('there was nothing to compare');
  return summary;
}

const listOpen = (kinds?: readonly DifferenceKind[]) =>
  listOpenDifferences(stack.world, { kinds, limit: 100 });

const close = (id: bigint, by: string, reason: string): Promise<void> => {
  const deps = { db: stack.world, clock: { now: () => new Date() } };
  const person = { email: by } as Session['person'];
  return reconciliationUseCases.closeDifference(deps, { person }, id, reason);
};

async function openKinds(): Promise<string[]> {
  return (await listOpen()).map(({ kind, subject }) => `${kind} ${subject}`).toSorted();
}

/** Buys a magic package through the gateway and waits for its end. */
async function bought(
  account: TestAccount,
  packageCode: string,
  status: string,
  method: Parameters<typeof buyThroughGateway>[2] = {},
): Promise<Paid> {
  const paid = await buyThroughGateway(stack, account, { packageCode, ...method });
  await untilStatus(stack, paid.transactionId, status);
  return paid;
}

/** Uses the vendors' own interfaces, as another client would. */
async function atVendor(url: string, body: object, headers: Record<string, string> = {}): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
}

async function atSupplier(path: string, body: object): Promise<void> {
  const answer = await fetch(stack.supplierControlUrl + path, { method: 'PUT', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

async function untilRefundsEnd(): Promise<void> {
  await until(
    () => stack.world.selectFrom('refunds').select('refund_key').where('closed_at', 'is', null).execute(),
    (open) => open.length === 0,
    { what: 'all refunds to end' },
  );
}

describe('an ordinary day', () => {
  it('answers null before the first run, and is scheduled', async () => {
    expect(await reconcileEngineOf(stack, temporal).reconcile({ askedBy: 'a test' })).toBeNull();
    const schedule = await temporal.client.schedule.getHandle(`${RECONCILE_WORKFLOW}-schedule`).describe();
    expect(schedule.info.numActionsTaken).toBe(0);
  });

  it('leaves no difference: wallets, cards, transfers, top-ups, refunds and unusual payments', async () => {
    const buyer = await newBuyer(stack, { currency: 'NGN', fundsMinor: 5_000_000n });
    const { esimId } = await buyer.activeEsim();
    expect((await buyer.buy('TOPUP_SIM-OK', { esimId })).body.status).toBe('SUCCESS');
    expect((await buyer.buy('SIM-LOSE-ANSWER')).body.status).toBe('SUCCESS');
    expect((await buyer.buy('SIM-OUT-OF-STOCK')).status).toBe(400);
    await Promise.all([
      bought(usd, 'SIM-PAY-NOW', 'SUCCESS'),
      bought(ngn, 'SIM-PAY-NOW', 'SUCCESS', { method: 'BANK_TRANSFER' }),
      bought(ngn, 'SIM-PAY-NOW', 'SUCCESS', { method: 'MOBILE_MONEY' }),
      bought(usd, 'SIM-PAY-SHORT', 'FAILED'),
      bought(usd, 'SIM-PAY-OVER', 'SUCCESS'),
      bought(ngn, 'SIM-PAY-FEES-ON-TOP', 'SUCCESS'),
      bought(ngn, 'SIM-PAY-OTHER-CURRENCY', 'FAILED'),
      bought(usd, 'SIM-PAY-TWICE', 'SUCCESS'),
      bought(ngn, 'SIM-PAY-REFUNDED', 'FAILED'),
      bought(usd, 'SIM-PAY-REFUND-FAILS', 'FAILED'),
      buyThroughGateway(stack, usd, { packageCode: 'SIM-PAY-NEVER' }),
    ]);
    const reversed = await bought(usd, 'SIM-PAY-NOW', 'SUCCESS');
    await atGateway(stack, reversed.reference, 'reverse');
    await confirm(stack, usd, reversed.transactionId);
    await untilRefundsEnd();
    // The opening balance is no fact before a person compares it with what was paid in.
    expect(await reconcile()).toMatchObject({ opened: 1 });
    const [opening] = await listOpen();
    expect(opening).toMatchObject({ kind: 'supplier-balance-differs', amountMinor: PAID_IN_USD_E4 });
    await close(opening?.id ?? 0n, 'ada', 'paid in before the first run');
    const summary = await reconcile();
    expect(await openKinds()).toEqual([]);
    expect(summary).toMatchObject({
      opened: 0,
      open: [],
      compared: { charges: 11, reversals: 1, refunds: 2 },
    });
    // A top-up is listed with its eSIM.
    expect(summary.compared['orders']).toBe(10);
    await expectSoundBooks(stack);
  });
});

describe('a worker that stops in the middle of a run', () => {
  it('leaves the run to the next worker, which continues it', async () => {
    const runs = () =>
      stack.world
        .selectFrom('reconciliation_runs')
        .selectAll()
        .where('asked_by', '=', 'a patient test')
        .execute();
    const now = Date.now();
    await stack.faults({ latencyMs: 700 });
    const asked = reconcileEngineOf(stack, temporal).reconcile({
      askedBy: 'a patient test',
      range: { from: new Date(now - 3 * DAY_MS), to: new Date(now) },
    });
    await until(runs, ([run]) => (run?.slices_read ?? 0) > 1, { what: 'a run in progress' });
    await stack.stopWorker();
    const [left] = await runs();
    expect(left).toMatchObject({ status: 'RUNNING', finished_at: null });
    await stack.clearFaults();
    await stack.startWorker();
    expect(await asked).toMatchObject({ runId: String(left?.id), opened: 0, open: [] });
    const [done, ...others] = await runs();
    expect(others).toEqual([]);
    expect(done).toMatchObject({ id: left?.id, status: 'DONE', slices_read: left?.slices.length });
    expect(done?.slices_read).toBeGreaterThan(left?.slices_read ?? 0);
  });
});

describe('a change that bypasses the service', () => {
  it('at the gateway is found, and closed once we have booked it or it is gone', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const [twice, taken, partly] = [
      await bought(usd, 'SIM-PAY-SILENT', 'SUCCESS'),
      await bought(usd, 'SIM-PAY-SILENT', 'SUCCESS'),
      await bought(ngn, 'SIM-PAY-SILENT', 'SUCCESS'),
    ];
    await reconcile();
    expect(await openKinds()).toEqual([]);
    await atGateway(stack, twice.reference, 'pay');
    await atGateway(stack, taken.reference, 'reverse');
    const authorization = { authorization: `Bearer ${SECRET_KEY}` };
    await atVendor(
      `${stack.gatewayUrl}/refund`,
      { transaction: partly.reference, amount: 100 },
      authorization,
    );
    const stranger = { email: 'a@b.example', amount: 500_000, currency: 'NGN', reference: 'stranger-1' };
    await atVendor(`${stack.gatewayUrl}/transaction/initialize`, stranger, authorization);
    await atGateway(stack, 'stranger-1', 'pay');
    await until(
      async () => {
        await reconcile();
        return openKinds();
      },
      (open) => open.length === 4,
      { what: 'four differences: the refund by hand takes its time' },
    );
    expect(await openKinds()).toEqual(
      [
        `double-at-gateway ${twice.reference}`,
        'missing-in-ledger stranger-1',
        `refund-missing-in-ledger ${partly.reference}`,
        `status-differs ${taken.reference}`,
      ].toSorted(),
    );
    const [stray] = await listOpen(['missing-in-ledger']);
    expect(stray).toMatchObject({
      transactionId: null,
      currency: 'NGN',
      amountMinor: 500_000n,
      ours: null,
      theirs: { receivedNGNMinor: '500000' },
    });
    await confirm(stack, usd, twice.transactionId);
    await confirm(stack, usd, taken.transactionId);
    await atGateway(stack, 'stranger-1', 'reverse');
    expect(await reconcile()).toMatchObject({ opened: 0, closed: 3 });
    expect(await openKinds()).toEqual([`refund-missing-in-ledger ${partly.reference}`]);
  });

  it('that cannot be booked is closed by a person, with a reason, and stays closed', async () => {
    const [byHand] = await listOpen();
    const id = byHand?.id ?? 0n;
    await expect(close(id, 'ada', 'ok  ')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await expect(close(id + 1_000n, 'ada', 'agreed with the buyer')).rejects.toThrow('No such difference');
    await close(id, 'ada', 'agreed with the buyer');
    await expect(close(id, 'bob', 'agreed with the buyer')).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
    expect(await reconcile()).toMatchObject({ opened: 0, open: [] });
  });

  it('at the supplier is found, and closed once it is gone or a person has accepted it', async () => {
    const cancelled = await bought(usd, 'SIM-PAY-SILENT', 'SUCCESS');
    const [order] = await stack.supplierOrders(cancelled.transactionId);
    const iccid = order?.esims[0]?.iccid ?? '';
    await atVendor(
      `${stack.supplierUrl}/api/v1/open/esim/order`,
      { transactionId: 'stranger-2', packageInfoList: [{ packageCode: 'SIM-OK', count: 1 }] },
      { 'RT-AccessCode': 'test-access' },
    );
    await atSupplier(`/esims/${iccid}`, { esimStatus: 'CANCEL' });
    await reconcile();
    expect(await openKinds()).toEqual(
      [
        `supplier-cost-differs ${cancelled.transactionId}`,
        'supplier-balance-differs supplier-balance',
        'supplier-order-unknown stranger-2',
      ].toSorted(),
    );
    const [balance] = await listOpen(['supplier-balance-differs']);
    expect(balance).toMatchObject({ currency: 'USD4', amountMinor: -20_000n });
    await atSupplier(`/esims/${iccid}`, { esimStatus: null });
    await close(balance?.id ?? 0n, 'ada', 'bought at the supplier by hand');
    const [stray] = await stack.supplierOrders('stranger-2');
    await atSupplier(`/esims/${stray?.esims[0]?.iccid ?? ''}`, { esimStatus: 'CANCEL' });
    expect(await reconcile()).toMatchObject({ opened: 0, closed: 2, open: [] });
    const { balance: left } = (await (await fetch(`${stack.supplierControlUrl}/balance`)).json()) as {
      balance: number;
    };
    await atSupplier('/balance', { balance: left + 1_000_000 });
    await reconcile();
    expect(await listOpen()).toMatchObject([{ kind: 'supplier-balance-differs', amountMinor: 1_000_000n }]);
    await atSupplier('/balance', { balance: left });
    expect(await reconcile()).toMatchObject({ opened: 0, closed: 1, open: [] });
  });

  it('in our own ledger is found: money that the gateway never had', async () => {
    const unpaid = await buyThroughGateway(stack, usd, { packageCode: 'SIM-PAY-NEVER' });
    await stack.owner
      .updateTable('payments')
      .set({ received_minor: 230n, credited_minor: 230n })
      .where('reference', '=', unpaid.reference)
      .execute();
    await transfer(stack.world, {
      operationKey: `${unpaid.reference}:received:USD:230`,
      kind: 'payment-received',
      transactionId: unpaid.transactionId,
      entries: [
        { account: 'gateway-clearing:paystack:USD', currency: 'USD', amountMinor: -230n },
        { account: 'suspense:USD', currency: 'USD', amountMinor: 230n },
      ],
    });
    await reconcile();
    expect(await openKinds()).toEqual([`missing-at-gateway ${unpaid.reference}`]);
    // Paid after all.
    await atGateway(stack, unpaid.reference, 'pay');
    expect(await reconcile()).toMatchObject({ opened: 0, closed: 1, open: [] });
  });
});
