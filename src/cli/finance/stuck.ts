/** `stuck`: everything that does not move as it should, with its age, its amount, why, and what to do next. */
import { z } from 'zod';
import { findStuck } from '../../operations/stuck.ts';
import { nextActionOf, stuckRule, type StuckItem } from '../../operations/stuck-rules.ts';
import { defineCommand } from './command.ts';
import type { Output } from './output.ts';
import { FILTER, FILTER_USAGE, STUCK_COLUMNS, stuckRow, toFilter } from './targets.ts';

export const stuckCommand = defineCommand({
  name: 'stuck',
  usage: FILTER_USAGE,
  help: `everything that does not move as it should. --json prints an array of
{transactionId, class, ageSeconds, amountMinor, currency, reason, nextAction}`,
  words: [0, 0],
  flags: z.object(FILTER),
  run: async ({ flags, world, out }) => {
    const { items, isCut, temporalAsked } = await findStuck(world.stuck, toFilter(flags));
    if (!temporalAsked) out.note('Temporal could not be asked: workflow-gone is left out');
    if (isCut) out.note('there is more than this list holds: the longest stuck come first');
    out.json(items);
    if (!out.isJson) tell(out, items);
    return 0;
  },
});

function tell(out: Output, items: readonly StuckItem[]): void {
  if (items.length === 0) {
    out.line('nothing is stuck');
    return;
  }
  out.table(
    [...STUCK_COLUMNS, 'NEXT'],
    items.map((item) => [...stuckRow(item), stuckRule(item.class).command]),
  );
  out.line('');
  for (const [stuckClass, same] of Map.groupBy(items, (item) => item.class)) {
    out.line(`${same.length} ${stuckClass}: ${stuckRule(stuckClass).meaning}`);
    out.line(`  ${nextActionOf(stuckClass)}`);
  }
}
