/** Applies an action to the one id that was named, or to everything on the stuck list that a filter finds. Without --yes it asks first. */
import type { z } from 'zod';
import type { EffectPreview } from '../../operations/store/actions.ts';
import { STUCK_CLASSES, type StuckItem, type StuckFilter } from '../../operations/stuck-rules.ts';
import { findStuck } from '../../operations/stuck.ts';
import { defined, option, UsageMistake, type ExitCode } from '../../platform/command.ts';
import { currency, duration, listOf } from '../values.ts';
import type { FinanceRequest } from './group.ts';
import { age, isConfirmed, money, notConfirmed, type Output } from './output.ts';

/** Options that narrow the stuck list. */
export const FILTER = {
  class: option(listOf(STUCK_CLASSES).optional(), 'only these classes, separated by commas', 'class'),
  olderThan: option(duration.optional(), 'only what is stuck for longer: 30m, 2h, 3d', 'time'),
  currency: option(currency.optional(), 'only amounts in this currency, such as NGN', 'code'),
};

type Filter = z.output<z.ZodObject<typeof FILTER>>;

export const toFilter = ({ class: classes, olderThan, currency: code }: Filter): StuckFilter =>
  defined({ classes, olderThanSeconds: olderThan, currency: code });

export const STUCK_COLUMNS = ['AGE', 'CLASS', 'TRANSACTION', 'AMOUNT', 'REASON'];

export const stuckRow = (item: StuckItem): string[] => [
  age(item.ageSeconds),
  item.class,
  item.transactionId,
  money(item.amountMinor, item.currency),
  item.reason,
];

export interface Result {
  readonly transactionId: string;
  readonly outcome: 'done' | 'refused' | 'unknown' | 'waits-for-approval' | 'would-do' | 'nothing-to-do';
  readonly detail: string;
}

export type Preview = Result & {
  /** Printed before the confirmation. */
  readonly lines: readonly string[];
  readonly preview?: EffectPreview;
};

interface Batch {
  readonly request: FinanceRequest<Filter & { readonly yes: boolean; readonly dryRun: boolean }>;
  /** For the question: `Replay`. */
  readonly verb: string;
  /** What `act` would do. Without it `act` itself changes nothing in a dry run. */
  readonly preview?: (transactionId: string) => Promise<Preview>;
  readonly act: (transactionId: string) => Promise<Result>;
}

/** As many at one time as a worker takes beside its other work. */
const AT_ONCE = 8;

export async function applyToTargets(batch: Batch): Promise<ExitCode> {
  const { request, act, preview, verb } = batch;
  const { out, options, world } = request;
  const [id] = request.args;
  const filter = toFilter(options);
  if (id !== undefined && Object.keys(filter).length > 0)
    throw new UsageMistake('Give either an id or a filter, not both');
  if (id !== undefined) {
    const ended = await previewOne(batch, id);
    if (ended !== undefined) return ended;
    const result = await act(id);
    out.json(result);
    out.line(lineOf(result));
    return exitCodeOf([result]);
  }
  if (filter.classes === undefined) throw new UsageMistake('Give an id, or --class');
  const { items } = await findStuck(world.stuck, filter);
  out.table(STUCK_COLUMNS, items.map(stuckRow));
  const ids = [...new Set(items.map((item) => item.transactionId))];
  const question = `${verb} ${ids.length === 1 ? '1 item' : `${ids.length} items`}?`;
  if (!options.dryRun && ids.length > 0 && !(await isConfirmed(out, options.yes, question))) return 1;
  const results = await forEachId(ids, options.dryRun && preview ? preview : act, out);
  out.json(results);
  printResults(out, results);
  return exitCodeOf(results);
}

async function previewOne({ request, preview, verb }: Batch, id: string): Promise<ExitCode | undefined> {
  const { out, options } = request;
  const { dryRun: isDryRun } = options;
  if (!preview || (options.yes && !isDryRun)) return undefined;
  const question = `${verb} ${id}?`;
  // Before anything is read.
  if (!isDryRun && !out.isTerminal) return notConfirmed(question);
  return confirmPreview(out, await preview(id), { isDryRun, question });
}

/** Shows what would be done and asks for confirmation. Returns an exit code if the command ends here: after a dry run, a refusal or a no. */
export async function confirmPreview(
  out: Output,
  preview: Preview,
  { isDryRun, question }: { readonly isDryRun: boolean; readonly question: string },
): Promise<ExitCode | undefined> {
  if (isDryRun) out.json(preview);
  for (const line of preview.lines) out.line(line);
  if (isDryRun || preview.outcome !== 'would-do') {
    out.line(lineOf(preview));
    return exitCodeOf([preview]);
  }
  return (await isConfirmed(out, false, question)) ? undefined : 1;
}

/** Answers in the order of `ids`. */
async function forEachId(
  ids: readonly string[],
  act: (transactionId: string) => Promise<Result>,
  out: Output,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    for (let place = next++; place < ids.length; place = next++) {
      results[place] = await act(ids[place] ?? '');
      showProgress(out, ++done, ids.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, ids.length) }, work));
  return results;
}

const BAR_WIDTH = 30;

function showProgress(out: Output, done: number, of: number): void {
  if (!out.isTerminal) return;
  const bar = '#'.repeat(Math.trunc((done * BAR_WIDTH) / of)).padEnd(BAR_WIDTH);
  out.stderr(`\r[${bar}] ${done}/${of}${done === of ? '\n' : ''}`);
}

function printResults(out: Output, results: readonly Result[]): void {
  const counts = [...Map.groupBy(results, (result) => result.outcome)].map(
    ([outcome, same]) => `${same.length} ${outcome}`,
  );
  out.line(counts.length === 0 ? 'nothing matches the filter' : counts.join(', '));
  for (const result of results) if (result.outcome !== 'done') out.line(lineOf(result));
}

export const lineOf = ({ transactionId, outcome, detail }: Result): string =>
  `${transactionId}  ${outcome}  ${detail}`.trimEnd();

const exitCodeOf = (results: readonly Result[]): ExitCode =>
  results.some(({ outcome }) => outcome === 'refused' || outcome === 'unknown') ? 1 : 0;
