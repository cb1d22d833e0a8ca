/** `dismiss`: an event of the gateway about no payment of ours leaves the list, once a person knows what it is about. */
import { z } from 'zod';
import { dismiss } from '../../operations/replay.ts';
import { findStuck } from '../../operations/stuck.ts';
import type { FinanceWorld } from '../../platform/composition/finance.ts';
import { defineCommand } from './command.ts';
import type { Preview } from './foresight.ts';
import { WHO } from './fields.ts';
import { doToAll, FILTER, FILTER_USAGE } from './targets.ts';

const NOT_LISTED = 'it is no event about no payment of ours, or was dismissed before';

export const dismissCommand = defineCommand({
  name: 'dismiss',
  usage: `<event-number> | ${FILTER_USAGE}  --by <person> --reason <text> [--dry-run] [--yes]`,
  help: 'an event of the gateway about no payment of ours: a person knows what it is about, and it leaves the list',
  words: [0, 1],
  flags: z.object({ ...FILTER, ...WHO }),
  switches: ['dry-run', 'yes'],
  run: ({ words, flags, switches, world, out }) => {
    const { by, reason, ...filter } = flags;
    return doToAll({
      world,
      out,
      words,
      flags: filter,
      isYes: switches.yes,
      isPreview: false,
      isDryRun: switches['dry-run'],
      verb: 'Dismiss',
      ...(switches['dry-run'] ? { foresee: (id: string) => foresee(world, id) } : {}),
      act: async (id) =>
        (await dismiss(world.replayDeps, id, { by, reason }))
          ? { transactionId: id, outcome: 'done', detail: 'dismissed' }
          : {
              transactionId: id,
              outcome: 'refused',
              detail: NOT_LISTED,
            },
    });
  },
});

/** As the stuck list has it. */
async function foresee({ stuck }: FinanceWorld, id: string): Promise<Preview> {
  const { items } = await findStuck(stuck, { classes: ['inbox-without-purchase'] });
  return items.some((item) => item.transactionId === id)
    ? { transactionId: id, outcome: 'would-do', detail: 'it leaves the list', lines: [] }
    : { transactionId: id, outcome: 'refused', detail: NOT_LISTED, lines: [] };
}
