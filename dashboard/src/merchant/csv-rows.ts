import Papa from 'papaparse';
import type { ApiSchemas } from '../api/client.ts';

export type BatchRow = ApiSchemas['BatchRequest']['rows'][number];

const COLUMNS = ['reference', 'packageCode', 'email', 'sendAt', 'language'] as const;
const NEEDED = ['reference', 'packageCode'] as const;
export const MAX_ROWS = 500;

export interface LineFault {
  readonly line: number;
  readonly text: string;
}

export interface ReadFile {
  readonly rows: readonly { readonly line: number; readonly row: BatchRow }[];
  readonly faults: readonly LineFault[];
}

/** Reads a CSV file with a line of names. `languages`: those that a row may name. */
export function readBatchFile(text: string, languages: readonly string[]): ReadFile {
  const { records, faults: broken } = parseCsv(text.replace(/^\uFEFF/, ''));
  if (broken.length > 0) return { rows: [], faults: broken };
  const [head, ...lines] = records;
  const names = head?.cells ?? [];
  const headFaults = faultsOfHead(names);
  if (headFaults.length > 0)
    return { rows: [], faults: headFaults.map((text) => ({ line: head?.line ?? 1, text })) };
  const seen = new Map<string, number>();
  const faults: LineFault[] = [];
  const rows = lines.map(({ line, cells }) => {
    const row = Object.fromEntries(
      names.map((name, at) => [name, cells[at] ?? '']).filter(([, value]) => value !== ''),
    ) as Record<string, string>;
    for (const text of faultsOf(row, { cells: cells.length, names: names.length, languages }))
      faults.push({ line, text });
    const before = seen.get(row['reference'] ?? '');
    if (before !== undefined)
      faults.push({ line, text: `the reference is the same as on line ${String(before)}` });
    else if (row['reference'] !== undefined) seen.set(row['reference'], line);
    return { line, row: row as unknown as BatchRow };
  });
  if (rows.length === 0) faults.push({ line: 1, text: 'there is no row below the column names' });
  if (rows.length > MAX_ROWS)
    faults.push({
      line: 1,
      text: `there are ${String(rows.length)} rows; a batch takes ${String(MAX_ROWS)}`,
    });
  return { rows, faults };
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

function faultsOfHead(names: readonly string[]): string[] {
  return [
    ...NEEDED.filter((name) => !names.includes(name)).map((name) => `the column “${name}” is missing`),
    ...names
      .filter((name) => !COLUMNS.some((one) => one === name))
      .map((name) => `the column “${name}” is unknown`),
    ...names
      .filter((name, at) => names.indexOf(name) !== at)
      .map((name) => `the column “${name}” is there twice`),
  ];
}

function faultsOf(
  row: Readonly<Record<string, string>>,
  { cells, names, languages }: { cells: number; names: number; languages: readonly string[] },
): string[] {
  const { email, sendAt, language } = row;
  return [
    ...(cells > names ? [`there are ${String(cells)} cells, but ${String(names)} columns`] : []),
    ...NEEDED.filter((name) => row[name] === undefined).map((name) => `“${name}” is empty`),
    ...(email !== undefined && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)
      ? [`“${email}” is not an e-mail address`]
      : []),
    ...(sendAt !== undefined && Number.isNaN(Date.parse(sendAt)) ? [`“${sendAt}” is not a time`] : []),
    ...(sendAt !== undefined && email === undefined ? ['“sendAt” needs an e-mail address'] : []),
    ...(language !== undefined && !languages.includes(language)
      ? [`“${language}” is not one of our languages: ${languages.join(', ')}`]
      : []),
  ];
}

interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/** Papa Parse counts characters, so lines are counted between the records. */
function parseCsv(source: string): { readonly records: CsvRecord[]; readonly faults: LineFault[] } {
  const text = source.replace(/\r\n?/g, '\n');
  const records: CsvRecord[] = [];
  const faults: LineFault[] = [];
  let [start, line] = [0, 1];
  Papa.parse<string[]>(text, {
    delimiter: ',',
    newline: '\n',
    step: ({ data, errors, meta }) => {
      const lineAt = (end: number): number => line + lineBreaks(text.slice(start, end));
      for (const { index, code } of errors) {
        const what =
          code === 'MissingQuotes'
            ? 'the quote that begins here is never closed'
            : 'text follows a closing quote';
        faults.push({ line: lineAt(index ?? start), text: what });
      }
      const cells = data.map((cell) => cell.trim());
      if (cells.some((cell) => cell !== '')) records.push({ line, cells });
      [start, line] = [meta.cursor, lineAt(meta.cursor)];
    },
  });
  return { records, faults };
}

const lineBreaks = (text: string): number => text.split('\n').length - 1;
