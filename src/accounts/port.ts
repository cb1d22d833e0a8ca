export interface Mail {
  /** The same for every repeat, so that receivers can detect it. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Of a mail to a stranger: ends such mail to them, by GET for people and by POST for programs. */
  readonly stopUrl?: string | undefined;
}

/** `done`: the mail server accepted it. `refused`: it never will. `unknown`: it may have. No addresses. */
export type MailOutcome =
  { readonly outcome: 'done' } | { readonly outcome: 'refused' | 'unknown'; readonly detail: string };

export interface Mailer {
  /** Never throws; ends within seconds. */
  send(mail: Mail): Promise<MailOutcome>;
}

/** What every mail of ours needs. */
export interface MailWords {
  readonly publicUrl: string;
  /** What we call ourselves. */
  readonly us: string;
}
