/** `prices`, `prices preview`, `prices set`: markups and the NGN increment, what a change would do to real packages, and the change. */
import { z } from 'zod';
import {
  listPrices,
  previewPrices,
  setPrices,
  type PricePreview,
  type PriceChangeRequest,
} from '../../catalogue/price-settings.ts';
import type { PricingSettings } from '../../catalogue/pricing.ts';
import { OperatorMistake } from '../operator-mistake.ts';
import { isConfirmed } from './confirm.ts';
import { defineCommand, UsageMistake, type Command } from './command.ts';
import { count, percentage, WHO } from './fields.ts';
import { moment, money, type Output } from './output.ts';

/** As many changes as fit on a screen. */
const HISTORY = 20;
const MOST_EXAMPLES = 100;
const EXAMPLES = 5;

const WISH = {
  'user-markup': percentage.optional(),
  'merchant-markup': percentage.optional(),
  'ngn-increment': percentage.optional(),
  examples: count(MOST_EXAMPLES, EXAMPLES),
};

const WISH_USAGE = '[--user-markup 25] [--merchant-markup 15] [--ngn-increment 3] [--examples 5]';

export const priceCommands: readonly Command[] = [
  defineCommand({
    name: 'prices',
    usage: '',
    help: 'markups and the NGN increment, the newest first; the first counts',
    words: [0, 0],
    flags: z.object({}),
    run: async ({ world, out }) => {
      const settings = await listPrices(world.db, HISTORY);
      out.json(settings);
      out.table(
        ['FROM', 'USER', 'MERCHANT', 'NGN', 'BY', 'REASON'],
        settings.map((one) => [moment(one.validFrom), ...percentages(one), one.by, one.reason]),
      );
      return 0;
    },
  }),
  defineCommand({
    name: 'prices preview',
    usage: WISH_USAGE,
    help: 'what a change would do to packages from the cheapest to the dearest, before and after; changes nothing',
    words: [0, 0],
    flags: z.object(WISH),
    run: async ({ flags, world, out }) => {
      const preview = await previewPrices(world.db, toWish(flags), flags.examples);
      out.json(preview);
      if (!out.isJson) tell(out, preview);
      return 0;
    },
  }),
  defineCommand({
    name: 'prices set',
    usage: `${WISH_USAGE} --by <person> --reason <text> [--dry-run] [--yes]`,
    help: 'sets markups and increment in percent; what is not named stays. Open purchases keep the price they were quoted',
    words: [0, 0],
    flags: z.object({ ...WISH, ...WHO }),
    switches: ['dry-run', 'yes'],
    run: async ({ flags, switches, world, out }) => {
      const wish = toWish(flags);
      if (Object.keys(wish).length === 0) throw new UsageMistake('name at least one percentage');
      const preview = await previewPrices(world.db, wish, flags.examples);
      if (!out.isJson) tell(out, preview);
      if (switches['dry-run']) {
        out.json({ outcome: 'would-do', before: preview.before, after: preview.after });
        return 0;
      }
      if (!(await isConfirmed(out, switches.yes, 'Sell at it?'))) return 1;
      const outcome = await setPrices(world.db, preview, { by: flags.by, reason: flags.reason });
      if (outcome === 'changed-meanwhile')
        throw new OperatorMistake('somebody changed them since the preview: look again; nothing was done');
      out.json({ outcome, before: preview.before, after: preview.after });
      out.line(outcome === 'set' ? 'sold at within a second' : 'they are so already');
      return 0;
    },
  }),
];

function toWish(flags: z.output<z.ZodObject<typeof WISH>>): PriceChangeRequest {
  const { 'user-markup': user, 'merchant-markup': merchant, 'ngn-increment': ngn } = flags;
  return {
    ...(user === undefined ? {} : { userMarkupBps: user }),
    ...(merchant === undefined ? {} : { merchantMarkupBps: merchant }),
    ...(ngn === undefined ? {} : { ngnIncrementBps: ngn }),
  };
}

type Percentages = Omit<PricingSettings, 'id'>;

const percentages = (one: Percentages): string[] =>
  [one.userMarkupBps, one.merchantMarkupBps, one.ngnIncrementBps].map((bps) => `${money(BigInt(bps), '')} %`);

function tell(out: Output, { before, after, examples }: PricePreview): void {
  out.table(
    ['', 'USER', 'MERCHANT', 'NGN'],
    [
      ['before', ...percentages(before)],
      ['after', ...percentages(after)],
    ],
  );
  out.line('');
  out.table(
    ['PACKAGE', 'FOR', 'COST', 'BEFORE', 'AFTER'],
    examples.map((one) => [
      one.packageCode,
      one.accountType,
      money(one.costUsdE4, 'USD4'),
      money(one.beforeMinor, one.currency),
      money(one.afterMinor, one.currency),
    ]),
  );
}
