import type { JobKind } from './rules.ts';

export interface JobRef {
  readonly id: string;
  readonly kind: JobKind;
  /** Null for a repair: it may work on purchases of many accounts. */
  readonly accountId: string | null;
}

export interface JobEngine {
  /** Starts the job's workflow where it does not run. Never rejects: the sweep starts what is missing. */
  begin(job: JobRef): Promise<void>;
}
