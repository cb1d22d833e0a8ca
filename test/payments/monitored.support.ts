// The monitor of unpaid payments with a moved clock, at a gateway that is a list in memory.
import { sql } from 'kysely';
import type { PaymentSubject } from '../../src/payments/engine.ts';
import { createPaymentMonitor } from '../../src/payments/payment-monitor.ts';
import { monitorPaceOf } from '../../src/payments/monitor-rules.ts';
import { GatewayUnavailable, type GatewayCharge, type PaidCharges } from '../../src/payments/port.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { silentEvents } from './answering.support.ts';

export const pace = monitorPaceOf({ pollFirstMs: 5_000 });

interface Watched {
  readonly startMs: number;
  /** Of the charges opened in [from, to). */
  readonly paidCharges: (fromMs: number, toMs: number, nowMs: number, page: number) => PaidCharges;
  readonly isPaid: (reference: string, nowMs: number) => boolean;
  /** A check is asked for. */
  readonly onFound: (payment: PaymentSubject, nowMs: number) => Promise<void>;
  readonly onRequest: (what: 'list' | 'check', nowMs: number) => void;
}

export function createMonitored(db: WorldDb, shop: Watched) {
  let nowMs = shop.startMs;
  let isListAway = false;
  const watch = createPaymentMonitor({
    db,
    clock: { now: () => new Date(nowMs) },
    events: silentEvents,
    pace,
    pacer: {
      takeSlot: () => {
        // Four a second.
        nowMs += 250;
        return Promise.resolve(true);
      },
    },
    engine: { checkSoon: (payment) => shop.onFound(payment, nowMs) },
    gateway: {
      paidCharges: (from, to, page) => {
        shop.onRequest('list', nowMs);
        if (isListAway) return Promise.reject(new GatewayUnavailable('away', { retryable: true }));
        return Promise.resolve(shop.paidCharges(from.getTime(), to.getTime(), nowMs, page));
      },
      findCharge: (reference) => {
        shop.onRequest('check', nowMs);
        const value = { state: shop.isPaid(reference, nowMs) ? 'paid' : 'abandoned' } as GatewayCharge;
        return Promise.resolve({ outcome: 'done', value });
      },
    },
  });
  const nextDueMs = async (): Promise<number> => {
    const { rows } = await sql<{ due: Date | null }>`select min(due_at) as due from gateway_windows`.execute(
      db,
    );
    return rows[0]?.due?.getTime() ?? Number.POSITIVE_INFINITY;
  };
  return {
    now: () => nowMs,
    breakList: () => void (isListAway = true),
    watchUntil: async (untilMs: number, beforeTurn: () => Promise<void> = () => Promise.resolve()) => {
      while (nowMs < untilMs) {
        await beforeTurn();
        await watch();
        // Between them only the monitor's turn of each second runs, which finds nothing due.
        nowMs = Math.max(nowMs + 1_000, Math.min(await nextDueMs(), nowMs + 10_000, untilMs));
      }
    },
  };
}
