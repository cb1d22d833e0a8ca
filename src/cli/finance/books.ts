/** `trial-balance`, `books`, `waiting`: what the ledger says as a whole, as a table, as JSON, or as CSV for a spreadsheet. */
import { z } from 'zod';
import type { Report } from '../../reconciliation/books-rules.ts';
import type { FinanceWorld } from '../../platform/composition/finance.ts';
import { defineCommand, UsageMistake, type Command, type ExitCode } from './command.ts';
import { time } from './fields.ts';
import type { Output } from './output.ts';

const DAY_MS = 86_400_000;
/** A month, where nobody says from when. */
const DAYS = 30;

export const bookCommands: readonly Command[] = [
  defineCommand({
    name: 'trial-balance',
    usage: '[--csv]',
    help: 'Shows every ledger account with its class and its balance; fails unless debits equal credits in every currency',
    words: [0, 0],
    flags: z.object({}),
    switches: ['csv'],
    run: async ({ switches, world, out }) => {
      const report = await world.books.trialBalance();
      tell(world, out, report, switches.csv);
      const uneven = report.totals.filter((total) => !total.isBalanced);
      for (const { currency } of uneven) out.note(`${currency} does not net to zero`);
      return uneven.length === 0 ? 0 : 1;
    },
  }),
  defineCommand({
    name: 'books',
    usage: '[--from 2026-11-01] [--to 2026-12-01] [--by-merchant] [--csv]',
    help: `Shows revenue, cost and margin by day, currency and package type, with totals; --by-merchant: by account instead of by day.
Includes the start date, excludes the end date; without them: the last 30 days`,
    words: [0, 0],
    flags: z.object({ from: time.optional(), to: time.optional() }),
    switches: ['csv', 'by-merchant'],
    run: async ({ flags, switches, world, out }) => {
      const to = flags.to ?? nextMidnight(world.clock.now());
      const from = flags.from ?? new Date(to.getTime() - DAYS * DAY_MS);
      if (from >= to) throw new UsageMistake('--from is before --to');
      const { books } = world;
      const report = switches['by-merchant'] ? books.byMerchant({ from, to }) : books.daily({ from, to });
      return tell(world, out, await report, switches.csv);
    },
  }),
  defineCommand({
    name: 'waiting',
    usage: '[--csv]',
    help: 'Shows money that waits, with how many items and since when: for delivery, for refunds, in disputes and claims, with the gateway',
    words: [0, 0],
    flags: z.object({}),
    switches: ['csv'],
    run: async ({ switches, world, out }) => tell(world, out, await world.books.waiting(), switches.csv),
  }),
];

const nextMidnight = (now: Date): Date => new Date((Math.trunc(now.getTime() / DAY_MS) + 1) * DAY_MS);

function tell({ books }: FinanceWorld, out: Output, report: Report, isCsv: boolean): ExitCode {
  if (isCsv && out.isJson) throw new UsageMistake('--json or --csv, not both');
  out.json(report);
  if (isCsv) {
    out.stdout(books.toCsv(report));
  } else {
    const { columns, rows } = books.toTable(report);
    out.table(
      columns.map((name) => name.toUpperCase()),
      rows,
    );
  }
  return 0;
}
