/**
 * A spreadsheet reads a cell that begins so as a formula. One that splits at semicolons, tabs or bars begins
 * a cell after each of them, and after a line break, wherever our quotes are. Blanks, quotes and characters
 * without a width before the sign do not count; full-width signs do.
 */
const FORMULA = /(^|[;|\t\r\n])(?=(?:(?![\t\r\n])[\s\p{Cf}"])*[=+\-@＝＋－＠﹦﹢﹣﹫])/gu;
const NEGATIVE_NUMBER = /^-\d+(\.\d+)?$/;

/** `next`: more match than one file has, and the id of its last line, behind which the next one begins. */
export interface CsvFile {
  readonly csv: string;
  readonly next: string | undefined;
}

/** RFC 4180, with CRLF. */
export function csvOf(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(fieldOf).join(',')}\r\n`).join('');
}

function fieldOf(value: string): string {
  const text = withoutFormulas(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** With an apostrophe before each formula, the usual sign of a spreadsheet for text. */
const withoutFormulas = (value: string): string =>
  NEGATIVE_NUMBER.test(value) ? value : value.replace(/^[\t\r]/, "'$&").replaceAll(FORMULA, "$1'");
