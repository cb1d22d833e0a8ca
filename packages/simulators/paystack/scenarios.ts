/** Chosen by `metadata.sandbox_scenario` or the e-mail tag `+sandbox-<scenario>`. See docs/SANDBOX.md. */
import { shareOf, type Payment } from './actions/charge.ts';
import { invalid, metadataObject } from './errors.ts';
import type { PlannedKind, TransactionRow } from './storage.ts';

/** `steps` of `scenarioMs` after the charge was made, or after its account expired. */
interface Step {
  kind: PlannedKind;
  steps: number;
  isAfterExpiry?: boolean;
  data?: (row: TransactionRow) => object;
}

export interface Scenario {
  plan: readonly Step[];
  /** How refunds end. */
  refundOutcome?: TransactionRow['refundOutcome'];
}

const pay = (steps: number, data?: (row: TransactionRow) => Payment): Step => ({
  kind: 'pay',
  steps,
  ...(data === undefined ? {} : { data }),
});
const decline = (reason: string): Step => ({ kind: 'decline', steps: 1, data: () => ({ reason }) });
/** A buyer's fee of 5 %. */
const feeOnTop = (row: TransactionRow) => ({ feesMinor: Math.ceil(row.requested / 20) });
const otherCurrency = (row: TransactionRow) => ({ currency: row.currency === 'USD' ? 'NGN' : 'USD' });

export const SCENARIOS = {
  'pay-now': { plan: [pay(1)] },
  decline: { plan: [decline('Declined')] },
  'insufficient-funds': { plan: [decline('Insufficient Funds')] },
  short: { plan: [pay(1, shareOf(80))] },
  over: { plan: [pay(1, shareOf(120))] },
  'fees-on-top': { plan: [pay(1, feeOnTop)] },
  'other-currency': { plan: [pay(1, otherCurrency)] },
  returned: { plan: [pay(1, (row) => ({ ...shareOf(80)(row), shortTransfer: 'return' }))] },
  late: { plan: [{ ...pay(20), isAfterExpiry: true }] },
  twice: { plan: [pay(1), pay(2)] },
  silent: { plan: [pay(1)] },
  reversed: { plan: [pay(1), { kind: 'reverse', steps: 11 }] },
  disputed: { plan: [pay(1), { kind: 'dispute', steps: 11 }] },
  'refund-fails': { plan: [pay(1)], refundOutcome: 'failed' },
  'refund-needs-attention': { plan: [pay(1)], refundOutcome: 'needs-attention' },
  never: { plan: [] },
} as const satisfies Record<string, Scenario>;

type ScenarioName = keyof typeof SCENARIOS;

/** How many steps the transfer account of the scenario `late` lives, in place of the time asked for. */
export const LATE_EXPIRY_STEPS = 10;
/** After this a hosted page counts as too late: 24 hours, and five minutes. */
const HOSTED_LATE_MS = 86_700_000;

/** An unknown name is refused, so that a typing error does not make a plain charge. */
export function scenarioOf(metadata: unknown, email: string): ScenarioName | undefined {
  const named = metadataObject(metadata)['sandbox_scenario'] ?? /\+sandbox-([a-z-]+)@/.exec(email)?.[1];
  if (named === undefined || named === '') return undefined;
  if (typeof named !== 'string' || !Object.hasOwn(SCENARIOS, named)) {
    throw invalid(`sandbox_scenario must be one of ${Object.keys(SCENARIOS).join(', ')}`);
  }
  return named as ScenarioName;
}

export function plannedFor(row: TransactionRow, scenarioMs: number) {
  if (row.scenario === null) return [];
  const { plan }: Scenario = SCENARIOS[row.scenario as ScenarioName];
  const lateFromMs = row.expiresAtMs ?? row.createdAtMs + HOSTED_LATE_MS;
  return plan.map(({ kind, steps, isAfterExpiry, data }) => ({
    kind,
    atMs: (isAfterExpiry === true ? lateFromMs : row.createdAtMs) + steps * scenarioMs,
    data: data?.(row) ?? {},
  }));
}
