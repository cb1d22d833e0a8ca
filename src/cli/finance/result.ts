/** What a command answers of each of its targets. */
export interface Result {
  readonly transactionId: string;
  readonly outcome: 'done' | 'refused' | 'unknown' | 'waits-for-approval' | 'would-do' | 'nothing-to-do';
  readonly detail: string;
}
