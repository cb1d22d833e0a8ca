// CSV: any field can be read back by RFC 4180's grammar, and no field is a formula to a spreadsheet.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvOf } from '../../src/domain/csv.ts';

/** RFC 4180's grammar, read literally. */
function parse(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let field = '';
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        if (text[at] === '"') at += 1;
        field += text.charAt(at);
      }
      at += 1;
    } else {
      for (; text[at] !== ',' && text[at] !== '\r'; at += 1) field += text.charAt(at);
    }
    row.push(field);
    if (text[at] === ',') {
      at += 1;
      continue;
    }
    expect(text.slice(at, at + 2)).toBe('\r\n');
    at += 2;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe('comma-separated values', () => {
  it('have their columns first, quotes where required, and lines that end in CRLF', () => {
    expect(
      csvOf(
        ['a', 'b'],
        [
          ['1', 'x,y'],
          ['2', 'say "hi"\r\n'],
        ],
      ),
    ).toBe('a,b\r\n1,"x,y"\r\n2,"say ""hi""\r\n"\r\n');
  });

  it('can be read back unchanged', () => {
    const field = fc.string({ unit: fc.constantFrom('a', 'b', '1', ',', '"', '\r', '\n', ';', ' ', '€') });
    fc.assert(
      fc.property(fc.array(fc.tuple(field, field, field), { minLength: 1 }), (rows) => {
        const plain = rows.map((row) => row.map((value) => `v${value}`));
        expect(parse(csvOf(['a', 'b', 'c'], plain))).toEqual([['a', 'b', 'c'], ...plain]);
      }),
    );
  });

  it.each(['=1+1', '+cmd', '-cmd', '-1+cmd', '-1.5+cmd', '=1-1', '@sum', '\tx'])(
    'keep %j from being a formula',
    (value) => {
      expect(parse(csvOf(['a'], [[value]]))).toEqual([['a'], [`'${value}`]]);
    },
  );

  it('keep every cell from being a formula, at whichever separator a spreadsheet splits them', () => {
    const units = ['a', '1', ' ', '"', ';', '|', '\t', '\n', '=', '＝', '+', '-', '@', '\u200b'];
    const field = fc.string({ unit: fc.constantFrom(...units) });
    fc.assert(
      fc.property(field, field, (one, other) => {
        const text = csvOf(['a', 'b'], [[one, other]]).slice('a,b\r\n'.length);
        const cells = [...(parse(text)[0] ?? []), ...text.split(/[;|\t\r\n]/)];
        const formulas = cells.filter((cell) => /^[\s\u200b"]*[=＝+\-@]/.test(cell));
        expect(formulas.filter((cell) => !/^-\d+(,|$)/.test(cell))).toEqual([]);
      }),
    );
  });

  it.each([
    ['x;=1+1;y', "x;'=1+1;y"],
    ['＝1+1', "'＝1+1"],
    ['x\n@sum', "x\n'@sum"],
    ['a - b', 'a - b'],
  ])('have %j as %j', (value, written) => {
    expect(parse(csvOf(['a'], [[value]]))).toEqual([['a'], [written]]);
  });

  it('leave amounts below zero alone', () => {
    expect(csvOf(['a'], [['-12.50'], ['-12']])).toBe('a\r\n-12.50\r\n-12\r\n');
  });
});
