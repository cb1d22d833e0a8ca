import { describe, expect, it } from 'vitest';
import { numberText, readNumber, type NumberRules } from '../../dashboard/src/ui/numbers.ts';

const read = (text: string, locale: string, rules: NumberRules = {}) => {
  const { value, fault } = readNumber(text, rules, locale);
  return fault ?? value;
};
const UNCLEAR = {
  'en-NG': 'Not clear. Write it like 1234.50 or 1,234.50',
  'de-DE': 'Not clear. Write it like 1234,50 or 1.234,50',
  'fr-FR': 'Not clear. Write it like 1234,50 or 1\u202F234,50',
};

describe('the grouping of the locale', () => {
  it.each([
    ['en-NG', '150,000', 150_000],
    ['en-NG', '150,000.00', 150_000],
    ['en-NG', '2,500', 2_500],
    ['en-NG', '1,234,567.89', 1_234_567.89],
    ['en-IN', '1,50,000', 150_000],
    ['de-DE', '150.000', 150_000],
    ['de-DE', '1.234,5', 1_234.5],
    ['fr-FR', '1 234,50', 1_234.5],
    ['fr-FR', '1\u202F234,50', 1_234.5],
    ['de-CH', '1’234.50', 1_234.5],
    ['en-NG', ' 150 000 ', 150_000],
    ['en-NG', '１５０', 150],
    ['ar-EG', '١٢٣٤', 1_234],
  ])('in %s, %s is %d', (locale, text, value) => {
    expect(read(text, locale)).toBe(value);
  });

  it.each(['en-NG', 'de-DE', 'fr-FR', 'de-CH', 'en-IN', 'ar-EG', 'pt-PT'])(
    'in %s, what a field is filled with is read as the same number',
    (locale) => {
      for (const value of [0.01, 12.5, 999.99, 1_000, 150_000, 9_999_999_999_999.99])
        expect(read(numberText(value, {}, locale), locale)).toBe(value);
    },
  );
});

describe('a separator that may mean two things', () => {
  it.each([
    ['en-NG', '1,5'],
    ['en-NG', '150,00'],
    ['en-NG', '15,0000'],
    ['en-NG', '1.234,50'],
    ['en-NG', '1234,567'],
    ['de-DE', '150.50'],
    ['de-DE', '1,234.50'],
    ['fr-FR', '150.50'],
  ] as const)('in %s, %s is refused', (locale, text) => {
    expect(read(text, locale)).toBe(UNCLEAR[locale]);
  });

  it('is never taken for a decimal sign of more digits than the field has', () => {
    expect(read('150,000', 'fr-FR')).toBe('At most 2 decimals');
    expect(read('1.2345678', 'en-NG', { decimals: 6 })).toBe('At most 6 decimals');
    expect(read('1.5', 'en-NG', { decimals: 0 })).toBe('A whole number');
  });
});

it('a number is within its limits, and has no more digits than are exact', () => {
  expect(read('-5', 'en-NG')).toBe(UNCLEAR['en-NG']);
  expect(read('1e5', 'en-NG')).toBe(UNCLEAR['en-NG']);
  expect(read('12345678901234.56', 'en-NG')).toBe('At most 15 digits');
  expect(read('1001', 'en-NG', { min: 0, max: 1_000 })).toBe('From 0 to 1,000');
  expect(read('0', 'en-NG', { min: 1 })).toBe('1 or more');
});

it('an empty field has no number, which may be a fault', () => {
  expect(readNumber(' ')).toEqual({});
  expect(readNumber('', { required: true })).toEqual({ fault: 'Enter a number' });
});
