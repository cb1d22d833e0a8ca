// Faults in the return of unused eSIMs.
import { type Fault, faultsIn } from './fault.ts';

const RETURNS = 'test/purchases/returns.e2e.test.ts';
const STEPS = 'test/purchases/return-steps.store.test.ts';
const RETURN_ENDS = 'test/purchases/returns-ends.e2e.test.ts';

export const RETURN_FAULTS: readonly Fault[] = [
  ...faultsIn('activities/purchases/follow-return.ts', RETURNS, {
    'a return is paid although the supplier refuses to cancel': [
      "if (cancelled.outcome === 'done') return { state: 'cancelled' };",
      "if (cancelled.outcome !== 'unknown') return { state: 'cancelled' };",
    ],
    'an installed eSIM is returned without asking the supplier': [
      "if (first !== 'try' && first !== 'CANCELLED') return settled(open, first);",
      "if (first !== 'try' && first !== 'CANCELLED') return { state: 'cancelled' };",
    ],
  }),
  ...faultsIn('src/purchases/store/returns.ts', STEPS, {
    'a step refuses a return that another step has just sent a cancellation of': [
      'else cancel_attempts = ${knownAttempts} end',
      'else ${knownAttempts} >= 0 end',
    ],
  }),
  ...faultsIn('activities/purchases/follow-return.ts', STEPS, {
    'a step takes its own cancellation for another one': [
      'cancel_attempts: open.cancel_attempts + 1',
      'cancel_attempts: open.cancel_attempts',
    ],
  }),
  ...faultsIn('activities/purchases/follow-return.ts', RETURN_ENDS, {
    'an eSIM is cancelled while a bank disputes its payment': [
      'return open.isContested && !isSent ?',
      'return open.isContested && isSent ?',
    ],
  }),
  ...faultsIn('src/operations/rules.ts', RETURN_ENDS, {
    'a return with a fee of all of it cannot be granted': [
      'given.amount?.amountMinor === 0n ? movesNone() : given',
      'given.amount === null ? movesNone() : given',
    ],
  }),
  ...faultsIn('migrations/world/baseline/returns.ts', RETURNS, {
    'an eSIM is returned after the window': [
      "< clock_timestamp() then 'WINDOW_OVER'",
      "< '-infinity' then 'WINDOW_OVER'",
    ],
  }),
  ...faultsIn('src/purchases/store/return-money.ts', RETURN_ENDS, {
    'a return keeps the cost that the supplier gave back': ['    ...costs,\n', ''],
    'a return gives back what a bank has taken': [
      'payment ? smaller(earnedMinor, inPrice(payment, payment.used_minor)) : earnedMinor',
      'payment ? earnedMinor : earnedMinor',
    ],
  }),
  ...faultsIn('src/purchases/store/returns.ts', RETURN_ENDS, {
    'a return is paid while a bank disputes its payment': ["if (isContested) return 'CONTESTED';", ''],
  }),
];
