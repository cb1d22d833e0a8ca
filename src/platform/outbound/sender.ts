/**
 * Webhooks to merchants: signed at the moment of sending, and sent through the address guard. Guarantee: one attempt, nothing kept; an
 * endpoint that is slow, hostile or gone is an outcome within the time limit. Must not log secrets or bodies.
 */
import type { Clock } from '../../domain/clock.ts';
import type { WebhookSender } from './webhook-sender.ts';
import type { Network } from './network.ts';
import { guardedRequest, type Outbound } from './request.ts';
import { webhookHeaders } from './sign.ts';
import { compilePolicy, type UrlPolicy } from './target.ts';

export interface WebhookSenderOptions {
  readonly policy: UrlPolicy;
  readonly network: Network;
  readonly clock: Clock;
  /** For a whole attempt, names included. */
  readonly timeLimitMs?: number;
}

/** Makes the sender; one per world. Throws TypeError when the policy names a range that cannot be read. */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { policy, ...rest } = options;
  const outbound: Outbound = { rules: compilePolicy(policy), ...rest };
  return {
    send: async ({ url, body, ...message }) => {
      const headers = {
        'Content-Type': 'application/json',
        'User-Agent': 'Simway-Webhooks/1',
        ...webhookHeaders({ body, ...message }, outbound.clock.now()),
      };
      return guardedRequest({ url, method: 'POST', headers, body }, outbound);
    },
  };
}
