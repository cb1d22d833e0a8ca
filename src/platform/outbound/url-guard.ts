import { locate } from './network.ts';
import { guardedRequest, type OutboundOptions } from './request.ts';
import { compilePolicy, refuse, type Refused } from './target.ts';

/** A caller waits for the answer. */
const TIME_LIMIT_MS = 5_000;

export type UrlVerdict = { readonly ok: true } | Refused;

/**
 * Checks URLs that others give us (webhook endpoints, websites of companies) by the same code that later
 * connects. Never throws.
 */
export interface UrlGuard {
  /**
   * Whether the URL may be stored: its form, and every address of its name now. Connections check again,
   * since a name's addresses can change.
   */
  check(url: string): Promise<UrlVerdict>;
  /** The same, and whether a web server answers there with any status; redirects are answers. */
  reach(url: string): Promise<UrlVerdict>;
}

/** The time limit is for the check, and again for the request of `reach`. */
export function createUrlGuard(options: OutboundOptions): UrlGuard {
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
      const request = { url, method: 'GET', headers: { 'User-Agent': 'Simway-Check/1' } } as const;
      const answer = await guardedRequest(request, { rules, network, clock, timeLimitMs });
      // A page that is too long or too slow is an answer too.
      if (answer.outcome === 'answered' || answer.status !== undefined) return { ok: true };
      return refuse('no-answer', `must have a web server that answers: ${answer.detail}`);
    },
  };
}
