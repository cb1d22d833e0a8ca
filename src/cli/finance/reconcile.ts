/** `reconcile`, `differences`, `close-difference`: our books beside the gateway's statement and the supplier's orders. */
import { z } from 'zod';
import { DIFFERENCE_KINDS } from '../../reconciliation/payment-rules.ts';
import { OperatorMistake } from '../operator-mistake.ts';
import { defineCommand, UsageMistake, type Command } from './command.ts';
import { count, currency, rowId, text, time, WHO } from './fields.ts';
import { moment, money } from './output.ts';

const MOST = 10_000;

export const reconcileCommands: readonly Command[] = [
  defineCommand({
    name: 'reconcile',
    usage: '[--from 2026-11-01] [--to 2026-11-21] --by <person>',
    help: `compares ledger, payments and purchases with the gateway and the supplier, from and without to; since the last run
otherwise. Moves no money. Fails where differences are open`,
    words: [0, 0],
    flags: z.object({ from: time.optional(), to: time.optional(), by: WHO.by }),
    needsTemporal: true,
    run: async ({ flags: { from, to, by }, world, out }) => {
      if ((from === undefined) !== (to === undefined)) throw new UsageMistake('--from and --to go together');
      if (from !== undefined && to !== undefined && from >= to)
        throw new UsageMistake('--from is before --to');
      const summary = await world.reconcile({
        askedBy: by,
        ...(from === undefined || to === undefined ? {} : { range: { from, to } }),
      });
      out.json(summary);
      if (summary === null) {
        out.line('nothing has happened yet that could be compared');
        return 0;
      }
      const { compared, open } = summary;
      out.line(`run ${summary.runId}: from ${summary.from} to ${summary.to}`);
      out.line(
        `compared ${
          Object.entries(compared)
            .map(([what, many]) => `${many} ${what}`)
            .join(', ') || 'nothing'
        }`,
      );
      out.line(`${summary.opened} differences opened, ${summary.closed} closed`);
      out.line(
        open.length === 0
          ? 'no difference is open'
          : `open: ${open.map((one) => `${one.count} ${one.kind}`).join(', ')}`,
      );
      return open.length === 0 ? 0 : 1;
    },
  }),
  defineCommand({
    name: 'differences',
    usage: '[--kind <kind,…>] [--currency NGN] [--transaction <id>] [--limit 1000]',
    help: 'differences that are open, the oldest first, with what each side says',
    words: [0, 0],
    flags: z.object({
      kind: text(500)
        .transform((list) => list.split(','))
        .pipe(z.array(z.enum(DIFFERENCE_KINDS)))
        .optional(),
      currency: currency.optional(),
      transaction: text(100).optional(),
      limit: count(MOST, 1_000),
    }),
    run: async ({ flags, world, out }) => {
      const open = await world.differences.listOpen({
        ...(flags.kind === undefined ? {} : { kinds: flags.kind }),
        ...(flags.currency === undefined ? {} : { currency: flags.currency }),
        ...(flags.transaction === undefined ? {} : { transactionId: flags.transaction }),
        limit: flags.limit,
      });
      out.json(open);
      if (open.length === 0) out.line('no difference is open');
      else
        out.table(
          ['NUMBER', 'KIND', 'SUBJECT', 'TRANSACTION', 'THEIRS LESS OURS', 'SINCE', 'OURS', 'THEIRS'],
          open.map((one) => [
            String(one.id),
            one.kind,
            one.subject,
            one.transactionId ?? '',
            money(one.amountMinor, one.currency),
            moment(one.firstSeenAt),
            factsOf(one.ours),
            factsOf(one.theirs),
          ]),
        );
      return 0;
    },
  }),
  defineCommand({
    name: 'close-difference',
    usage: '<number> --by <person> --reason <text> [--dry-run]',
    help: 'closes a difference that a person has explained; it stays closed while the facts are the same',
    words: [1, 1],
    flags: z.object(WHO),
    switches: ['dry-run'],
    run: async ({ words: [word = ''], flags: { by, reason }, switches, world, out }) => {
      const id = rowId.safeParse(word);
      if (!id.success) throw new UsageMistake(`no number: ${word}`);
      if (switches['dry-run']) {
        const open = await world.differences.listOpen({ limit: 1, afterId: id.data - 1n });
        const found = open.find((one) => one.id === id.data);
        if (!found) throw new OperatorMistake(`difference ${word} is not open`);
        out.json(found);
        out.line(`would close: ${found.kind} ${found.subject}, ${money(found.amountMinor, found.currency)}`);
        return 0;
      }
      const closed = await world.differences.close(id.data, by, reason);
      out.json(closed);
      if (closed.outcome === 'refused') throw new OperatorMistake(`difference ${word}: ${closed.code}`);
      out.line('closed');
      return 0;
    },
  }),
];

function factsOf(facts: Readonly<Record<string, string>> | null): string {
  if (facts === null) return 'nothing';
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
