/** Batch repairs: one action on many stuck items, approved by a second person. */
import type { JobWork } from '../../src/jobs/run.ts';
import type { Job } from '../../src/jobs/store/jobs.ts';
import { nextRepairCheckMs } from '../../src/operations/batch-repair-rules.ts';
import { repairRow } from '../../src/operations/batch-repairs.ts';
import type { ActivityDeps } from '../deps.ts';

/** Equals the number of rows tried at once. A stop does not hold back rows that were read. */
const ROWS_READ_AT_ONCE = 4;

export const repairWork = ({ db, clock, repairs }: ActivityDeps, repair: Job): JobWork => ({
  readAtOnce: ROWS_READ_AT_ONCE,
  tryRow: async (row) => {
    await repairRow({ db, clock, ...repairs }, repair, row);
    return true;
  },
  waitMs: (_job, now, nextRowAt) => nextRepairCheckMs(nextRowAt && nextRowAt.getTime() - now.getTime()),
});
