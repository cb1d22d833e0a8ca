/** `replay`: does at once what fits how something stands, one or all that a filter finds, and prints what it did. */
import { z } from 'zod';
import { replay, type Replayed } from '../../operations/replay.ts';
import { defineCommand, UsageMistake } from './command.ts';
import { WHO } from './fields.ts';
import type { Result } from './result.ts';
import { doToAll, FILTER, FILTER_USAGE } from './targets.ts';

export const replayCommand = defineCommand({
  name: 'replay',
  usage: `<id> | ${FILTER_USAGE}  --by <person> --reason <text> [--dry-run] [--yes]`,
  help: `does at once what fits now: applies events, sends messages again, looks at the gateway, then at the supplier, then
retries the delivery, and prints what it did. One id is previewed and asked about first. --dry-run previews, and needs nobody`,
  words: [0, 1],
  flags: z.object({ ...FILTER, by: WHO.by.optional(), reason: WHO.reason.optional() }),
  switches: ['dry-run', 'yes'],
  needsTemporal: true,
  run: ({ words, flags, switches, world, out }) => {
    const { by, reason, ...filter } = flags;
    const isDryRun = switches['dry-run'];
    if (!isDryRun && (by === undefined || reason === undefined))
      throw new UsageMistake('--by and --reason are needed');
    const who = { by: by ?? '', reason: reason ?? '', isDryRun };
    return doToAll({
      world,
      out,
      words,
      flags: filter,
      isYes: switches.yes,
      isPreview: isDryRun,
      verb: 'Replay',
      ...(isDryRun
        ? {}
        : {
            foresee: async (id: string) => {
              const seen = toResult(id, await replay(world.replayDeps, id, { ...who, isDryRun: true }));
              return { ...seen, lines: [`Follows:  ${seen.steps.map(({ step }) => step).join(', ')}`] };
            },
          }),
      act: async (id) => toResult(id, await replay(world.replayDeps, id, who)),
    });
  },
});

type ReplayResult = Result & Pick<Replayed, 'before' | 'after' | 'steps'>;

function toResult(id: string, replayed: Replayed | undefined): ReplayResult {
  if (!replayed)
    return {
      transactionId: id,
      outcome: 'refused',
      detail: 'nothing of ours goes by it',
      before: null,
      after: null,
      steps: [],
    };
  const { before, after, steps } = replayed;
  const changed = before === null || before === after ? [] : [`${before} → ${after ?? ''}`];
  return {
    ...replayed,
    outcome: worstOf(steps),
    detail: [
      ...steps.map(
        ({ step, outcome, detail }) => `${step}: ${outcome}${detail === '' ? '' : ` (${detail})`}`,
      ),
      ...changed,
    ].join('; '),
  };
}

const BY_WEIGHT = ['refused', 'unknown', 'waits-for-approval', 'would-do', 'done'] as const;

function worstOf(steps: Replayed['steps']): Result['outcome'] {
  return BY_WEIGHT.find((outcome) => steps.some((step) => step.outcome === outcome)) ?? 'nothing-to-do';
}
