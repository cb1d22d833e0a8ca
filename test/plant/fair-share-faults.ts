// Faults in the shares of merchants: of an API process, of the supplier's allowance, of Temporal.
import { type Fault, faultsIn } from './fault.ts';

const SHARES = 'test/purchases/fair-shares.e2e.test.ts';
const TURNS = 'test/platform/turns.unit.test.ts';

export const FAIR_SHARE_FAULTS: readonly Fault[] = [
  ...faultsIn('src/platform/turns.ts', TURNS, {
    'an account has as many turns as it asks for': ['if (line.taken >= turnsOf(key)) return;\n', '\n'],
    'an account has as many turns beside others as alone': ['Math.ceil(atOnce / 2)', 'atOnce'],
    'turns stay halved when the others are gone': [
      'performance.now() - others.atMs < OTHERS_WITHIN_MS',
      'others.atMs > -Infinity',
    ],
    'others are forgotten at once': ['OTHERS_WITHIN_MS = 2_000', 'OTHERS_WITHIN_MS = 1'],
    'half the turns are rounded down': ['Math.ceil(atOnce / 2)', 'Math.max(1, Math.floor(atOnce / 2))'],
    'a full line turns away although there is a turn': [
      '      grantWaiting(key, line);\n      if (line.waiting',
      '      if (line.waiting',
    ],
    'slow work of an account begins at half the rate beside others': [
      '(passedOnAfterMs * turnsOf(key)) / atOnce',
      'passedOnAfterMs',
    ],
    'an account alone has half of the turns': ['latest.key === key ? latestOfAnother : latest', 'latest'],
    'a turn is passed on twice': ['if (!isOver) passOn(key, line);', 'passOn(key, line);'],
    'long work keeps its turn': [
      'setTimeout(end, (passedOnAfterMs',
      'setTimeout(() => undefined, (passedOnAfterMs',
    ],
    'a line has no end': ['line.waiting.size >= maxWaiting ||', ''],
    'who gave up is granted a turn': ['        line.waiting.delete(grant);\n', ''],
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
      "work === 'effects' ? effectsOf(accountId) : questionsOf(accountId)",
      'orders',
    ],
  }),
  ...faultsIn('src/vendors/esim-access/supplier.ts', 'test/vendors/esim-access-transport.contract.test.ts', {
    'a return takes the whole allowance': [
      "'/esim/cancel', { esimTranNo }, { fence, accountId }",
      "'/esim/cancel', { esimTranNo }, { fence }",
    ],
  }),
  ...faultsIn('src/vendors/esim-access/orders.ts', 'test/vendors/esim-access-transport.contract.test.ts', {
    'a search takes the whole allowance': [
      'query, { isIdempotent: true, accountId }',
      'query, { isIdempotent: true }',
    ],
  }),
  ...faultsIn('src/vendors/esim-access/orders.ts', 'test/vendors/esim-access-answers.contract.test.ts', {
    'a long list is halved again and again': ['Math.min(0.5, WANTED_PER_WINDOW / total)', '0.5'],
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
  ...faultsIn(
    'activities/operations/perform-action.ts',
    'test/operations/operator-actions.workflow.test.ts',
    {
      'a repair waits behind its merchant’s orders': [
        'supplier: given.checksSupplier',
        'supplier: given.supplier',
      ],
    },
  ),
  ...faultsIn('activities/purchases/follow-return.ts', 'test/purchases/return-steps.store.test.ts', {
    'a cancellation that was not sent counts': [
      "cancelled.outcome === 'unknown' && cancelled.notSent",
      'false',
    ],
  }),
  ...faultsIn('src/purchases/store/returns.ts', 'test/purchases/return-steps.store.test.ts', {
    'another step’s cancellation is forgotten': [
      "    .where('cancel_attempts', '=', cancel_attempts + 1)\n",
      '',
    ],
  }),
  ...faultsIn('src/purchases/order-judgement.ts', 'test/purchases/order-judgement.unit.test.ts', {
    'money goes back where the supplier was not asked': [
      'if (notSent) return',
      'if (notSent && !supplierConfirmedUndelivered) return',
    ],
    'money goes back after half a search': [
      'if (isPartial) return',
      'if (isPartial && !supplierConfirmedUndelivered) return',
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
