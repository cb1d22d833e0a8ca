import { guardedRequest, type Outbound, type OutboundOptions, type RequestOutcome } from './request.ts';
import { compilePolicy } from './target.ts';

/** Posts JSON to an address that a person gave us and that is a secret, like a chat's incoming webhook. */
export interface Poster {
  /** Never rejects. */
  post(url: string, body: unknown): Promise<RequestOutcome>;
}

export function createPoster({ policy, ...options }: OutboundOptions): Poster {
  const outbound: Outbound = { rules: compilePolicy(policy), ...options };
  const headers = { 'Content-Type': 'application/json', 'User-Agent': 'Simway-Alerts/1' };
  return {
    post: (url, body) =>
      guardedRequest({ url, method: 'POST', headers, body: JSON.stringify(body) }, outbound),
  };
}
