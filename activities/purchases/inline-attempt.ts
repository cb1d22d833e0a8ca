/**
 * The quick ask inside a purchase's own task. It holds one of the few places that all purchases share, so a supplier that was slow is
 * not asked this way for a while: those purchases go over its own queue, which keeps nobody else waiting.
 */
import type { DeliverOutcome } from '../../workflows/contract.ts';
import { DEFAULT_GRACE_MS, deliver } from './deliver.ts';
import type { ActivityDeps } from '../deps.ts';

/** A supplier fit for quick asks answers order and look well within this. */
const SLOW_MS = 800;
const REST_MS = 10_000;

const NOT_ASKED: DeliverOutcome = { outcome: 'unknown', reason: 'SUPPLIER_OUTCOME_UNKNOWN' };

/** Answers `unknown` at once, nothing asked, while the supplier is known to be slow. */
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
