import type { Replayed } from './replay.ts';

/** The first that a step has is the outcome of the whole. */
const WORST_FIRST = ['refused', 'unknown', 'waits-for-approval', 'would-do', 'done'] as const;

/** What a replay came to: its worst step, and every step in words. */
export function outcomeOfReplay({ before, after, steps }: Pick<Replayed, 'before' | 'after' | 'steps'>) {
  const changed = before === null || before === after ? [] : [`${before} → ${after ?? ''}`];
  const said = steps.map(
    ({ step, outcome, detail }) => `${step}: ${outcome}${detail === '' ? '' : ` (${detail})`}`,
  );
  return {
    outcome:
      WORST_FIRST.find((one) => steps.some((step) => step.outcome === one)) ?? ('nothing-to-do' as const),
    detail: [...said, ...changed].join('; '),
  };
}
