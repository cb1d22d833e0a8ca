// Delivery attempts as a worker makes them, without a workflow: two of them in parallel, one of which stalls at a call to the supplier
// while the other continues. Real activities, Postgres, adapter and simulator; only the stall is artificial.
import { MockActivityEnvironment } from '@temporalio/testing';
import { deliver } from '../../activities/purchases/deliver.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createSupplierActions } from '../../activities/operations/actions.ts';
import { createEsimAccessSupplier } from '../../src/vendors/esim-access/supplier.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import type { EsimSupplier } from '../../src/esims/port.ts';
import { randomBytes } from 'node:crypto';
import { makeId } from '../../src/domain/ids.ts';
import { askForAction, beginAction } from '../../src/operations/store/actions.ts';
import { reopenDelivery } from '../../src/purchases/store/deliveries.ts';
import type { DeliverOutcome, SupplierActivities } from '../../workflows/contract.ts';
import { failRefused } from '../../src/purchases/store/purchases.ts';
import { NO_LIMITS } from './facts.ts';
import { REASON } from './operator-actions.ts';
import { installDataWith } from './install-data.ts';
import type { Stack } from './stack.ts';

type Call = 'order' | 'topUp' | 'profile' | 'findOrder' | 'cancel';

/** One worker's activities. It can be made to stall at a call to the supplier, before or after the call. */
export interface Attempt {
  readonly activities: Pick<
    SupplierActivities,
    'deliver' | 'withdrawOrder' | 'lookAtSupplier' | 'withdrawForMove'
  >;
  /** One attempt at the supplier. */
  deliverOnce(transactionId: string): Promise<DeliverOutcome>;
  /** An operator has asked for its cancellation, and its workflow has begun that. */
  beginCancelling(transactionId: string): Promise<void>;
  withdraw(transactionId: string): Promise<unknown>;
  reopen(transactionId: string): Promise<number>;
  /** From now on the next such call waits. */
  stall(call: Call, when: 'before' | 'after'): void;
  /** Resolves once the attempt has stalled. */
  readonly stalled: () => Promise<undefined>;
  goOn(): void;
  close(): void;
}

/** `aheadMs`: how far the worker's clock is ahead, so that the test need not wait. */
export function createAttempt(stack: Stack, aheadMs = 0): Attempt {
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  const supplier = createEsimAccessSupplier({
    baseUrl: stack.supplierUrl,
    accessCode: stack.env['SIMWAY_TEST_SUPPLIER_ACCESS_CODE'] ?? '',
    secretKey: stack.env['SIMWAY_TEST_SUPPLIER_SECRET_KEY'],
    sign: true,
    pacer: { takeSlot: () => Promise.resolve(true) },
    clock: { now: () => new Date() },
  });
  // The context of a step in a worker.
  const environment = new MockActivityEnvironment();
  let place: { readonly call: Call; readonly when: 'before' | 'after' } | undefined;
  let reached = Promise.withResolvers<undefined>();
  let released = Promise.withResolvers<undefined>();
  const waitAt = async (call: Call, when: 'before' | 'after'): Promise<void> => {
    if (place?.call !== call || place.when !== when) return;
    place = undefined;
    reached.resolve(undefined);
    await released.promise;
  };
  const stalling = <Name extends Call>(name: Name): EsimSupplier[Name] => {
    const call = supplier[name].bind(supplier) as (...args: unknown[]) => Promise<unknown>;
    return (async (...args: unknown[]) => {
      await waitAt(name, 'before');
      const answer = await call(...args);
      await waitAt(name, 'after');
      return answer;
    }) as EsimSupplier[Name];
  };
  // Only the parts that a delivery uses.
  const deps = {
    db: stack.world,
    supplier: {
      ...supplier,
      order: stalling('order'),
      topUp: stalling('topUp'),
      profile: stalling('profile'),
      findOrder: stalling('findOrder'),
      cancel: stalling('cancel'),
    },
    clock,
    installData: installDataWith(stack.env['SIMWAY_SECRETS_KEY']),
    events: createEvents(createLogger({ level: 'error' })),
  } as unknown as ActivityDeps;
  const moves = createSupplierActions(deps);
  return {
    activities: {
      deliver: (request) => environment.run(() => deliver(deps, request)),
      withdrawOrder: (transactionId) => environment.run(() => moves.withdrawOrder(transactionId)),
      withdrawForMove: (...args) => environment.run(() => moves.withdrawForMove(...args)),
      lookAtSupplier: (transactionId) => environment.run(() => moves.lookAtSupplier(transactionId)),
    },
    deliverOnce: async (transactionId) => {
      const request = { transactionId, budgetMs: 0, lookFirstMs: 50, lookMaxMs: 200 };
      const outcome = await environment.run(() => deliver(deps, request));
      if (outcome.outcome === 'refused' && !outcome.afterDoubt) await failRefused(stack.world, transactionId);
      return outcome;
    },
    beginCancelling: async (transactionId) => {
      const moveId = makeId('move', randomBytes(16).toString('hex'));
      const action = { moveId, moveKey: moveId, transactionId, move: 'cancel', by: 'ada', reason: REASON } as const;
      await askForAction(stack.world, action, new Date());
      await beginAction(stack.world, action, { limits: NO_LIMITS, now: new Date() });
    },
    withdraw: (transactionId) => environment.run(() => moves.withdrawForMove(transactionId, false)),
    reopen: (transactionId) => reopenDelivery(stack.world, transactionId, clock.now()),
    stall: (call, when) => {
      place = { call, when };
      reached = Promise.withResolvers();
      released = Promise.withResolvers();
    },
    stalled: () => reached.promise,
    goOn: () => released.resolve(undefined),
    close: () => {
      released.resolve(undefined);
      supplier.close();
    },
  };
}
