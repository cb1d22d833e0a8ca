/**
 * The headers of the open standard (Standard Webhooks), signed by its own package. A signature is over id, timestamp and body, so none of
 * them can be changed or used again later. Pure. Must not keep or log secrets.
 */
import { Webhook } from 'standardwebhooks';

export interface Signable {
  readonly messageId: string;
  readonly body: string;
  /** `whsec_…`; each signs, so that a receiver that knows any of them is content. */
  readonly secrets: readonly string[];
}

/** The three headers of one attempt; the timestamp is the attempt's, since receivers refuse old ones. Throws when a secret is none. */
export function webhookHeaders({ messageId, body, secrets }: Signable, at: Date): Record<string, string> {
  if (secrets.length === 0) throw new TypeError('a webhook needs a secret to be signed with');
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(messageId, at, body)).join(' '),
  };
}
