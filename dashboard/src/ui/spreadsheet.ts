/** Files that people save from a spreadsheet, as text and as lines of cells. */
import Papa from 'papaparse';

export interface LineFault {
  readonly line: number;
  readonly text: string;
}

export interface CsvRecord {
  /** Where it begins in the file, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Of a zip file, as which Excel and LibreOffice save their workbooks. */
const ZIP = [0x50, 0x4b, 0x03, 0x04];

/**
 * The text of a file. Windows-1252 is what Excel saves as "CSV" in Western Europe: it is taken where the
 * bytes are no UTF-8. Undefined for a workbook.
 */
export function decodeFile(bytes: Uint8Array): string | undefined {
  if (ZIP.every((byte, at) => bytes[at] === byte)) return undefined;
  const utf16 = utf16Of(bytes);
  if (utf16 !== undefined) return new TextDecoder(utf16).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** By its byte order mark, or by the zero that half the bytes of Latin letters are. */
function utf16Of([first, second]: Uint8Array): string | undefined {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? 'utf-16be' : undefined;
}

/**
 * Rows that are not empty, with blanks around their cells taken off. A first line such as `sep=;` names the
 * separator; otherwise it is the one that gives most known names in the first line. Our own apostrophe
 * before a formula is taken off.
 */
export function parseCsv(
  source: string,
  isName: (heading: string) => boolean,
): {
  readonly records: readonly CsvRecord[];
  readonly faults: readonly LineFault[];
} {
  const text = source.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const [naming = '', named] = /^"?sep=(.)"?(?=\n)/i.exec(text) ?? [];
  const rest = text.slice(naming.length);
  const records: CsvRecord[] = [];
  const faults: LineFault[] = [];
  // Papa Parse counts characters, so lines are counted between the records.
  let [start, line] = [0, 1];
  Papa.parse<string[]>(rest, {
    delimiter: named ?? delimiterOf(rest, isName),
    newline: '\n',
    step: ({ data, errors, meta }) => {
      const lineAt = (end: number): number => line + lineBreaks(rest.slice(start, end));
      for (const { index, code } of errors) {
        const what =
          code === 'MissingQuotes'
            ? 'the quote that begins here is never closed'
            : 'text follows a closing quote';
        faults.push({ line: lineAt(index ?? start), text: what });
      }
      const cells = data.map((cell) => withoutApostrophes(cell.trim()));
      if (cells.some((cell) => cell !== '')) records.push({ line, cells });
      [start, line] = [meta.cursor, lineAt(meta.cursor)];
    },
  });
  return { records, faults };
}

function delimiterOf(text: string, isName: (heading: string) => boolean): string {
  const namesBy = (delimiter: string): number => {
    const { data } = Papa.parse<string[]>(text.trimStart(), { delimiter, newline: '\n', preview: 1 });
    return (data[0] ?? []).filter(isName).length;
  };
  return [';', '\t', '|'].reduce((best, next) => (namesBy(next) > namesBy(best) ? next : best), ',');
}

const lineBreaks = (text: string): number => text.split('\n').length - 1;

const withoutApostrophes = (cell: string): string =>
  cell.replaceAll(/(^|[;|\t\n])'(?=[\s\p{Cf}"]*[=+\-@＝＋－＠﹦﹢﹣﹫])/gu, '$1');

/** A long number that a spreadsheet has rounded: 8.94E+18, or zeros behind the 15 digits that it keeps. */
export const isRounded = (text: string): boolean =>
  /^\d+([.,]\d+)?E\+?\d+$/i.test(text) || /^\d{15}0{4,}$/.test(text);
