/**
 * Applies an action to the one id that was named, or to everything on the stuck list that a filter finds.
 * Without --yes it asks first.
 */
import { dataOf, Refusal, type Ops } from 'simway-client';
import type { components } from 'simway-client/generated/ops.ts';
import type { z } from 'zod';
import { STUCK_CLASSES } from '../../operations/stuck-rules.ts';
import { defined, option, UsageMistake, type ExitCode } from '../../platform/command.ts';
import { MAX_JOB_ROWS } from '../../jobs/rules.ts';
import { currency, duration, listOf } from '../values.ts';
import type { FinanceRequest } from './group.ts';
import { age, allPages, isConfirmed, money, notConfirmed, type Output } from './output.ts';

/** Options that narrow the stuck list. */
export const FILTER = {
  class: option(listOf(STUCK_CLASSES).optional(), 'only these classes, separated by commas', 'class'),
  olderThan: option(duration.optional(), 'only what is stuck for longer: 30m, 2h, 3d', 'time'),
  currency: option(currency.optional(), 'only amounts in this currency, such as NGN', 'code'),
};

type Filter = z.output<z.ZodObject<typeof FILTER>>;

export type StuckItem = components['schemas']['StuckItem'];

/** What the filter finds, the longest stuck first, with what the list says of itself. */
export async function findStuck(ops: Ops, { class: classes, olderThan, currency: code }: Filter) {
  const found = await Promise.all(
    (classes ?? [undefined]).map((wanted) =>
      allPages((page) => {
        const filter = defined({ class: wanted, olderThanSeconds: olderThan, currency: code });
        return dataOf(ops.GET('/ops/stuck', { params: { query: { ...page, ...filter } } }));
      }),
    ),
  );
  return {
    items: found.flatMap(({ items }) => items).toSorted((a, b) => b.ageSeconds - a.ageSeconds),
    isCut: found.some(({ isCut }) => isCut),
    temporalAsked: found.every(({ temporalAsked }) => temporalAsked),
  };
}

export const STUCK_COLUMNS = ['AGE', 'CLASS', 'TRANSACTION', 'AMOUNT', 'REASON'];

export const stuckRow = (item: StuckItem): string[] => [
  age(item.ageSeconds),
  item.class,
  item.transactionId,
  money(item.amount, item.currency),
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
  readonly preview?: components['schemas']['ActionEffect']['data'];
};

interface Batch {
  readonly request: FinanceRequest<Filter & { readonly yes: boolean; readonly dryRun: boolean }>;
  /** For the question: `Replay`. */
  readonly verb: string;
  /** What `act` would do. Without it `act` itself changes nothing in a dry run. */
  readonly preview?: (transactionId: string) => Promise<Preview>;
  readonly act: (transactionId: string) => Promise<Result>;
  /** A batch repair, which a second person approves. Without it the items are acted on one by one. */
  readonly repair?: BatchRepair | undefined;
}

/** As many at one time as a worker takes beside its other work. */
const AT_ONCE = 8;

export async function applyToTargets(batch: Batch): Promise<ExitCode> {
  const { request, preview, verb, repair } = batch;
  const { out, options, ops } = request;
  const act = (one: string) => refusedOr(one, () => batch.act(one));
  const [id] = request.args;
  const { class: classes, olderThan, currency } = options;
  if (id !== undefined && [classes, olderThan, currency].some((value) => value !== undefined))
    throw new UsageMistake('Give either an id or a filter, not both');
  if (id !== undefined) {
    const ended = await previewOne(batch, id);
    if (ended !== undefined) return ended;
    const result = await act(id);
    out.json(result);
    out.line(lineOf(result));
    return exitCodeOf([result]);
  }
  if (classes === undefined) throw new UsageMistake('Give an id, or --class');
  if (repair) return askForRepairs(batch, repair, classes);
  const { items } = await findStuck(ops, options);
  out.table(STUCK_COLUMNS, items.map(stuckRow));
  const ids = [...new Set(items.map((item) => item.transactionId))];
  const question = `${verb} ${ids.length === 1 ? '1 item' : `${ids.length} items`}?`;
  if (!options.dryRun && ids.length > 0 && !(await isConfirmed(out, options.yes, question))) return 1;
  const each = options.dryRun && preview ? (one: string) => refusedOr(one, () => preview(one)) : act;
  const results = await forEachId(ids, each, out);
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

/**
 * Shows what would be done and asks for confirmation. Returns an exit code if the command ends here: after a
 * dry run, a refusal or a no.
 */
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

interface BatchRepair {
  readonly action: components['schemas']['BatchRepairRequest']['action'];
  readonly reason: string | undefined;
  readonly evidence?: string | undefined;
}

/** Asks for one batch repair of each class. Nothing is done before a second person approves it. */
async function askForRepairs(
  { request: { ops, out, options }, verb }: Batch,
  { action, reason, evidence }: BatchRepair,
  classes: readonly StuckItem['class'][],
): Promise<ExitCode> {
  const { olderThan, currency: code, dryRun, yes } = options;
  const results: object[] = [];
  for (const one of classes) {
    const filter = defined({ class: one, olderThanSeconds: olderThan, currency: code });
    const asked = { action, filter, maxRows: MAX_JOB_ROWS, ...defined({ evidence }) };
    const plan = await dataOf(ops.POST('/ops/batch-repairs/preview', { body: asked }));
    out.table(
      ['CLASS', 'TRANSACTION', 'AMOUNT', 'EFFECT'],
      plan.items.map((one) => [one.class, one.transactionId, money(one.amount, one.currency), one.preview]),
    );
    const possible = plan.items.filter(({ isPossible }) => isPossible).length;
    const unsure = plan.items.filter(({ isPossible, isSure }) => isPossible && !isSure).length;
    if (unsure > 0)
      out.line(
        `${unsure} not sure: refused while the supplier may deliver${evidence === undefined ? '; give --evidence that it will not' : ''}`,
      );
    if (dryRun || possible === 0) {
      results.push(...plan.items);
      if (plan.items.length === 0) out.line('nothing matches the filter');
      continue;
    }
    const question = `${verb} ${possible === 1 ? '1 item' : `${possible} items`}?`;
    if (!(await isConfirmed(out, yes, question))) {
      out.json(results);
      return 1;
    }
    const body = { ...asked, reason: reason ?? '' };
    const repair = await dataOf(ops.POST('/ops/batch-repairs', { body }));
    results.push(repair);
    out.line(
      `a second person must approve it until ${repair.expiresAt}: npm run finance -- approve ${repair.repairId} --reason '…'`,
    );
  }
  out.json(results);
  return 0;
}

/** What the service refused, as a result. A session that is over or too old ends the command. */
export async function refusedOr<R extends Result>(
  transactionId: string,
  work: () => Promise<R>,
): Promise<R | (Result & { readonly code: string; readonly fits: readonly string[]; readonly lines: [] })> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 401 || error.status === 0) throw error;
    if (error.code === 'CONFIRMATION_REQUIRED') throw error;
    const { code, refusal = code, message, details, fits } = error;
    const outcome = error.status >= 500 ? 'unknown' : 'refused';
    const available = error.refusal === undefined ? '' : `; ${availableOf(fits)}`;
    const detail = `${refusal}: ${details ?? message}${available}`;
    return { transactionId, outcome, code: refusal, fits, detail, lines: [] };
  }
}

const availableOf = (fits: readonly string[]): string =>
  fits.length === 0 ? 'no action is available' : `available actions: ${fits.join(', ')}`;

const BAR_WIDTH = 30;

export function showProgress(out: Output, done: number, of: number): void {
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
