/** Tables as comma-separated values, RFC 4180: fields are quoted where they must be, lines end in CRLF. Pure. */

/** Spreadsheets take text that begins so for a formula; numbers below zero are none. */
const FORMULA = /^[=+\-@\t\r]/;
const NEGATIVE_NUMBER = /^-\d+(\.\d+)?$/;

export function csvOf(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(fieldOf).join(',')}\r\n`).join('');
}

function fieldOf(value: string): string {
  const text = FORMULA.test(value) && !NEGATIVE_NUMBER.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
