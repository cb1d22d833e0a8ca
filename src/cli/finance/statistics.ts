/** The kept figures that statistics and my-esims read: recounted, or compared with the rows. */
import { z } from 'zod';
import {
  findFigureDifferences,
  rebuildFigures,
  type FigureDifference,
} from '../../purchases/store/kept-figures.ts';
import { toggle } from '../command.ts';
import { addFinanceCommand, type FinanceGroup } from './group.ts';
import { toJson, type Output } from './output.ts';

export function addStatisticsCommands(group: FinanceGroup): void {
  addFinanceCommand(group, {
    syntax: 'rebuild-statistics',
    summary: 'Recounts the kept figures from the rows',
    help: `Recounts the figures of statistics, top-destinations and my-esims from the rows, and replaces them in one transaction while
purchases go on. With --check it only compares, and fails on a difference. --json prints {differences}`,
    options: z.object({ check: toggle('only compares') }),
    run: async ({ options, world, out }) => {
      if (!options.check) await rebuildFigures(world.db);
      const differences = await findFigureDifferences(world.db);
      out.json({ differences });
      printDifferences(out, differences);
      if (differences.length > 0) return 1;
      out.line(options.check ? 'all figures equal the rows' : 'recounted; all figures equal the rows');
      return 0;
    },
  });
}

function printDifferences(out: Output, differences: readonly FigureDifference[]): void {
  if (differences.length === 0) return;
  out.table(
    ['FIGURE', 'KEPT', 'COUNTED'],
    differences.map(({ figure, kept, counted }) => [figure, toJson(kept), toJson(counted)]),
  );
}
