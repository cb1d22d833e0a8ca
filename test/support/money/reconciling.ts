// A database with planted payments, a gateway with a statement of them, a supplier that has sold nothing, and
// reconciliation between them, on a clock that the test sets.
import { HOUR_MS } from '../../../src/domain/clock.ts';
import { createPaystackGateway } from '../../../src/vendors/paystack/gateway.ts';
import { createReconciliation, type Reconciliation } from '../../../src/reconciliation/reconcile.ts';
import type { ReconcileEngine } from '../../../src/reconciliation/engine.ts';
import type { ReconcileDeps } from '../../../src/reconciliation/run.ts';
import { keepRequest, listOpenDifferences } from '../../../src/reconciliation/store/reconciliation.ts';
import type { TemporalClient } from '../../../src/platform/temporal/connect.ts';
import { createReconcileEngine } from '../../../src/app/temporal/reconcile-engine.ts';
import type { ReconcileSummary } from '../../../src/reconciliation/payment-rules.ts';
import { SECRET_KEY } from '../vendors/answering-gateway.ts';
import { json, startAnsweringVendor, type Answering } from '../vendors/answering-vendor.ts';
import { openBooks } from '../world/books.ts';
import { FIXTURE_FEES, type FixtureBooks } from './fixture-payments.ts';
import type { Stack } from '../world/stack.ts';
import { startStatementServer } from '../vendors/statement-server.ts';

export type Reconciling = Awaited<ReturnType<typeof startReconciling>>;

/** The supplier's answers without any order. */
const nothingOrdered: Answering = (response, call) => {
  const obj = call.path.endsWith('/balance/query')
    ? { balance: 0 }
    : { esimList: [], pager: { pageNum: 1, pageSize: 500, total: 0 } };
  json({ success: true, errorCode: '0', errorMsg: null, obj })(response, call);
};

export async function startReconciling(
  theirs: FixtureBooks['theirs'],
  settings: Partial<ReconcileDeps['settings']> = {},
) {
  const books = await openBooks({ statementTimeoutMs: 2_000 });
  const server = await startStatementServer(theirs);
  const gateway = createPaystackGateway({ baseUrl: server.url, secretKey: SECRET_KEY, mode: 'test' });
  const vendor = await startAnsweringVendor();
  vendor.answerWith(nothingOrdered);
  let nowMs = Date.now();
  const reconciliation = createReconciliation({
    db: books.world,
    gateway,
    supplier: vendor.supplier({ timeLimitMs: 5_000 }),
    clock: { now: () => new Date(nowMs) },
    events: { reconciled: () => undefined, unverifiedRequest: () => undefined },
    settings: {
      overlapMs: 96 * HOUR_MS,
      settleMs: HOUR_MS,
      lingerMs: 0,
      fees: FIXTURE_FEES,
      ...settings,
    },
  });
  return {
    books,
    gateway: server,
    /** The time from now on. */
    setNow: (ms: number) => {
      nowMs = ms;
    },
    /** A regular run, to its end. */
    run: async (options: Partial<Parameters<Reconciliation['run']>[0]> = {}): Promise<ReconcileSummary> => {
      const summary = await reconciliation.run({ askedBy: 'a test', ...options });
      if (summary === null) throw new Error('there was nothing to compare');
      return summary;
    },
    /** Open differences, `kind subject`, in order. */
    open: async (): Promise<string[]> => {
      const open = await listOpenDifferences(books.world, { limit: 1_000 });
      return open.map(({ kind, subject }) => `${kind} ${subject}`).toSorted();
    },
    close: async () => {
      gateway.close();
      await Promise.all([server.close(), vendor.close()]);
      await books.close();
    },
  };
}

/** Runs in the workers of a stack, as operators start it. */
export const reconcileEngineOf = (stack: Stack, temporal: TemporalClient): ReconcileEngine =>
  createReconcileEngine(temporal, (asked) => keepRequest(stack.world, asked));
