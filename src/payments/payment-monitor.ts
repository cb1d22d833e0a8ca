/**
 * Finds paid charges whose events were lost, by reading the gateway's list in windows: one read covers all
 * payments of a window. If the list does not answer, payments are checked one by one, slowly and fairly over
 * accounts.
 */
import type { Events } from '../platform/telemetry/events.ts';
import type { PaymentDeps } from './deps.ts';
import { GatewayUnavailable, type PaymentGateway } from './port.ts';
import type { PaymentEngine } from './engine.ts';
import type { Pacer } from '../platform/rate-limiter.ts';
import {
  leaseWindow,
  findUnbooked,
  findUncheckedPayments,
  deleteWindow,
  saveWindow,
  openWindows,
  postponeWindow,
  unpaidIn,
  unpaidSince,
  monitorLagMs,
  type GatewayWindow,
} from './store/gateway-windows.ts';
import { recordCheck } from './store/payments.ts';
import {
  CLOCK_SKEW_MS,
  PAYMENT_LIKELY_FOR_MS,
  nextReadMs,
  MONITORED_FOR_MS,
  LIST_WINDOW_MS,
  windowOf,
  type MonitorPace,
} from './monitor-rules.ts';

interface PaymentMonitorDeps extends Pick<PaymentDeps, 'db' | 'clock'> {
  readonly gateway: Pick<PaymentGateway, 'paidCharges' | 'findCharge'>;
  readonly engine: Pick<PaymentEngine, 'checkSoon'>;
  readonly events: Pick<Events, 'gatewayListFailed'>;
  readonly pace: MonitorPace;
  readonly pacer: Pacer;
}

/** Longer than any read; after that another process may lease the window. */
const LEASED_FOR_MS = 60_000;
/** A run starts no more reads after that, so that a shutdown is quick. */
const TURN_MS = 5_000;
/** At four requests a second these take five seconds. */
const CHECKS_PER_TURN = 20;
/** How often we add windows that are missing because no monitor ran when their payments were opened. */
const OPEN_ALL_EVERY_MS = 3_600_000;

/** If the rate limiter gives no slot within this time, the gateway counts as unavailable. */
const SLOT_WITHIN_MS = 10_000;

/** Makes one turn of the monitor, to be run every second or so: it reads all windows that are due. */
export function createPaymentMonitor(deps: PaymentMonitorDeps): () => Promise<void> {
  const { db, clock, pace } = deps;
  let openedAllAtMs = 0;
  let newestMs = 0;
  const open = async (now: Date): Promise<void> => {
    const isTimeForAll = now.getTime() - openedAllAtMs >= OPEN_ALL_EVERY_MS;
    if (!isTimeForAll && windowOf(now).getTime() === newestMs) return;
    const from = isTimeForAll ? await unpaidSince(db, new Date(now.getTime() - MONITORED_FOR_MS), now) : now;
    await openWindows(db, from, now);
    newestMs = windowOf(now).getTime();
    if (isTimeForAll) openedAllAtMs = now.getTime();
  };
  return async () => {
    const began = clock.now();
    await open(began);
    while (clock.now().getTime() - began.getTime() < TURN_MS) {
      const window = await leaseWindow(db, clock.now(), LEASED_FOR_MS);
      if (!window || !(await readOrPostpone(deps, window))) break;
    }
    const now = clock.now();
    const lagMs = (await monitorLagMs(db, new Date(now.getTime() - PAYMENT_LIKELY_FOR_MS), now)) ?? 0;
    if (lagMs > pace.behindMs) await checkOneByOne(deps);
  };
}

/** `false`: the list is unavailable. */
async function readOrPostpone(deps: PaymentMonitorDeps, window: GatewayWindow): Promise<boolean> {
  try {
    await readWindow(deps, window);
    return true;
  } catch (error) {
    await postponeWindow(deps.db, window.startsAt, new Date(deps.clock.now().getTime() + deps.pace.youngMs));
    if (!(error instanceof GatewayUnavailable)) throw error;
    deps.events.gatewayListFailed({ detail: error.message });
    return false;
  }
}

async function readWindow(deps: PaymentMonitorDeps, window: GatewayWindow): Promise<void> {
  const { db, clock, pace } = deps;
  const { startsAt } = window;
  const ageMs = clock.now().getTime() - startsAt.getTime();
  const unpaid = await unpaidIn(db, startsAt);
  // A gateway clock that is behind ours may still open charges in it.
  const mayGainCharges = ageMs < LIST_WINDOW_MS + CLOCK_SKEW_MS;
  if (!mayGainCharges && (!unpaid.any || ageMs > MONITORED_FOR_MS + LIST_WINDOW_MS)) {
    await deleteWindow(db, startsAt);
    return;
  }
  const totalWhenAllBooked = unpaid.any ? await checkUnbooked(deps, window) : null;
  const nextAt = new Date(clock.now().getTime() + nextReadMs(ageMs, unpaid.transfers, pace));
  await saveWindow(db, startsAt, { nextAt, totalWhenAllBooked });
}

/**
 * Requests a check of every charge that is paid and not booked. Returns how many are paid if all of them are
 * booked, else null.
 */
async function checkUnbooked(
  { db, gateway, engine, pacer }: PaymentMonitorDeps,
  { startsAt, totalWhenAllBooked }: GatewayWindow,
): Promise<number | null> {
  const to = new Date(startsAt.getTime() + LIST_WINDOW_MS);
  let total: number | null = null;
  let seen = 0;
  let isSettled = true;
  for (let page = 1; ; page += 1) {
    await takeSlot(pacer);
    const list = await gateway.paidCharges(startsAt, to, page);
    if (page === 1) ({ total } = list);
    const unbooked = await findUnbooked(db, list.references);
    for (const payment of unbooked) await engine.checkSoon(payment);
    isSettled &&= unbooked.length === 0;
    // The same number as when all were booked: no new payment since.
    if (isSettled && page === 1 && total !== null && total === totalWhenAllBooked) return total;
    seen += list.count;
    if (list.isLast) break;
  }
  return isSettled && total === seen ? total : null;
}

async function takeSlot(pacer: Pacer): Promise<void> {
  if (await pacer.takeSlot(SLOT_WITHIN_MS)) return;
  throw new GatewayUnavailable('no slot within the rate limit', { retryable: true });
}

/** A check without an answer is recorded too, so that the next payment gets its turn. */
async function checkOneByOne({ db, gateway, engine, clock, pace, pacer }: PaymentMonitorDeps): Promise<void> {
  const now = clock.now();
  const since = new Date(now.getTime() - MONITORED_FOR_MS);
  const which = { now, since, leastMs: pace.youngMs, limit: CHECKS_PER_TURN };
  for (const payment of await findUncheckedPayments(db, which)) {
    await takeSlot(pacer);
    const found = await gateway.findCharge(payment.reference);
    const state = found.outcome === 'done' ? found.value?.state : undefined;
    if (state === 'paid' || state === 'reversed') await engine.checkSoon(payment);
    else await recordCheck(db, payment.reference);
  }
}
