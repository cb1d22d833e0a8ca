// Faults in batches that are ordered for later: who may have them bought, and for how much.
import { type Fault, faultsIn } from './fault.ts';

const SCHEDULED = 'test/purchases/scheduled-batches.e2e.test.ts';

export const BATCH_FAULTS: readonly Fault[] = [
  ...faultsIn('src/purchases/batches/scheduled.ts', SCHEDULED, {
    'a revoked key has its batch bought': [
      "if (!principal?.scopes.includes('purchase')) return 'CALLER_NOT_ALLOWED';",
      "if (!principal) return 'later';",
    ],
    'a batch costs more than its limit': [
      'total.amountMinor > batch.max_total_minor',
      'total.amountMinor < 0n',
    ],
    'a batch begins that the wallet cannot pay': [
      'await requirePayable(deps, principal, priced, total);',
      '',
    ],
  }),
  ...faultsIn('src/purchases/store/batches.ts', SCHEDULED, {
    'a cancelled batch is told about to nobody': [
      'if (closed) await enqueueCompleted(trx, closed, now);',
      '',
    ],
  }),
  ...faultsIn('src/accounts/callers.ts', SCHEDULED, {
    'a revoked key counts as working': [
      'isValid(key, now.getTime()) ? callerOf(key) : undefined',
      'callerOf(key)',
    ],
  }),
];
