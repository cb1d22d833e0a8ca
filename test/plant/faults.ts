// Single-line faults in code about money that Stryker does not reach: workflows, activities, stores, vendors. Each must be seen by a test that names
// the behaviour. Keep the list with the code: a fault that no longer fits is an error of `npm run plant`.

export interface Fault {
  /** What the fault does, in words. */
  readonly name: string;
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The files of tests that could see it. */
  readonly tests: readonly string[];
  /** For a fault that no test can tell from the right code. */
  readonly whyItMaySurvive?: string;
}

const CARRIER = ['test/purchases/carrier.workflow.test.ts'];

export const FAULTS: readonly Fault[] = [
  {
    name: 'a paid purchase asks the gateway again before it is delivered',
    file: 'workflows/purchases/purchase.ts',
    find: "opened.stage === 'awaiting-payment' ?",
    replace: "opened.stage !== 'delivered' ?",
    tests: CARRIER,
  },
  {
    name: 'refunds of a failed purchase are not followed',
    file: 'workflows/purchases/purchase.ts',
    find: "ended.stage === 'failed' || opened.stage === 'delivered'",
    replace: "opened.stage === 'delivered'",
    tests: CARRIER,
  },
  {
    name: 'refunds of a delivered purchase are not followed by a later run',
    file: 'workflows/purchases/purchase.ts',
    find: "ended.stage === 'failed' || opened.stage === 'delivered'",
    replace: "ended.stage === 'failed'",
    tests: CARRIER,
  },
  {
    name: 'a later run tries the inline attempt for a buyer who is gone',
    file: 'workflows/purchases/purchase.ts',
    find: 'let hasBuyer = !isContinued();',
    replace: 'let hasBuyer = true;',
    tests: CARRIER,
  },
  {
    name: 'a lost step waits as long as before',
    file: 'workflows/carrier.ts',
    find: 'const LOST_MAX_MS = 60_000;',
    replace: 'const LOST_MAX_MS = 60_000_000;\nconst LOST_NEVER = LOST_MAX_MS;',
    tests: CARRIER,
    whyItMaySurvive:
      'the pause grows with the time that the step has been lost, so it shows only after a minute',
  },
  {
    name: 'a check without an answer ends the wait for money',
    file: 'workflows/payments/collect.ts',
    find: "state === 'paid' || state === 'ended'",
    replace: "state !== 'waiting'",
    tests: CARRIER,
  },
  {
    name: 'a paid check does not end the wait for money',
    file: 'workflows/payments/collect.ts',
    find: "state === 'paid' || state === 'ended'",
    replace: "state === 'ended'",
    tests: CARRIER,
  },
  {
    name: 'the supplier’s announcement is not heard',
    file: 'workflows/requests.ts',
    find: 'let wakes = isAnnounced;',
    replace: 'let wakes = false;',
    tests: CARRIER,
  },
  {
    name: 'a message without an action on record asks the supplier again',
    file: 'workflows/requests.ts',
    find: 'let isServed = false;',
    replace: 'let isServed = true;',
    tests: CARRIER,
  },
  {
    name: 'an action whose step is lost is forgotten',
    file: 'workflows/requests.ts',
    find: 'hasActions ||= isActionLost;',
    replace: '',
    tests: CARRIER,
  },
  {
    name: 'a caller gets the answer of a check that began before it asked',
    file: 'workflows/requests.ts',
    find: 'checksServed = upTo;',
    replace: 'checksServed = checksAsked;',
    tests: CARRIER,
  },
];
