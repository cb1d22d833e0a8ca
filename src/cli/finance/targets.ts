/**
 * What a command is to be done to: the one that was named, or all on the stuck list that fit a filter, shown before anything is done. Nothing
 * is done to many without a yes.
 */
import type { z } from 'zod';
import { findStuck, type StuckFilter } from '../../operations/stuck.ts';
import type { FinanceWorld } from '../../platform/composition/finance.ts';
import type { StuckItem } from '../../operations/stuck-rules.ts';
import { UsageMistake, type ExitCode } from './command.ts';
import { isConfirmed, notAsked } from './confirm.ts';
import { classes, currency, duration } from './fields.ts';
import type { Preview } from './foresight.ts';
import { age, money, type Output } from './output.ts';
import type { Result } from './result.ts';

/** Flags that narrow the stuck list. */
export const FILTER = {
  class: classes.optional(),
  'older-than': duration.optional(),
  currency: currency.optional(),
};

export const FILTER_USAGE = '[--class <class,…>] [--older-than 30m|2h|3d] [--currency NGN]';

type FilterFlags = z.output<z.ZodObject<typeof FILTER>>;

export function toFilter(flags: FilterFlags): StuckFilter {
  const { class: named, 'older-than': olderThanSeconds, currency: inCurrency } = flags;
  return {
    ...(named === undefined ? {} : { classes: named }),
    ...(olderThanSeconds === undefined ? {} : { olderThanSeconds }),
    ...(inCurrency === undefined ? {} : { currency: inCurrency }),
  };
}

export interface Batch<R extends Result> {
  readonly world: FinanceWorld;
  readonly out: Output;
  readonly words: readonly string[];
  readonly flags: FilterFlags;
  readonly isYes: boolean;
  /** Changes nothing, so that nobody has to say yes. */
  readonly isPreview: boolean;
  /** What is done, for the question. */
  readonly verb: string;
  /** What would be done to one; where it is given, one is not done without a yes either. */
  readonly foresee?: (transactionId: string) => Promise<Preview>;
  /** Shows what would be done, and does nothing. */
  readonly isDryRun?: boolean;
  readonly act: (transactionId: string) => Promise<R>;
}

/** As many at one time as a worker takes beside its other work. */
const AT_ONCE = 8;

/** Does it to the one that was named, or to all that the filter finds; answers what came of each. */
export async function doToAll<R extends Result>(batch: Batch<R>): Promise<ExitCode> {
  const { out, words, flags, act } = batch;
  const [named] = words;
  const isFilter = Object.values(flags).some((value) => value !== undefined);
  if (named !== undefined && isFilter) throw new UsageMistake('takes an id or a filter, not both');
  if (named !== undefined) {
    const isSettled = await showBefore(batch, named);
    if (isSettled !== undefined) return isSettled;
    const result = await act(named);
    out.json(result);
    out.line(told(result));
    return exitCodeOf([result]);
  }
  if (flags.class === undefined) throw new UsageMistake('takes an id, or --class');
  const { items } = await findStuck(batch.world.stuck, toFilter(flags));
  const ids = [...new Set(items.map((item) => item.transactionId))];
  preview(out, items);
  if (batch.isDryRun === true && batch.foresee) {
    const seen = await allOf(ids, batch.foresee, out);
    out.json(seen);
    tellResults(out, seen);
    return exitCodeOf(seen);
  }
  const mayGoOn = batch.isPreview || ids.length === 0;
  if (!mayGoOn && !(await isConfirmed(out, batch.isYes, `${batch.verb} ${ids.length} of them?`))) return 1;
  const results = await allOf(ids, act, out);
  out.json(results);
  tellResults(out, results);
  return exitCodeOf(results);
}

/** Shows what would be done to the one that was named, and asks. Answers how the command ends where nothing is to be done now. */
async function showBefore(
  {
    out,
    foresee,
    isDryRun = false,
    isYes,
    verb,
  }: Pick<Batch<Result>, 'out' | 'foresee' | 'isDryRun' | 'isYes' | 'verb'>,
  named: string,
): Promise<ExitCode | undefined> {
  if (!foresee || (isYes && !isDryRun)) return undefined;
  // Nobody can be asked: said before anything is looked at.
  if (!isDryRun && !out.isTerminal) return notAsked(`${verb} ${named}?`);
  return confirmSeen(out, await foresee(named), { isDryRun, question: `${verb} ${named}?` });
}

/** Shows what would be done, and asks. Answers how the command ends where nothing is to be done: a preview, a refusal, or a no. */
export async function confirmSeen(
  out: Output,
  seen: Preview,
  { isDryRun, question }: { readonly isDryRun: boolean; readonly question: string },
): Promise<ExitCode | undefined> {
  if (isDryRun) out.json(seen);
  for (const line of seen.lines) out.line(line);
  if (isDryRun || seen.outcome !== 'would-do') {
    out.line(told(seen));
    return exitCodeOf([seen]);
  }
  return (await isConfirmed(out, false, question)) ? undefined : 1;
}

function preview(out: Output, items: readonly StuckItem[]): void {
  out.table(STUCK_COLUMNS, items.map(stuckRow));
}

/** How the stuck list shows one item. */
export const STUCK_COLUMNS = ['AGE', 'CLASS', 'TRANSACTION', 'AMOUNT', 'REASON'];

export const stuckRow = (item: StuckItem): string[] => [
  age(item.ageSeconds),
  item.class,
  item.transactionId,
  money(item.amountMinor, item.currency),
  item.reason,
];

/** A few at one time, in order of the list; a person at a terminal sees how far it is. */
async function allOf<R extends Result>(
  ids: readonly string[],
  act: (transactionId: string) => Promise<R>,
  out: Output,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let place = next++; place < ids.length; place = next++) {
      results[place] = await act(ids[place] ?? '');
      showProgress(out, results.filter(Boolean).length, ids.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, ids.length) }, worker));
  return results;
}

const BAR_WIDTH = 30;

function showProgress(out: Output, done: number, of: number): void {
  if (!out.isTerminal) return;
  const full = Math.trunc((done * BAR_WIDTH) / of);
  out.stderr(
    `\r[${'#'.repeat(full)}${' '.repeat(BAR_WIDTH - full)}] ${done}/${of}${done === of ? '\n' : ''}`,
  );
}

function tellResults(out: Output, results: readonly Result[]): void {
  const counts = [...Map.groupBy(results, (result) => result.outcome)].map(
    ([outcome, same]) => `${same.length} ${outcome}`,
  );
  out.line(counts.length === 0 ? 'nothing of that is stuck' : counts.join(', '));
  for (const result of results) if (result.outcome !== 'done') out.line(told(result));
}

const told = ({ transactionId, outcome, detail }: Result): string =>
  `${transactionId}  ${outcome}  ${detail}`.trimEnd();

/** Everything was done, or waits for its second person. */
function exitCodeOf(results: readonly Result[]): ExitCode {
  return results.every(({ outcome }) => outcome !== 'refused' && outcome !== 'unknown') ? 0 : 1;
}
