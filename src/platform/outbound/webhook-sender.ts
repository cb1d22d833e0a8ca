import { Webhook } from 'standardwebhooks';
import { guardedRequest, type Outbound, type OutboundOptions, type RequestOutcome } from './request.ts';
import { compilePolicy } from './target.ts';

export interface SignedMessage {
  /** The same for every attempt, so that receivers can detect repeats. */
  readonly messageId: string;
  /** JSON, signed and sent byte for byte. */
  readonly body: string;
  /** `whsec_…`; while a secret is being replaced several, and each signs. Never logged. */
  readonly secrets: readonly string[];
}

export interface WebhookSender {
  /** Makes one attempt. Rejects only for an invalid secret; anything the receiver does is an outcome. */
  send(request: SignedMessage & { readonly url: string }): Promise<RequestOutcome>;
}

export function createWebhookSender({ policy, ...options }: OutboundOptions): WebhookSender {
  const outbound: Outbound = { rules: compilePolicy(policy), ...options };
  return {
    send: async ({ url, ...message }) => {
      const headers = {
        'Content-Type': 'application/json',
        'User-Agent': 'Simway-Webhooks/1',
        ...webhookHeaders(message, outbound.clock.now()),
      };
      return guardedRequest({ url, method: 'POST', headers, body: message.body }, outbound);
    },
  };
}

/**
 * The headers of Standard Webhooks. The timestamp is that of the attempt, since receivers refuse old ones.
 * Throws for an invalid secret.
 */
export function webhookHeaders(
  { messageId, body, secrets }: SignedMessage,
  at: Date,
): Record<string, string> {
  if (secrets.length === 0) throw new TypeError('a webhook needs a secret to be signed with');
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(messageId, at, body)).join(' '),
  };
}
