import { deceivingCharacter } from 'simway-client/search-text.ts';
import type { ApiSchemas } from '../api/client.ts';
import { isRealDay } from '../ui/address.ts';
import { isRounded, parseCsv, type LineFault } from '../ui/spreadsheet.ts';
import { isTopUpCode } from './filters.ts';

export type { LineFault } from '../ui/spreadsheet.ts';

export type BatchRow = ApiSchemas['BatchRequest']['rows'][number];

export const BATCH_COLUMNS = ['reference', 'packageCode', 'email', 'sendAt', 'language'] as const;
/** The other columns of the results that we save: what failed can be ordered again from such a file. */
const RESULT_COLUMNS = [
  ...['row', 'transactionId', 'status', 'reason', 'esimId', 'emailStatus'],
  ...['price', 'currency', 'iccid', 'installUrl'],
  ...['activationCode', 'smdpAddress', 'matchingId', 'qrCodeUrl'],
] as const;
const NEEDED = ['reference', 'packageCode'] as const;
export const MAX_ROWS = 500;

/** Whole where the file has no fault. */
export type ReadRow = Partial<Omit<BatchRow, 'metadata'>>;

export interface FileRow {
  readonly line: number;
  readonly row: ReadRow;
  /** Beside what is wrong with the row itself. */
  readonly inFile?: readonly string[];
}

export interface ReadFile {
  readonly rows: readonly FileRow[];
  readonly faults: readonly LineFault[];
}

/** The rows after one is changed, or dropped where `row` is undefined, and what is wrong with them now. */
export function withRow(
  { rows }: Pick<ReadFile, 'rows'>,
  line: number,
  row: ReadRow | undefined,
  languages: readonly string[],
): ReadFile {
  const changed = rows.flatMap((one) => {
    if (one.line !== line) return one;
    return row ? { ...one, row } : [];
  });
  return { rows: changed, faults: faultsOfRows(changed, languages) };
}

function faultsOfRows(rows: readonly FileRow[], languages: readonly string[]): LineFault[] {
  const seen = new Map<string, number>();
  return rows.flatMap(({ line, row, inFile = [] }) => {
    const { reference = '' } = row;
    const before = seen.get(reference);
    if (before === undefined && reference !== '') seen.set(reference, line);
    const isTwice = before === undefined ? [] : [`the reference is the same as on line ${String(before)}`];
    return [...faultsOf(row, languages), ...inFile, ...isTwice].map((text) => ({ line, text }));
  });
}

/** Reads the text of a file with a line of names. `languages`: those that a row may name. */
export function readBatchFile(text: string, languages: readonly string[]): ReadFile {
  const { records, faults: broken } = parseCsv(text, isColumn);
  if (broken.length > 0) return { rows: [], faults: broken };
  const [head, ...lines] = records;
  const names = (head?.cells ?? []).map(columnOf);
  const headFaults = faultsOfHead(names);
  if (headFaults.length > 0)
    return { rows: [], faults: headFaults.map((fault) => ({ line: head?.line ?? 1, text: fault })) };
  if (lines.length > MAX_ROWS) {
    const text = `there are ${String(lines.length)} rows; a batch takes ${String(MAX_ROWS)}`;
    return { rows: [], faults: [{ line: 1, text }] };
  }
  const rows = lines.map(({ line, cells }): FileRow => {
    const row = Object.fromEntries(
      names
        .map((name, at) => [name, cells[at] ?? ''] as const)
        .filter(([name, value]) => value !== '' && BATCH_COLUMNS.some((column) => column === name)),
    ) as Record<string, string>;
    const inFile: string[] = [];
    const status = cells[names.indexOf('status')] ?? '';
    if (status !== '' && status !== 'FAILED')
      inFile.push(`its status is ${status}: remove the row, or delete the column “status” to buy it again`);
    // A spreadsheet fills lines up with empty cells.
    const nameless = cells.findIndex((cell, at) => cell !== '' && (names[at] ?? '') === '');
    if (nameless >= 0) inFile.push(`cell ${String(nameless + 1)} has a text, but its column has no name`);
    return { line, row, ...(inFile.length > 0 && { inFile }) };
  });
  if (rows.length === 0)
    return { rows, faults: [{ line: 1, text: 'there is no row below the column names' }] };
  return { rows, faults: faultsOfRows(rows, languages) };
}

/** What the service refused in these rows, by line of the file. Empty where it refused none of them. */
export function faultsOfRefusal(
  byField: Readonly<Record<string, string>>,
  rows: ReadFile['rows'],
): readonly LineFault[] {
  return Object.entries(byField).flatMap(([field, text]) => {
    const [, index, name] = /^rows\.(\d+)(?:\.(\w+))?$/.exec(field) ?? [];
    const line = rows[Number(index ?? Number.NaN)]?.line;
    if (line === undefined) return [];
    const sameLine = text.replace(/rows\.(\d+)/g, (whole, other: string) => lineName(rows, other) ?? whole);
    return [{ line, text: name === undefined ? sameLine : `${name}: ${sameLine}` }];
  });
}

function lineName(rows: ReadFile['rows'], index: string): string | undefined {
  const line = rows[Number(index)]?.line;
  return line === undefined ? undefined : `line ${String(line)}`;
}

/** The column that a heading means: `Package code ` and `PACKAGE_CODE` are packageCode. */
function columnOf(heading: string): string {
  const plain = (text: string) =>
    text
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/[\s_-]/g, '');
  return KNOWN.find((name) => plain(name) === plain(heading)) ?? heading;
}

const KNOWN: readonly string[] = [...BATCH_COLUMNS, ...RESULT_COLUMNS];
const isColumn = (heading: string): boolean => KNOWN.includes(columnOf(heading));

function faultsOfHead(names: readonly string[]): string[] {
  return [
    ...NEEDED.filter((name) => !names.includes(name)).map((name) => `the column “${name}” is missing`),
    ...names
      .filter((name) => name !== '' && !KNOWN.includes(name))
      .map((name) => `the column “${name}” is unknown`),
    ...names
      .filter((name, at) => name !== '' && names.indexOf(name) !== at)
      .map((name) => `the column “${name}” is there twice`),
  ];
}

const TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

const isTime = (text: string): boolean =>
  isRealDay(TIME.exec(text)?.[1] ?? '') && !Number.isNaN(Date.parse(text));

function faultsOf(row: ReadRow, languages: readonly string[]): string[] {
  const { reference, packageCode, email, sendAt, language } = row;
  return [
    ...NEEDED.filter((name) => row[name] === undefined).map((name) => `“${name}” is empty`),
    ...[reference, packageCode]
      .filter((text) => text !== undefined && isRounded(text))
      .map(
        (text) =>
          `a spreadsheet has rounded “${String(text)}”: make its column a text column, and enter it again`,
      ),
    ...NEEDED.flatMap((name) => {
      const found = deceivingCharacter(row[name] ?? '');
      if (found === 'U+FFFD') return 'a letter is broken (�): save the file as “CSV UTF-8”';
      return found === undefined ? [] : `“${name}” has a character that nobody sees, ${found}`;
    }),
    ...(isTopUpCode(packageCode ?? '')
      ? [`“${String(packageCode)}” is a top-up: buy it on the page of its eSIM`]
      : []),
    ...(email !== undefined && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)
      ? [`“${email}” is not an e-mail address`]
      : []),
    ...(sendAt !== undefined && !isTime(sendAt)
      ? [`“${sendAt}” is not a time such as 2026-01-31T09:30:00Z`]
      : []),
    ...(sendAt !== undefined && email === undefined ? ['“sendAt” needs an e-mail address'] : []),
    ...(language !== undefined && !languages.includes(language)
      ? [`“${language}” is not one of our languages: ${languages.join(', ')}`]
      : []),
  ];
}
