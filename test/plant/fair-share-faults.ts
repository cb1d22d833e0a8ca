// Faults in the shares of merchants: of an API process, of the supplier's allowance, of Temporal.
import { type Fault, faultsIn } from './fault.ts';

const SHARES = 'test/purchases/fair-shares.e2e.test.ts';
const TURNS = 'test/platform/turns.unit.test.ts';

export const FAIR_SHARE_FAULTS: readonly Fault[] = [
  ...faultsIn('src/platform/turns.ts', TURNS, {
    'an account has as many turns as it asks for': ['line.taken < atOnce', 'line.taken < Infinity'],
    'a turn is passed on twice': ['if (!isOver) passOn(key, line);', 'passOn(key, line);'],
    'long work keeps its turn': [
      'setTimeout(end, passedOnAfterMs)',
      'setTimeout(() => undefined, passedOnAfterMs)',
    ],
    'a line has no end': ['line.waiting.size >= maxWaiting ||', ''],
    'who gave up is granted a turn': ['        waiting.delete(begin);\n', ''],
  }),
  ...faultsIn('src/purchases/buy.ts', SHARES, {
    'purchases wait for no turn': [
      'await deps.turns.take(principal.account.id)',
      '(() => undefined) as () => void',
    ],
    'a purchase without a turn begins': ['if (!endTurn) throw', 'if (!endTurn && !deps) throw'],
  }),
  ...faultsIn('src/app/composition/vendors.ts', SHARES, {
    "one account's orders take the whole allowance": [
      "work === 'orders' ? ordersOf(accountId) : profilesOf(accountId)",
      'orders',
    ],
  }),
  ...faultsIn('src/platform/redis/pacer.ts', 'test/platform/pacing.unit.test.ts', {
    'a steady pace has no pauses': [
      'Math.max(nowMs, state.freeMs) + pauseMs',
      'Math.max(nowMs, state.freeMs)',
    ],
  }),
  ...faultsIn('src/platform/redis/pacer.ts', 'test/platform/redis-shared.contract.test.ts', {
    'a steady pace has no pauses in Redis': [
      'free = math.max(now, free) + window / calls',
      'free = math.max(now, free) + 1',
    ],
  }),
  ...faultsIn('src/app/composition/worker.ts', 'test/purchases/scheduled-batches.e2e.test.ts', {
    'a batch goes before buyers who wait': [', timings, BEHIND_OTHERS)', ', timings)'],
  }),
  ...faultsIn('src/platform/temporal/connect.ts', 'test/system/temporal-client.test.ts', {
    'a stop does not wait for retries that are due': [
      'if (putOff === 0) ended.resolve(undefined);',
      'ended.resolve(undefined);',
    ],
  }),
];
