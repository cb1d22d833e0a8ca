import { Webhook } from 'standardwebhooks';
import type { Webhooks } from './generated/types.gen.ts';

export { WebhookVerificationError } from 'standardwebhooks';

/** What Simway sends to an endpoint. `event` says which: narrow by it. */
export type WebhookEvent = Webhooks['body'];

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The event of a genuine message, with its `id` (the header `webhook-id`), which is the same each time the
 * message comes. Throws WebhookVerificationError for a forged one, or one that is more than 5 minutes old.
 * `body` is what arrived, before anything parsed it. `secrets` are `whsec_…`: while you change to a new
 * secret, both.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | HeaderRecord,
  secrets: string | readonly string[],
): WebhookEvent & { readonly id: string } {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const given = Object.fromEntries(
    Array.from(headers instanceof Headers ? headers : Object.entries(headers), ([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );
  const [secret = '', ...others] = [secrets].flat();
  try {
    return { ...(new Webhook(secret).verify(text, given) as WebhookEvent), id: given['webhook-id'] ?? '' };
  } catch (error) {
    if (others.length === 0) throw error;
    return verifyWebhook(text, given, others);
  }
}
