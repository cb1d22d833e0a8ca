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
 * secret, both. Throws a TypeError for a parsed body, and for a secret that cannot be one: these are
 * mistakes in your program, not forged messages.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | HeaderRecord,
  secrets: string | readonly string[],
): WebhookEvent & { readonly id: string } {
  const [first, ...others] = [secrets]
    .flat()
    .map((secret, at, { length }) => verifierOf(secret, length > 1 ? `secrets[${at}]` : 'secrets'));
  if (!first) throw new TypeError('secrets is empty: pass the secret of the webhook endpoint');
  if (typeof body !== 'string' && !ArrayBuffer.isView(body))
    throw new TypeError('body is not what arrived: pass the raw text, before anything parses it');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const given = Object.fromEntries(
    Array.from(headers instanceof Headers ? headers : Object.entries(headers), ([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );
  const verify = (webhook: Webhook, [next, ...rest]: readonly Webhook[]): WebhookEvent => {
    try {
      return webhook.verify(text, given) as WebhookEvent;
    } catch (error) {
      if (!next) throw error;
      return verify(next, rest);
    }
  };
  return { ...verify(first, others), id: given['webhook-id'] ?? '' };
}

/** Whole groups of four: the library takes a secret that was cut as another one. */
const SECRET = /^(whsec_)?(?=.)([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The messages name the place of a secret, not the secret. */
function verifierOf(secret: string | undefined, place: string): Webhook {
  if (!secret) throw new TypeError(`${place} is not set: pass the secret of the webhook endpoint`);
  if (!SECRET.test(secret))
    throw new TypeError(`${place} has what is no secret of a webhook endpoint: it is whsec_ and then base64`);
  return new Webhook(secret);
}
