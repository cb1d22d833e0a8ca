/**
 * Scenarios that a developer chooses without the control interface, by `metadata.sandbox_scenario` or by the tag `+sandbox-<scenario>` of
 * the e-mail address. Guarantee: every scenario does the same thing every time. docs/SANDBOX.md describes each row.
 */
import { shareOf, type Payment } from './deeds/charge.ts';
import { invalid } from './errors.ts';
import { metadataObject } from './params.ts';
import type { AgendaKind, RefundOutcome, TransactionRow } from './storage/rows.ts';

/** One thing that happens by itself, so many steps (see `scenarioMs`) after the charge was made, or after its account expired. */
interface Happening {
  kind: AgendaKind;
  steps: number;
  isAfterExpiry?: boolean;
  data?: (row: TransactionRow) => object;
}

export interface Scenario {
  happenings: readonly Happening[];
  /** What becomes of refunds. */
  refundOutcome?: RefundOutcome;
}

const pay = (steps: number, data?: (row: TransactionRow) => Payment): Happening => ({
  kind: 'pay',
  steps,
  ...(data === undefined ? {} : { data }),
});
const decline = (reason: string): Happening => ({ kind: 'decline', steps: 1, data: () => ({ reason }) });
/** A buyer's fee of 5 %. */
const feeOnTop = (row: TransactionRow) => ({ feesMinor: Math.ceil(row.requested / 20) });
const otherCurrency = (row: TransactionRow) => ({ currency: row.currency === 'USD' ? 'NGN' : 'USD' });

export const SCENARIOS = {
  'pay-now': { happenings: [pay(1)] },
  decline: { happenings: [decline('Declined')] },
  'insufficient-funds': { happenings: [decline('Insufficient Funds')] },
  short: { happenings: [pay(1, shareOf(80))] },
  over: { happenings: [pay(1, shareOf(120))] },
  'fees-on-top': { happenings: [pay(1, feeOnTop)] },
  'other-currency': { happenings: [pay(1, otherCurrency)] },
  returned: { happenings: [pay(1, (row) => ({ ...shareOf(80)(row), shortTransfer: 'return' }))] },
  late: { happenings: [{ ...pay(20), isAfterExpiry: true }] },
  twice: { happenings: [pay(1), pay(2)] },
  silent: { happenings: [pay(1)] },
  reversed: { happenings: [pay(1), { kind: 'reverse', steps: 3 }] },
  disputed: { happenings: [pay(1), { kind: 'dispute', steps: 3 }] },
  'refund-fails': { happenings: [pay(1)], refundOutcome: 'failed' },
  'refund-needs-attention': { happenings: [pay(1)], refundOutcome: 'needs-attention' },
  never: { happenings: [] },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;

/** How many steps the transfer account of the scenario `late` lives, in place of the time asked for. */
export const LATE_EXPIRY_STEPS = 10;
/** After this a hosted page counts as too late: 24 hours, and five minutes. */
const HOSTED_LATE_MS = 86_700_000;

/** The scenario that a request chooses; undefined for none. An unknown name is refused, so that a slip does not pass for a plain charge. */
export function scenarioOf(metadata: unknown, email: string): ScenarioName | undefined {
  const named = metadataObject(metadata)['sandbox_scenario'] ?? /\+sandbox-([a-z-]+)@/.exec(email)?.[1];
  if (named === undefined || named === '') return undefined;
  if (typeof named !== 'string' || !Object.hasOwn(SCENARIOS, named)) {
    throw invalid(`sandbox_scenario must be one of ${Object.keys(SCENARIOS).join(', ')}`);
  }
  return named as ScenarioName;
}

/** What will happen to this new charge by itself. */
export function happeningsOf(
  row: TransactionRow,
  scenarioMs: number,
): { kind: AgendaKind; atMs: number; data: object }[] {
  if (row.scenario === null) return [];
  const { happenings }: Scenario = SCENARIOS[row.scenario as ScenarioName];
  const lateFromMs = row.expiresAtMs ?? row.createdAtMs + HOSTED_LATE_MS;
  return happenings.map(({ kind, steps, isAfterExpiry, data }) => ({
    kind,
    atMs: (isAfterExpiry === true ? lateFromMs : row.createdAtMs) + steps * scenarioMs,
    data: data?.(row) ?? {},
  }));
}
