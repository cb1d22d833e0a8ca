import { checkEsim } from '../../src/esims/refresh.ts';
import { leaseForCheck, leaseForUsage } from '../../src/esims/store/due.ts';
import { keepUsage, notifyOfExpiry } from '../../src/esims/store/esims.ts';
import { applySupplierEvents } from '../../src/esims/supplier-events.ts';
import type { ActivityDeps } from '../deps.ts';

type Deps = Pick<ActivityDeps, 'db' | 'supplier' | 'clock' | 'events' | 'installData' | 'engine'>;

/** The supplier's limit for one call. */
const USAGE_BATCH = 10;
/**
 * Until the next run, so that one run follows the other. At one request a second, some 45 are made meanwhile.
 */
const RUNS_FOR_MS = 45_000;
/** Where nothing paces us, as in the sandbox, a run should not keep the simulator busy. */
const MAX_CALLS_PER_RUN = 50;
/** Without an answer so often, the supplier is down for now. */
const MAX_UNANSWERED = 3;

/**
 * Asks the supplier about what is due: events first, then in turn ten eSIMs' usage and one whole eSIM, each
 * kind longest overdue first. So no kind waits for another, and what one leaves the other has. Leases just
 * before each call, so a run that is cut short leaves the rest to the next.
 */
export async function refreshEsims(deps: Deps): Promise<string> {
  const endsAtMs = performance.now() + RUNS_FOR_MS;
  const done = { usage: 0, checked: 0, events: 0, unanswered: 0 };
  for (let calls = 0; calls < MAX_CALLS_PER_RUN && performance.now() < endsAtMs;) {
    done.events += await applySupplierEvents(deps);
    const [usage, checked] = [await refreshUsage(deps), await refreshState(deps, done)];
    done.usage += usage;
    done.checked += checked;
    calls += Number(usage > 0) + checked;
    if ((usage === 0 && checked === 0) || done.unanswered >= MAX_UNANSWERED) break;
  }
  return `usage of ${done.usage} eSIMs, state of ${done.checked}, ${done.events} events`;
}

/** Throws SupplierUnavailable: the next run continues with others. */
async function refreshUsage(deps: Deps): Promise<number> {
  const now = deps.clock.now();
  const esimTranNos = await leaseForUsage(deps.db, { supplier: deps.supplier.name, now, limit: USAGE_BATCH });
  if (esimTranNos.length === 0) return 0;
  const usages = await deps.supplier.usage(esimTranNos);
  await keepUsage(deps.db, deps.supplier.name, usages, now);
  return esimTranNos.length;
}

async function refreshState(deps: Deps, done: { unanswered: number }): Promise<number> {
  const [row] = await leaseForCheck(deps.db, {
    supplier: deps.supplier.name,
    now: deps.clock.now(),
    limit: 1,
  });
  if (!row) return 0;
  const { isAnswered } = await checkEsim(deps, row);
  if (!isAnswered) done.unanswered += 1;
  return 1;
}

/** Within half a minute of notices; the next turn continues. */
const MAX_BATCHES = 50;
const BATCH = 100;

/** Notifies of eSIMs that expire in three days or in one. */
export async function notifyExpiring(deps: Pick<Deps, 'db' | 'clock'>): Promise<number> {
  let notified = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const count = await notifyOfExpiry(deps.db, deps.clock.now(), BATCH);
    notified += count;
    if (count < BATCH) break;
  }
  return notified;
}
