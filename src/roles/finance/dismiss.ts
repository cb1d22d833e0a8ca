/** `dismiss`: an event of the gateway about no payment of ours leaves the list, once a person knows what it is about. */
import { z } from 'zod';
import { dismiss } from '../../app/put-right.ts';
import { defineCommand } from './command.ts';
import { WHO } from './fields.ts';
import { doToAll, FILTER, FILTER_USAGE } from './targets.ts';

export const dismissCommand = defineCommand({
  name: 'dismiss',
  usage: `<event-number> | ${FILTER_USAGE}  --by <person> --reason <text> [--yes]`,
  help: 'an event of the gateway about no payment of ours: a person knows what it is about, and it leaves the list',
  words: [0, 1],
  flags: z.object({ ...FILTER, ...WHO }),
  switches: ['yes'],
  run: ({ words, flags, switches, world, out }) => {
    const { by, reason, ...filter } = flags;
    return doToAll({
      world,
      out,
      words,
      flags: filter,
      isYes: switches.yes,
      isPreview: false,
      verb: 'Dismiss',
      act: async (id) =>
        (await dismiss(world.care, id, { by, reason }))
          ? { transactionId: id, outcome: 'done', detail: 'dismissed' }
          : {
              transactionId: id,
              outcome: 'refused',
              detail: 'it is no event about no payment of ours, or was dismissed before',
            },
    });
  },
});
