/**
 * The delivery attempt inside a purchase's workflow task. Task slots are few and shared by all purchases, so after a slow answer the supplier is only
 * asked over its own queue for a while.
 */
import type { DeliverOutcome } from '../../workflows/contract.ts';
import { DEFAULT_GRACE_MS, deliver } from './deliver.ts';
import type { ActivityDeps } from '../deps.ts';

/** A fast supplier answers the order and the profile query well within this. */
const SLOW_MS = 800;
const REST_MS = 10_000;

const NOT_ASKED: DeliverOutcome = { outcome: 'unknown', reason: 'SUPPLIER_OUTCOME_UNKNOWN' };

/** Answers `unknown` without asking while the supplier is known to be slow. */
export function createInlineAttempt(
  deps: ActivityDeps,
): (transactionId: string, graceMs?: number) => Promise<DeliverOutcome> {
  let restsUntilMs = 0;
  return async (transactionId, graceMs = DEFAULT_GRACE_MS) => {
    const startedAtMs = deps.clock.now().getTime();
    if (startedAtMs < restsUntilMs) return NOT_ASKED;
    try {
      return await deliver(deps, { transactionId, budgetMs: 0, lookFirstMs: 0, lookMaxMs: 0, graceMs });
    } finally {
      const endedAtMs = deps.clock.now().getTime();
      if (endedAtMs - startedAtMs > SLOW_MS) restsUntilMs = endedAtMs + REST_MS;
    }
  };
}
