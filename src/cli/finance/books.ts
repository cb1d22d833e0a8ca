/**
 * The ledger, its reports, and how our books compare with the gateway's statement and the supplier's orders.
 */
import papaparse from 'papaparse';
import { dataOf, type Ops } from 'simway-client';
import type { components } from 'simway-client/generated/ops.ts';
import { z } from 'zod';
import { DAY_MS } from '../../domain/clock.ts';
import { DIFFERENCE_KINDS } from '../../reconciliation/payment-rules.ts';
import { defined, option, OperatorMistake, toggle, UsageMistake } from '../../platform/command.ts';
import { count, CSV, currency, day, DRY_RUN, listOf, REASON, rowNumber, text, time } from '../values.ts';
import { financeCommand } from './group.ts';
import { allPages, moment, money, type Output } from './output.ts';

type Ledger = components['schemas']['Ledger']['data'];

const MAX_LINES = 10_000;
const DEFAULT_DAYS = 30;

const FROM = option(day.optional(), 'first day, included: 2026-11-01', 'date');
const TO = option(day.optional(), 'last day, included: 2026-11-30', 'date');

const rangeOf = (from: Date | undefined, to: Date | undefined) =>
  defined({ from: from?.toISOString(), to: to?.toISOString() });

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

interface Reports {
  '/ops/books/trial-balance': components['schemas']['TrialBalance']['data'];
  '/ops/books/daily': components['schemas']['Daily']['data'];
  '/ops/books/merchants': components['schemas']['BooksByMerchant']['data'];
  '/ops/books/waiting': components['schemas']['WaitingMoney']['data'];
}

/** Tables are the service's own CSV. */
async function printReport<Path extends keyof Reports>(
  ops: Ops,
  out: Output,
  path: Path,
  isCsv: boolean,
  range?: { readonly from: string; readonly to: string },
): Promise<Reports[Path]> {
  if (isCsv && out.isJson) throw new UsageMistake('Give either --json or --csv, not both');
  const params = { query: (range ?? {}) as { from: string; to: string } };
  const report = (await dataOf(ops.GET<keyof Reports, object>(path, { params }))) as Reports[Path];
  out.json(report);
  if (out.isJson) return report;
  const headers = { Accept: 'text/csv' };
  const { data } = await ops.GET<keyof Reports, object>(path, { params, headers, parseAs: 'text' });
  const csv = data as unknown as string;
  if (isCsv) out.stdout(csv);
  else {
    const [columns = [], ...rows] = papaparse.parse<string[]>(csv, { skipEmptyLines: true }).data;
    out.table(
      columns.map((name) => name.toUpperCase()),
      rows,
    );
    printTotals(out, 'totals' in report ? report.totals : []);
  }
  return report;
}

/** Below the lines: as one of them a spreadsheet would count them again, so the CSV has none. */
function printTotals(
  out: Output,
  totals: Reports['/ops/books/trial-balance' | '/ops/books/daily']['totals'],
): void {
  for (const { currency: code, ...total } of totals) {
    const amounts: Readonly<Record<string, number>> =
      'debit' in total
        ? { debit: total.debit, credit: total.credit }
        : { revenue: total.revenue, cost: total.cost, margin: total.margin };
    const words = Object.entries(amounts).map(([name, amount]) => `${name} ${money(amount, code)}`);
    out.line(`total: ${words.join(', ')}`);
  }
}

function printLedger(out: Output, { isAccount, accounts, lines }: Ledger): void {
  const optional = (isShown: boolean, cell: string): string[] => (isShown ? [cell] : []);
  const side = (amount: number, code: string): string => (amount === 0 ? '' : money(amount, code));
  const hasSeveral = accounts.length !== 1;
  const headings = ['AT', 'KIND', 'OPERATION', ...optional(hasSeveral, 'ACCOUNT'), 'DEBIT', 'CREDIT'];
  out.table(
    [...headings, ...optional(isAccount, 'BALANCE')],
    lines.map((line) => [
      moment(line.at),
      line.kind,
      line.operationKey,
      ...optional(hasSeveral, line.account),
      side(line.debit, line.currency),
      side(line.credit, line.currency),
      ...optional(isAccount, money(line.balance, line.currency)),
    ]),
  );
}

export const BOOKS = [
  financeCommand({
    syntax: 'reconcile',
    summary: 'Compares our books with the gateway and the supplier',
    help: `Compares ledger, payments and purchases with the gateway's statement and the supplier's orders: since the last run, or
between --from and --to. Moves no money. Fails while a difference is open.`,
    options: z.object({
      from: option(time.optional(), 'start, included: 2026-11-01', 'time'),
      to: option(time.optional(), 'end, excluded: 2026-12-01', 'time'),
    }),
    run: async ({ options: { from, to }, ops, out }) => {
      if ((from === undefined) !== (to === undefined))
        throw new UsageMistake('--from and --to must be given together');
      if (from !== undefined && to !== undefined && from >= to)
        throw new UsageMistake('--from must be before --to');
      const answer = await dataOf(ops.POST('/ops/reconciliations', { body: rangeOf(from, to) }));
      out.json(answer.status === 'running' ? answer : answer.run);
      if (answer.status === 'running') {
        out.line('Still running: differences shows what it has found once it ends');
        return 1;
      }
      const summary = answer.run;
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
  }),
  financeCommand({
    syntax: 'differences',
    summary: 'Lists open differences, oldest first, with what each side says',
    options: z.object({
      kind: option(listOf(DIFFERENCE_KINDS).optional(), 'only these kinds, separated by commas', 'kind'),
      currency: option(currency.optional(), 'only this currency, such as NGN', 'code'),
      transaction: option(text(100).optional(), 'only this transaction', 'id'),
      limit: option(count(MAX_LINES, 1_000), '1000 by default', 'n'),
    }),
    run: async ({
      options: { kind: kinds, transaction: transactionId, currency: code, limit },
      ops,
      out,
    }) => {
      const found = await Promise.all(
        (kinds ?? [undefined]).map((kind) => {
          const filter = defined({ kind, transactionId, currency: code });
          const read = (page: object) =>
            dataOf(ops.GET('/ops/differences', { params: { query: { ...page, ...filter } } }));
          return allPages(read, limit);
        }),
      );
      const open = found.flatMap(({ items }) => items);
      out.json(open);
      if (open.length === 0) out.line('no difference is open');
      else
        for (const one of open) {
          out.line(`${one.id}  ${one.title} (${one.kind}), since ${moment(one.firstSeenAt)}`);
          const about = one.transactionId === null ? one.subject : `${one.subject} of ${one.transactionId}`;
          out.line(`    ${about}: theirs less ours ${money(one.amount, one.currency)}`);
          for (const { label, ours, theirs } of one.facts)
            out.line(`    ${label}: ours ${ours ?? 'not there'}, theirs ${theirs ?? 'not there'}`);
          out.line(`    next: ${one.next}`);
        }
    },
  }),
  financeCommand({
    syntax: 'close-difference <number>',
    summary: 'Closes a difference that you can explain',
    help: 'Closes a difference that you can explain. It stays closed while the facts are the same.',
    options: z.object({ reason: REASON, dryRun: DRY_RUN }),
    run: async ({ args: [number = ''], options: { reason, dryRun }, ops, out }) => {
      const id = rowNumber(number);
      if (dryRun) {
        const { items } = await dataOf(ops.GET('/ops/differences', { params: { query: { id } } }));
        const [found] = items;
        if (!found || found.closedAt !== null) throw new OperatorMistake(`Difference ${number} is not open`);
        out.json(found);
        out.line(`would close: ${found.title}, ${found.subject}, ${money(found.amount, found.currency)}`);
        return 0;
      }
      const about = { params: { path: { differenceId: id } }, body: { reason } };
      out.json(await dataOf(ops.POST('/ops/differences/{differenceId}/close', about)));
      out.line('closed');
    },
  }),
  financeCommand({
    syntax: 'ledger <id>',
    summary: 'Shows ledger entries, newest first',
    help: `Shows ledger entries, newest first, with the balance after each. Takes an account's id (its wallet), a ledger account such
as suspense:NGN, a kind of ledger account such as suspense, or a transaction's id (oldest first, without balances).`,
    options: z.object({ limit: option(count(MAX_LINES, 50), '50 by default', 'n') }),
    run: async ({ args: [id = ''], options: { limit }, ops, out }) => {
      const view = await dataOf(ops.GET('/ops/books/ledger', { params: { query: { id, limit } } }));
      out.json(view.lines);
      if (view.lines.length === 0) out.line('nothing is booked');
      else printLedger(out, view);
    },
  }),
  financeCommand({
    syntax: 'trial-balance',
    summary: 'Shows every ledger account with its class and balance',
    help: `Shows every ledger account with its class and balance. Fails unless debits equal credits in every currency.`,
    options: z.object({ csv: CSV }),
    run: async ({ options, ops, out }) => {
      const report = await printReport(ops, out, '/ops/books/trial-balance', options.csv);
      const uneven = report.totals.filter((total) => !total.isBalanced);
      for (const { currency: code } of uneven) out.note(`${code} does not net to zero`);
      return uneven.length === 0 ? 0 : 1;
    },
  }),
  financeCommand({
    syntax: 'books',
    summary: 'Shows revenue, cost and margin',
    help: `Shows revenue, cost and margin by day, currency and package type, with totals. The last ${DEFAULT_DAYS} days by default.`,
    options: z.object({ from: FROM, to: TO, byMerchant: toggle('by account instead of by day'), csv: CSV }),
    run: async ({ options, ops, out }) => {
      const to = options.to ?? dayOf(Date.now());
      const from = options.from ?? dayOf(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS);
      if (from > to) throw new UsageMistake('--from must not be after --to');
      const path = options.byMerchant ? '/ops/books/merchants' : '/ops/books/daily';
      await printReport(ops, out, path, options.csv, { from, to });
    },
  }),
  financeCommand({
    syntax: 'waiting',
    summary: 'Shows money that awaits delivery, a refund, a dispute or the gateway',
    help: 'Shows money that awaits delivery, a refund, the end of a dispute or reversal, or the gateway: how much, how many, since when.',
    options: z.object({ csv: CSV }),
    run: async ({ options, ops, out }) => {
      await printReport(ops, out, '/ops/books/waiting', options.csv);
    },
  }),
];
