/** Delivers messages; one workflow per message, with the message's id. */
export interface WebhookEngine {
  /**
   * Starts the delivery of each message, or wakes its workflow. Never rejects: what cannot be handed over now
   * stays due in its row, and the sweep hands it over later.
   */
  deliver(messageIds: readonly string[]): Promise<void>;
}

export interface WebhookSweeper {
  /** Returns the messages that could not be handed over. Never rejects. */
  handOver(messageIds: readonly string[]): Promise<readonly string[]>;
}
