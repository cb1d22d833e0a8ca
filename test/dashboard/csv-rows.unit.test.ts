import { describe, expect, it } from 'vitest';
import { faultsOfRefusal, readBatchFile, withRow } from '../../dashboard/src/merchant/csv-rows.ts';
import { decodeFile } from '../../dashboard/src/ui/spreadsheet.ts';
import { csvOf } from '../../src/domain/csv.ts';
import { BATCH_CSV_COLUMNS } from '../../src/purchases/batches/rules.ts';

const HEAD = 'reference,packageCode';
const readText = (text: string) => readBatchFile(text, ['en', 'fr']);
const read = (...lines: readonly string[]) => readText([HEAD, ...lines].join('\n'));
const linesOf = (text: string) => readText(text).rows.map(({ line }) => line);

describe('the line of a row', () => {
  it('counts line breaks in quotes, empty lines and every kind of line end', () => {
    expect(linesOf(`${HEAD}\na,SIM-OK\n\n"b\nsecond line",SIM-OK\nc,SIM-OK\n`)).toEqual([2, 4, 6]);
    expect(linesOf(`\uFEFF${HEAD}\r\n"a, ""quoted""",SIM-OK\r\n\r\nb,SIM-OK`)).toEqual([2, 4]);
  });

  it('is named together with its error', () => {
    expect(read('"a\nb",SIM-OK', 'c', 'd,SIM-OK,more').faults).toEqual([
      { line: 4, text: '“packageCode” is empty' },
      { line: 5, text: 'cell 3 has a text, but its column has no name' },
    ]);
    expect(read('"a\nb",SIM-OK', '"a\nb",SIM-OK').faults).toEqual([
      { line: 4, text: 'the reference is the same as on line 2' },
    ]);
  });
});

describe('quotes', () => {
  it('that are never closed are an error of their line, and hide no later row', () => {
    expect(read('a,SIM-OK', 'b,"SIM-OK', 'c,SIM-OK')).toEqual({
      rows: [],
      faults: [{ line: 3, text: 'the quote that begins here is never closed' }],
    });
  });

  it('with text after them are an error of their line', () => {
    const { faults } = read('a,SIM-OK', '"b"c,SIM-OK', 'd,SIM-OK');
    expect(faults).toContainEqual({ line: 3, text: 'text follows a closing quote' });
  });

  it('keep commas, quotes and line breaks', () => {
    expect(read('"a, ""b""\nc",SIM-OK').rows).toEqual([
      { line: 2, row: { reference: 'a, "b"\nc', packageCode: 'SIM-OK' } },
    ]);
  });
});

it('each column must be known, present and unique', () => {
  const faults = readText('reference,reference,cost\na,b,c\n').faults.map(({ text }) => text);
  expect(faults).toEqual([
    'the column “packageCode” is missing',
    'the column “cost” is unknown',
    'the column “reference” is there twice',
  ]);
  expect(readText('').faults[0]?.line).toBe(1);
});

it('a refusal by the service names the line of the file', () => {
  const { rows } = read('"a\nb",SIM-OK', '', 'c,SIM-NO');
  expect(
    faultsOfRefusal(
      {
        'rows.1.packageCode': 'Is not on sale',
        'rows.1.reference': 'Is the same as in rows.0',
        'rows.0': 'Must be an object',
        'rows.7.email': 'Is of no row of the file',
        'maxTotalPrice.amount': 'The rows cost 5.00 USD',
      },
      rows,
    ),
  ).toEqual([
    { line: 5, text: 'packageCode: Is not on sale' },
    { line: 5, text: 'reference: Is the same as in line 2' },
    { line: 2, text: 'Must be an object' },
  ]);
});

describe('a file as a spreadsheet saves it', () => {
  const TWO = [
    { line: 2, row: { reference: 'Réservation Anaïs', packageCode: 'SIM-OK' } },
    { line: 3, row: { reference: 'b', packageCode: 'SIM-OK' } },
  ];
  const lines = (separator: string) =>
    [
      ['reference', 'packageCode'],
      ['Réservation Anaïs', 'SIM-OK'],
      ['b', 'SIM-OK'],
    ]
      .map((cells) => cells.join(separator))
      .join('\r\n');

  it.each([',', ';', '\t', '|'])('may be separated by %j', (separator) => {
    expect(readText(lines(separator))).toEqual({ rows: TWO, faults: [] });
    expect(readText(`"reference"${separator}"packageCode"\r\nb${separator}SIM-OK\r\n`)).toEqual({
      rows: [{ ...TWO[1], line: 2 }],
      faults: [],
    });
  });

  it('may name its separator, which is no row', () => {
    const rows = TWO.map(({ line, row }) => ({ line: line + 1, row }));
    expect(readText(`sep=;\r\n${lines(';')}`)).toEqual({ rows, faults: [] });
    expect(readText(`"sep=\t"\n${lines('\t')}`)).toEqual({ rows, faults: [] });
  });

  it.each([
    ['UTF-8', Buffer.from(lines(';'))],
    ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${lines(';')}`)],
    ['Windows-1252', Buffer.from(lines(';'), 'latin1')],
    ['UTF-16LE', Buffer.from(`\uFEFF${lines('\t')}`, 'utf16le')],
    ['UTF-16LE without a mark', Buffer.from(lines('\t'), 'utf16le')],
    ['UTF-16BE', Buffer.from(`\uFEFF${lines('\t')}`, 'utf16le').swap16()],
  ])('may be in %s', (_encoding, bytes) => {
    expect(readText(decodeFile(bytes) ?? '')).toEqual({ rows: TWO, faults: [] });
  });

  it('is no workbook', () => {
    expect(decodeFile(Buffer.from('PK\u0003\u0004\u0014'))).toBeUndefined();
  });

  it('may have padded and capital headings, empty columns and empty cells at the end', () => {
    const text = ' Reference ,PACKAGE_CODE,Package code 2,,\na,SIM-OK,,,\nb,SIM-OK,,,,,\n';
    expect(readText(text).faults.map((fault) => fault.text)).toEqual([
      'the column “Package code 2” is unknown',
    ]);
    expect(readText(' Reference ,PACKAGE_CODE,,\na,SIM-OK,,\nb,SIM-OK,,,,,\n')).toEqual({
      rows: [
        { line: 2, row: { reference: 'a', packageCode: 'SIM-OK' } },
        { line: 3, row: { reference: 'b', packageCode: 'SIM-OK' } },
      ],
      faults: [],
    });
  });

  it.each(['8.94E+18', '8,94E+18', '8944000000000000000'])(
    'is refused where it has rounded %s',
    (reference) => {
      expect(read(`"${reference}",SIM-OK`).faults).toEqual([
        {
          line: 2,
          text: `a spreadsheet has rounded “${reference}”: make its column a text column, and enter it again`,
        },
      ]);
      expect(read('8999926112619380143,SIM-OK').faults).toEqual([]);
    },
  );

  it.each(['1/2/2026', '2026-02-30T09:30:00Z', '46053.39', '2026-01-31 09:30'])(
    'is refused where a time has become %s',
    (sendAt) => {
      const { faults } = readText(`${HEAD},email,sendAt\na,SIM-OK,a@traveller.example,${sendAt}`);
      expect(faults).toEqual([{ line: 2, text: `“${sendAt}” is not a time such as 2026-01-31T09:30:00Z` }]);
    },
  );

  it('is refused where a character is hidden', () => {
    expect(read('a\u200B1,SIM-OK').faults).toEqual([
      { line: 2, text: '“reference” has a character that nobody sees, U+200B' },
    ]);
  });

  it('is refused where it names a top-up', () => {
    expect(read('a,TOPUP_SIM-OK').faults).toEqual([
      { line: 2, text: '“TOPUP_SIM-OK” is a top-up: buy it on the page of its eSIM' },
    ]);
  });

  it('is refused where a letter is broken', () => {
    expect(read('R\uFFFDservation,SIM-OK').faults).toEqual([
      { line: 2, text: 'a letter is broken (\uFFFD): save the file as “CSV UTF-8”' },
    ]);
  });
});

it('results that we saved can be read back: what failed is ordered again, nothing else', () => {
  const row = (reference: string, status: string) => [
    ...['1', reference, 'SIM-OK', '', status, '', '', '', '', '', '', '', ''],
  ];
  const text = csvOf(BATCH_CSV_COLUMNS, [
    row('=1+1;=2', 'FAILED'),
    row("it's -5", 'FAILED'),
    row('c', 'SUCCESS'),
  ]);
  const { rows, faults } = readText(`\uFEFF${text}`);
  expect(rows.map((one) => one.row.reference)).toEqual(['=1+1;=2', "it's -5", 'c']);
  expect(faults).toEqual([
    {
      line: 4,
      text: 'its status is SUCCESS: remove the row, or delete the column “status” to buy it again',
    },
  ]);
});

it('a row that is edited or removed is checked again with the others', () => {
  const file = read('a,SIM-OK', 'a,SIM-OK', ',SIM-OK');
  expect(file.faults.map(({ line }) => line)).toEqual([3, 4]);
  const named = withRow(file, 4, { reference: 'a', packageCode: 'SIM-OK' }, ['en']);
  expect(named.faults.map(({ line }) => line)).toEqual([3, 4]);
  const dropped = withRow(named, 2, undefined, ['en']);
  expect(dropped.rows.map(({ line }) => line)).toEqual([3, 4]);
  expect(dropped.faults).toEqual([{ line: 4, text: 'the reference is the same as on line 3' }]);
  const whole = withRow(dropped, 4, { reference: 'b', packageCode: 'SIM-OK', language: 'en' }, ['en']);
  expect(whole.faults).toEqual([]);
});

it('a row that was bought stays refused when it is edited', () => {
  const file = readText('reference,packageCode,status\na,SIM-OK,SUCCESS\n');
  const { faults } = withRow(file, 2, { reference: 'b', packageCode: 'SIM-OK' }, ['en']);
  expect(faults.map(({ text }) => text)).toEqual([expect.stringContaining('its status is SUCCESS')]);
});
