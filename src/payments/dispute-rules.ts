/** How disputes stand and end. Pure: the step that settles one and reconciliation ask the same rules. */

/** At the gateway. `unknown`: resolved with a word never seen before. */
export type DisputeState = 'open' | 'won' | 'lost' | 'unknown';

export const DISPUTE_OUTCOMES = ['won', 'lost'] as const;
export type DisputeOutcome = (typeof DISPUTE_OUTCOMES)[number];

/** Why an outcome cannot be stated; undefined when it can. `state`: the gateway's last word; null: it has said nothing. */
export function whyNotOutcome(
  outcome: DisputeOutcome,
  state: DisputeState | null,
  overrides: boolean,
): 'DISPUTE_OPEN' | 'OUTCOME_DIFFERS' | 'GATEWAY_SILENT' | undefined {
  if (overrides || state === outcome) return undefined;
  if (state === 'open') return 'DISPUTE_OPEN';
  return state === 'won' || state === 'lost' ? 'OUTCOME_DIFFERS' : 'GATEWAY_SILENT';
}
