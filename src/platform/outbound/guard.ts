/**
 * The address guard at the moment a URL is written down: webhook endpoints and the websites of companies. Guarantee: never throws and
 * fails closed; judges with the very code that connections are made with.
 */
import type { Clock } from '../../domain/clock.ts';
import type { UrlGuard, UrlVerdict } from './url-guard.ts';
import { locate } from './locate.ts';
import type { Network } from './network.ts';
import { guardedRequest } from './request.ts';
import { compilePolicy, refuse, type UrlPolicy } from './target.ts';

/** Somebody waits for the answer. */
const TIME_LIMIT_MS = 5_000;

export interface UrlGuardOptions {
  readonly policy: UrlPolicy;
  readonly network: Network;
  readonly clock: Clock;
  /** For a check, and again for a visit. */
  readonly timeLimitMs?: number;
}

/** Makes the guard. Throws TypeError when the policy names a range that cannot be read. */
export function createUrlGuard(options: UrlGuardOptions): UrlGuard {
  const { policy, network, clock, timeLimitMs = TIME_LIMIT_MS } = options;
  const rules = compilePolicy(policy);

  const check = async (url: string): Promise<UrlVerdict> => {
    const located = await locate(url, rules, network, AbortSignal.timeout(timeLimitMs));
    return located.ok ? { ok: true } : located;
  };

  return {
    check,
    reach: async (url) => {
      const verdict = await check(url);
      if (!verdict.ok) return verdict;
      const visit = { url, method: 'GET', headers: { 'User-Agent': 'Simway-Check/1' } } as const;
      const { status, ...heard } = await guardedRequest(visit, { rules, network, clock, timeLimitMs });
      // A page that is too long or too slow is an answer all the same.
      if (status !== undefined) return { ok: true };
      const why = heard.outcome === 'failed' ? heard.detail : '';
      return refuse('no-answer', `must be answered by a web server: ${why}`);
    },
  };
}
