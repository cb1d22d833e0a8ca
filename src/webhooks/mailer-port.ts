/** E-mail to the owners of accounts. */
export interface Mail {
  /** Of what it tells, the same whenever it is sent again: receivers know a repeat by it. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * `done`: the mail server has taken it. `refused`: it says that it never will. `unknown`: it may have taken it or not. `detail` names no
 * address.
 */
export type MailOutcome =
  { readonly outcome: 'done' } | { readonly outcome: 'refused' | 'unknown'; readonly detail: string };

export interface Mailer {
  /** Never throws, and ends in seconds. */
  send(mail: Mail): Promise<MailOutcome>;
}
