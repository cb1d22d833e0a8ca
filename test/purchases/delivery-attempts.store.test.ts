// Attempts to deliver and withdrawals, without a workflow: real rows, and a supplier that a test answers for.
import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { checkSupplier } from '../../activities/operations/check-supplier.ts';
import { attemptDelivery } from '../../activities/purchases/delivery-attempt.ts';
import { withdraw } from '../../activities/purchases/withdraw.ts';
import type { EsimSupplier, Outcome, ProfileOutcome, SupplierProfile } from '../../src/esims/port.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { findPurchase } from '../../src/purchases/store/reads.ts';
import { loadDelivery } from '../../src/purchases/store/supplier-orders.ts';
import { profileFacts } from '../support/money/facts.ts';
import { NOW, openOrderBooks, TIME_LIMIT_MS } from '../support/money/supplier-order-books.ts';

const { books, open } = await openOrderBooks();
afterAll(() => books.close());

type Says = Partial<Pick<EsimSupplier, 'order' | 'profile' | 'findOrder' | 'cancel'>>;

/** A worker at a supplier that answers so; any other question is an error. */
function workerAt(says: Says): ActivityDeps {
  const supplier = {
    ...says,
    name: 'esim-access',
    repeats: { order: 'same-request', topUp: 'unknown' },
    effectTimeLimitMs: TIME_LIMIT_MS,
  };
  return {
    db: books.world,
    supplier,
    clock: { now: () => NOW },
    forgetsShortageOf: () => true,
    installData: { columns: () => ({}) },
    events: createEvents(createLogger({ level: 'silent' })),
  } as unknown as ActivityDeps;
}

const unknown = { outcome: 'unknown', detail: 'nothing came' } as const;
const accepts: Says['order'] = () => Promise.resolve({ outcome: 'done', value: { orderNo: 'B1' } });
const says = (value: ProfileOutcome) => (): Promise<Outcome<ProfileOutcome>> =>
  Promise.resolve({ outcome: 'done', value });
const allocating = says({ state: 'allocating' });
const ready = (given: Partial<SupplierProfile> = {}) =>
  says({
    state: 'ready',
    profile: {
      ...profileFacts(),
      transactionId: '',
      packageCode: 'NG-5GB-30D',
      supplierStatus: 'GOT_RESOURCE',
      ...given,
    },
  });

async function ordered(): Promise<string> {
  const { transactionId } = await open();
  await attemptDelivery(workerAt({ order: accepts, profile: allocating }), transactionId);
  return transactionId;
}

const purchaseOf = async (transactionId: string) =>
  (await findPurchase(books.world, transactionId))!.purchase;
const orderOf = async (transactionId: string) => (await loadDelivery(books.world, transactionId)).order!;

describe('an accepted order', () => {
  it.each([
    ['the next attempt', (deps: ActivityDeps, id: string) => attemptDelivery(deps, id)],
    ['an operator’s check', (deps: ActivityDeps, id: string) => checkSupplier(deps, id)],
  ])('that the supplier has cancelled is refused by %s, and the money is back', async (_what, look) => {
    const transactionId = await ordered();
    await look(workerAt({ profile: ready({ status: 'CANCELLED' }) }), transactionId);
    expect(await purchaseOf(transactionId)).toMatchObject({ status: 'FAILED', reason: 'SUPPLIER_REFUSED' });
    expect((await orderOf(transactionId)).state).toBe('refused');
  });

  it.each<[string, Partial<SupplierProfile>]>([
    ['another package', { packageCode: 'NG-5GB-7D' }],
    ['another volume', { totalVolumeBytes: 1_073_741_824 }],
  ])('of which %s comes is delivered, and needs a person', async (_what, given) => {
    const transactionId = await ordered();
    expect(await attemptDelivery(workerAt({ profile: ready(given) }), transactionId)).toMatchObject({
      state: 'done',
    });
    expect(await purchaseOf(transactionId)).toMatchObject({
      status: 'SUCCESS',
      attention_reason: 'OTHER_PACKAGE_DELIVERED',
    });
  });

  it('is delivered as ordered where the supplier does not say which package it is', async () => {
    const transactionId = await ordered();
    await attemptDelivery(workerAt({ profile: ready({ packageCode: '' }) }), transactionId);
    expect(await purchaseOf(transactionId)).toMatchObject({ status: 'SUCCESS', attention_reason: null });
  });
});

describe('an order in doubt', () => {
  it('is none where it was not sent: the fence or our rate limit held it back', async () => {
    const { transactionId } = await open();
    const heldBack = { ...unknown, notSent: true } as const;
    await attemptDelivery(workerAt({ order: () => Promise.resolve(heldBack) }), transactionId);
    expect((await orderOf(transactionId)).settlesInMs).toBe(0);
  });

  it('is not given up by a refusal that comes while it may still arrive', async () => {
    const { transactionId } = await open();
    await attemptDelivery(workerAt({ order: () => Promise.resolve(unknown) }), transactionId);
    const refuses: Says = {
      order: () => Promise.resolve({ outcome: 'refused', reason: 'OUT_OF_STOCK', detail: 'none left' }),
      findOrder: () => Promise.resolve({ outcome: 'done', value: { state: 'not-listed' } }),
    };
    expect(await attemptDelivery(workerAt(refuses), transactionId)).toMatchObject({ state: 'again' });
    expect(await purchaseOf(transactionId)).toMatchObject({ status: 'PROCESSING' });
    expect((await orderOf(transactionId)).settlesInMs).toBeGreaterThan(0);
  });
});

describe('a withdrawal', () => {
  it('whose cancellation has no answer is uncertain, and the order may be delivered again', async () => {
    const transactionId = await ordered();
    const cancel: Says['cancel'] = async () => {
      // Its time passes.
      await sql`update supplier_orders set cancel_settles_after = clock_timestamp() where id = ${transactionId}`.execute(
        books.owner,
      );
      return unknown;
    };
    const withdrawal = await new MockActivityEnvironment().run(() =>
      withdraw(workerAt({ profile: ready(), cancel }), transactionId, {
        supplierConfirmedUndelivered: true,
      }),
    );
    expect(withdrawal).toMatchObject({ outcome: 'uncertain' });
    expect(await orderOf(transactionId)).toMatchObject({ state: 'accepted', withdrawingSince: null });
  });
});
