import { describe, expect, it } from 'vitest';
import { faultsOfRefusal, readBatchFile } from '../../dashboard/src/merchant/csv-rows.ts';

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
      { line: 5, text: 'there are 3 cells, but 2 columns' },
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
  const faults = readText('reference,reference,price\na,b,c\n').faults.map(({ text }) => text);
  expect(faults).toEqual([
    'the column “packageCode” is missing',
    'the column “price” is unknown',
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
