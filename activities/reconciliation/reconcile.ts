/**
 * The only step of reconciliation. A vendor that refuses all requests is final; everything else is retried.
 */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { Unavailable } from '../../src/domain/outcome.ts';
import { RECONCILE_SCHEDULE, type OpsActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';

export function createReconcileActivities({ reconcile }: ActivityDeps): Pick<OpsActivities, 'reconcile'> {
  return {
    reconcile: async ({ runKey, askedBy, range }) => {
      try {
        return await reconcile({
          runKey,
          askedBy,
          isScheduled: askedBy === RECONCILE_SCHEDULE && !range,
          ...(range ? { range: { from: new Date(range.from), to: new Date(range.to) } } : {}),
          signal: Context.current().cancellationSignal,
        });
      } catch (error) {
        if (error instanceof Unavailable && !error.retryable)
          throw ApplicationFailure.nonRetryable(error.message, error.name);
        throw error;
      }
    },
  };
}
