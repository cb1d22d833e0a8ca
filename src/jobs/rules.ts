/** Jobs of many rows: batches of purchases, and one action on many stuck items. */

export const JOB_KINDS = ['order', 'repair'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** Some minutes of work: of what the supplier lets us order, and of what a second person can review. */
export const MAX_JOB_ROWS = 500;

/** An order waits for its start or for nothing, a repair for approval. A cancelled order is stopped. */
export const JOB_STATUSES = [
  'SCHEDULED',
  'WAITS_FOR_APPROVAL',
  'RUNNING',
  'COMPLETED',
  'STOPPED',
  'DECLINED',
  'EXPIRED',
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** UNKNOWN: no outcome after all attempts; the action may still be carried out. SKIPPED: never begun. */
export const JOB_ROW_STATUSES = ['WAITING', 'DONE', 'REFUSED', 'UNKNOWN', 'SKIPPED'] as const;
export type JobRowStatus = (typeof JOB_ROW_STATUSES)[number];

export type JobCounts = Readonly<Record<Lowercase<JobRowStatus>, number>>;
