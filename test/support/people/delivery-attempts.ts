// Delivery attempts as a worker makes them, without a workflow: two of them in parallel, one of which stalls
// at a call to the supplier while the other continues. Real activities, Postgres, adapter and simulator; only
// the stall is artificial.
import { MockActivityEnvironment } from '@temporalio/testing';
import { checkSupplier } from '../../../activities/operations/check-supplier.ts';
import { deliver } from '../../../activities/purchases/deliver.ts';
import { withdraw } from '../../../activities/purchases/withdraw.ts';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { createEsimAccessSupplier } from '../../../src/vendors/esim-access/supplier.ts';
import { createEvents } from '../../../src/platform/telemetry/events.ts';
import { createLogger } from '../../../src/platform/telemetry/logger.ts';
import type { EsimSupplier } from '../../../src/esims/port.ts';
import type { DeliverRequest } from '../../../workflows/contract.ts';
import { installDataWith } from '../vendors/install-data.ts';
import type { Stack } from '../world/stack.ts';
import { LONG_ANSWER_TIMINGS } from '../world/workflow-harness.ts';

type Call = 'order' | 'topUp' | 'profile' | 'findOrder' | 'cancel';

/** One worker's steps. It can be made to stall at a call to the supplier, before or after the call. */
export type Attempt = ReturnType<typeof createAttempt>;

/** `aheadMs`: how far the worker's clock is ahead, so that the test need not wait. */
export function createAttempt(stack: Stack, aheadMs = 0) {
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
  const run = <T>(step: () => Promise<T>): Promise<T> => environment.run(step);
  return {
    /** One attempt at the supplier. */
    deliverOnce: (transactionId: string) =>
      run(() => deliver(deps, { transactionId, budgetMs: 0, timings: LONG_ANSWER_TIMINGS })),
    /** The same, and more attempts while there is time. */
    deliver: (request: DeliverRequest) => run(() => deliver(deps, request)),
    checkSupplier: (transactionId: string) => run(() => checkSupplier(deps, transactionId)),
    withdraw: (transactionId: string, supplierConfirmedUndelivered: boolean = false) =>
      run(() => withdraw(deps, transactionId, { supplierConfirmedUndelivered })),
    /** From now on the next such call waits. */
    stall: (call: Call, when: 'before' | 'after') => {
      place = { call, when };
      reached = Promise.withResolvers();
      released = Promise.withResolvers();
    },
    /** Resolves once the attempt has stalled. */
    stalled: () => reached.promise,
    goOn: () => released.resolve(undefined),
    close: () => {
      released.resolve(undefined);
      supplier.close();
    },
  };
}
