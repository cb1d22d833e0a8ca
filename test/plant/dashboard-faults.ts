// Faults in how the dashboard reads files of rows, from which money is spent, and in what it says of money.
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
  ...faultsIn('dashboard/src/merchant/todo.ts', 'test/dashboard/todo.unit.test.ts', {
    'Home does not say that the balance is low': ['balance < lowBelow;', 'balance < -lowBelow;'],
    'Home does not say that the balance will not last': ['days >= MIN_DAYS_LEFT', 'days >= 0'],
    'Home does not say that the account owes money': ['if (owed > 0)', 'if (owed < 0)'],
    'the chart of the balance begins with what it is now': ['oldest.balanceAfter - oldest.amount', 'balance'],
  }),
  ...faultsIn('dashboard/src/ui/chart-scales.ts', 'test/dashboard/chart-scales.unit.test.ts', {
    'bars are compared from above zero': ['if (fromZero) return', 'if (lowest < 0) return'],
    'one value has no range': ['Math.abs(lowest) * ROOM : ', '0 : '],
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
