/** What carries one attempt at one message to a merchant's endpoint. When to try again is for the caller to decide. */

export interface WebhookRequest {
  readonly url: string;
  /** The same on every attempt, so that receivers can tell a repeat. */
  readonly messageId: string;
  /** JSON, signed and sent as it stands. */
  readonly body: string;
  /** `whsec_…`; more than one while a secret is being replaced, and then each signs. Never logged. */
  readonly secrets: readonly string[];
}

/**
 * Why there is no whole answer. `refused-url`: the guard would not let us connect, now or at all. `unresolved`: the name leads nowhere.
 * `no-connection`: nobody listens there. `connection-lost`: it broke off. `bad-answer`: what came is no HTTP.
 */
export type SendFailure =
  | 'refused-url'
  | 'unresolved'
  | 'no-connection'
  | 'tls'
  | 'connection-lost'
  | 'time-limit'
  | 'answer-too-long'
  | 'bad-answer';

/** `answered` is no success yet: only a status from 200 to 299 is. */
export type DeliveryOutcome =
  | {
      readonly outcome: 'answered';
      readonly status: number;
      readonly ms: number;
      /** The first kibibyte of the answer, as text that Postgres can keep. */
      readonly bodyStart: string;
      /** How long the receiver asks us to stay away. */
      readonly retryAfterMs?: number;
    }
  | {
      readonly outcome: 'failed';
      readonly reason: SendFailure;
      /** For people, without addresses of ours. */
      readonly detail: string;
      readonly ms: number;
      /** Where the answer began before it was cut off. */
      readonly status?: number;
      readonly bodyStart: string;
    };

export interface WebhookSender {
  /** Sends once. Rejects only where a secret is no secret; whatever the other side does is an outcome. */
  send(request: WebhookRequest): Promise<DeliveryOutcome>;
}
