/** A message that a workflow is to carry, and how long it waits for its next attempt. */
export interface HandedOver {
  readonly messageId: string;
  readonly accountId: string;
  /** Of the purchase or funding that it is about. */
  readonly transactionId: string | null;
  /** The request that opened that. */
  readonly requestId: string | null;
  readonly waitMs: number;
}

/** Carries messages that could not be delivered at once; one workflow each, with the message's id. */
export interface WebhookEngine {
  /** Starts or wakes each workflow. Returns the ids of those that were taken. Never rejects. */
  handOver(messages: readonly HandedOver[]): Promise<readonly string[]>;
}
