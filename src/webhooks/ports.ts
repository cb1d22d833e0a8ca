/** Delivers messages; one workflow per message, with the message's id. */
export interface WebhookEngine {
  /**
   * Starts the delivery of each message, or wakes its workflow. Never rejects: what cannot be handed over now stays due in its row, and the
   * sweep hands it over later.
   */
  deliver(messageIds: readonly string[]): Promise<void>;
}

export interface WebhookSweeper {
  /** Returns the messages that could not be handed over. Never rejects. */
  handOver(messageIds: readonly string[]): Promise<readonly string[]>;
}

export interface Mail {
  /** The same for every repeat, so that receivers can detect it. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * `done`: the mail server accepted it. `refused`: it never will. `unknown`: it may have accepted it. `detail` contains no address.
 */
export type MailOutcome =
  { readonly outcome: 'done' } | { readonly outcome: 'refused' | 'unknown'; readonly detail: string };

export interface Mailer {
  /** Never throws; ends within seconds. */
  send(mail: Mail): Promise<MailOutcome>;
}
