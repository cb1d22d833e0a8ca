/** What carries messages to their endpoints: one workflow a message, under the message's own id. */

export interface WebhookEngine {
  /**
   * Begins the delivery of each message, or wakes the one that waits for its next attempt. Never rejects: what cannot be handed over now
   * is due in its row, and the sweep hands it over later.
   */
  deliver(messageIds: readonly string[]): Promise<void>;
}

/** The same for the sweep itself. */
export interface WebhookSweeper {
  /** Answers those that could not be handed over. Never rejects. */
  handOver(messageIds: readonly string[]): Promise<readonly string[]>;
}
