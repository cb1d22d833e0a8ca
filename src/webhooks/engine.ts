/** Delivers messages; one workflow per message, with the message's id. */
export interface WebhookEngine {
  /** Starts or wakes each delivery. Never rejects: the sweep hands over later what cannot be now. */
  deliver(messageIds: readonly string[]): Promise<void>;
}

export interface WebhookSweeper {
  /** Returns the messages that could not be handed over. Never rejects. */
  handOver(messageIds: readonly string[]): Promise<readonly string[]>;
}
