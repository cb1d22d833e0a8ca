/** The ledger, its reports, and how our books compare with the gateway's statement and the supplier's orders. */
import { z } from 'zod';
import { DAY_MS } from '../../domain/clock.ts';
import type { FinanceWorld } from '../../app/composition/finance.ts';
import { type Report, readLedger, type LedgerView } from '../../reconciliation/books.ts';
import { DIFFERENCE_KINDS } from '../../reconciliation/payment-rules.ts';
import { defined, option, OperatorMistake, toggle, UsageMistake } from '../../platform/command.ts';
import { BY, count, CSV, currency, DRY_RUN, listOf, rowNumber, text, time, WHO } from '../values.ts';
import { addFinanceCommand, type FinanceGroup } from './group.ts';
import { moment, money, type Output } from './output.ts';

const MAX_LINES = 10_000;
const DEFAULT_DAYS = 30;

const FROM = option(time.optional(), 'start, included: 2026-11-01', 'date');
const TO = option(time.optional(), 'end, excluded: 2026-12-01', 'date');

export function addBookCommands(group: FinanceGroup): void {
  addReconcile(group);
  addDifferences(group);
  addLedger(group);
  addFinanceCommand(group, {
    syntax: 'trial-balance',
    summary: 'Shows every ledger account with its class and balance',
    help: `Shows every ledger account with its class and balance. Fails unless debits equal credits in every currency.`,
    options: z.object({ csv: CSV }),
    run: async ({ options, world, out }) => {
      const report = await world.books.trialBalance();
      printReport(world, out, report, options.csv);
      const uneven = report.totals.filter((total) => !total.isBalanced);
      for (const { currency: code } of uneven) out.note(`${code} does not net to zero`);
      return uneven.length === 0 ? 0 : 1;
    },
  });
  addFinanceCommand(group, {
    syntax: 'books',
    summary: 'Shows revenue, cost and margin',
    help: `Shows revenue, cost and margin by day, currency and package type, with totals. The last ${DEFAULT_DAYS} days by default.`,
    options: z.object({ from: FROM, to: TO, byMerchant: toggle('by account instead of by day'), csv: CSV }),
    run: async ({ options, world, out }) => {
      const to = options.to ?? nextMidnight(world.clock.now());
      const from = options.from ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
      if (from >= to) throw new UsageMistake('--from must be before --to');
      const read = options.byMerchant ? world.books.byMerchant : world.books.daily;
      printReport(world, out, await read({ from, to }), options.csv);
      return 0;
    },
  });
  addFinanceCommand(group, {
    syntax: 'waiting',
    summary: 'Shows money that awaits delivery, a refund, a dispute or the gateway',
    help: 'Shows money that awaits delivery, a refund, the end of a dispute or reversal, or the gateway: how much, how many, since when.',
    options: z.object({ csv: CSV }),
    run: async ({ options, world, out }) => {
      printReport(world, out, await world.books.waiting(), options.csv);
      return 0;
    },
  });
}

const nextMidnight = (now: Date): Date => new Date((Math.trunc(now.getTime() / DAY_MS) + 1) * DAY_MS);

function printReport({ books }: FinanceWorld, out: Output, report: Report, isCsv: boolean): void {
  if (isCsv && out.isJson) throw new UsageMistake('Give either --json or --csv, not both');
  out.json(report);
  if (isCsv) {
    out.stdout(books.toCsv(report));
    return;
  }
  const { columns, rows } = books.toTable(report);
  out.table(
    columns.map((name) => name.toUpperCase()),
    rows,
  );
}

function addLedger(group: FinanceGroup): void {
  addFinanceCommand(group, {
    syntax: 'ledger <id>',
    summary: 'Shows ledger entries, newest first',
    help: `Shows ledger entries, newest first, with the balance after each. Takes an account's id (its wallet), a ledger account such
as suspense:NGN, a kind of ledger account such as suspense, or a transaction's id (oldest first, without balances).`,
    options: z.object({ limit: option(count(MAX_LINES, 50), '50 by default', 'n') }),
    run: async ({ args: [id = ''], options: { limit }, world, out }) => {
      const view = await readLedger(world.db, id, limit);
      if (!view) throw new OperatorMistake(`No ledger account and no purchase found with the id ${id}`);
      out.json(view.lines);
      if (view.lines.length === 0) out.line('nothing is booked');
      else printLedger(out, view);
      return 0;
    },
  });
}

function printLedger(out: Output, { isAccount, accounts, lines }: LedgerView): void {
  const optional = (isShown: boolean, cell: string): string[] => (isShown ? [cell] : []);
  const side = (amountMinor: bigint, code: string): string =>
    amountMinor === 0n ? '' : money(amountMinor, code);
  const hasSeveral = accounts.length !== 1;
  const headings = ['AT', 'KIND', 'OPERATION', ...optional(hasSeveral, 'ACCOUNT'), 'DEBIT', 'CREDIT'];
  out.table(
    [...headings, ...optional(isAccount, 'BALANCE')],
    lines.map((line) => [
      moment(line.at),
      line.kind,
      line.operationKey,
      ...optional(hasSeveral, line.account),
      side(line.debitMinor, line.currency),
      side(line.creditMinor, line.currency),
      ...optional(isAccount, money(line.balanceMinor, line.currency)),
    ]),
  );
}

function addReconcile(group: FinanceGroup): void {
  addFinanceCommand(group, {
    syntax: 'reconcile',
    summary: 'Compares our books with the gateway and the supplier',
    help: `Compares ledger, payments and purchases with the gateway's statement and the supplier's orders: since the last run, or
between --from and --to. Moves no money. Fails while a difference is open.`,
    options: z.object({ from: FROM, to: TO, by: BY }),
    needsTemporal: true,
    run: async ({ options: { from, to, by }, world, out }) => {
      if ((from === undefined) !== (to === undefined))
        throw new UsageMistake('--from and --to must be given together');
      const range = from && to && { from, to };
      if (range && range.from >= range.to) throw new UsageMistake('--from must be before --to');
      const summary = await world.reconcile(defined({ askedBy: by, range }));
      out.json(summary);
      if (summary === null) {
        out.line('Nothing to compare yet');
        return 0;
      }
      const compared = Object.entries(summary.compared).map(([what, many]) => `${many} ${what}`);
      const open = summary.open.map((one) => `${one.count} ${one.kind}`);
      out.line(`run ${summary.runId}: from ${summary.from} to ${summary.to}`);
      out.line(`compared ${compared.join(', ') || 'nothing'}`);
      out.line(`${summary.opened} differences opened, ${summary.closed} closed`);
      out.line(open.length === 0 ? 'no difference is open' : `open: ${open.join(', ')}`);
      return open.length === 0 ? 0 : 1;
    },
  });
}

function addDifferences(group: FinanceGroup): void {
  addFinanceCommand(group, {
    syntax: 'differences',
    summary: 'Lists open differences, oldest first, with what each side says',
    options: z.object({
      kind: option(listOf(DIFFERENCE_KINDS).optional(), 'only these kinds, separated by commas', 'kind'),
      currency: option(currency.optional(), 'only this currency, such as NGN', 'code'),
      transaction: option(text(100).optional(), 'only this transaction', 'id'),
      limit: option(count(MAX_LINES, 1_000), '1000 by default', 'n'),
    }),
    run: async ({ options: { kind: kinds, transaction: transactionId, ...rest }, world, out }) => {
      const open = await world.differences.listOpen(defined({ ...rest, kinds, transactionId }));
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
  });
  addFinanceCommand(group, {
    syntax: 'close-difference <number>',
    summary: 'Closes a difference that you can explain',
    help: 'Closes a difference that you can explain. It stays closed while the facts are the same.',
    options: z.object({ ...WHO, dryRun: DRY_RUN }),
    run: async ({ args: [number = ''], options: { by, reason, dryRun }, world, out }) => {
      const id = rowNumber(number);
      if (dryRun) {
        const [found] = await world.differences.listOpen({ limit: 1, afterId: id - 1n });
        if (found?.id !== id) throw new OperatorMistake(`Difference ${number} is not open`);
        out.json(found);
        out.line(`would close: ${found.kind} ${found.subject}, ${money(found.amountMinor, found.currency)}`);
        return 0;
      }
      const closed = await world.differences.close(id, by, reason);
      out.json(closed);
      if (closed.outcome === 'refused') throw new OperatorMistake(`difference ${number}: ${closed.code}`);
      out.line('closed');
      return 0;
    },
  });
}

const factsOf = (facts: Readonly<Record<string, string>> | null): string =>
  facts === null
    ? 'nothing'
    : Object.entries(facts)
        .map((fact) => fact.join(' '))
        .join(', ');
