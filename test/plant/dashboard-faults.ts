// Faults in how the dashboard reads files of rows, from which money is spent.
import { type Fault, faultsIn } from './fault.ts';

const CSV_ROWS = 'test/dashboard/csv-rows.unit.test.ts';

export const DASHBOARD_FAULTS: readonly Fault[] = [
  ...faultsIn('dashboard/src/ui/spreadsheet.ts', CSV_ROWS, {
    'a file in Windows-1252 has broken letters': [
      "new TextDecoder('windows-1252')",
      "new TextDecoder('utf-8')",
    ],
    'a file in UTF-16 is not read': ['if (utf16 !== undefined)', 'if (utf16 === null)'],
    'a workbook is read as text': ['if (ZIP.every((byte, at) => bytes[at] === byte)) return undefined;', ''],
    'a line that names the separator is a row': [
      'const rest = text.slice(naming.length);',
      'const rest = text;',
    ],
    'a number that a spreadsheet rounded is taken': [
      '/^\\d+([.,]\\d+)?E\\+?\\d+$/i.test(text) || /^\\d{15}0{4,}$/.test(text)',
      'text === undefined',
    ],
    'our own apostrophes become part of a reference': ['withoutApostrophes(cell.trim())', 'cell.trim()'],
  }),
  ...faultsIn('dashboard/src/merchant/csv-rows.ts', CSV_ROWS, {
    'headings must be written as we write them': ['plain(name) === plain(heading)', 'name === heading'],
    'a text in a column without a name is lost': ['if (nameless >= 0)', 'if (nameless > 1_000)'],
    'a row that was delivered is bought again': [
      "if (status !== '' && status !== 'FAILED')",
      "if (status === '-')",
    ],
    'a reference is bought twice': ['before === undefined ? [] :', 'before !== -1 ? [] :'],
    'a row that is removed is bought': [
      'return row ? { ...one, row } : [];',
      'return { ...one, row: row ?? one.row };',
    ],
    'a broken letter is bought': ["if (found === 'U+FFFD') return", "if (found === '') return"],
    'a day that does not exist is a time': [
      "isRealDay(TIME.exec(text)?.[1] ?? '') && ",
      'TIME.test(text) && ',
    ],
  }),
];
