/** Numbers as people type them, in the notation in which the dashboard shows them. */

export interface NumberRules {
  /** How many may be typed. Absent: two, as money has. */
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  readonly required?: boolean;
}

/** A JavaScript number holds no more digits exactly. */
const MAX_DIGITS = 15;
const MONEY_DECIMALS = 2;
const EXAMPLE = 1234.5;

const latin = (locale: string | undefined, options: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat(locale, { numberingSystem: 'latn', ...options });

/** Every digit as a Latin one, every blank as an ordinary one. */
const plainly = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/\p{Nd}/gu, digitOf)
    .replaceAll(/\s/g, ' ')
    .trim();

/** Unicode has the ten digits of a script one after another. */
function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}

/** The text of a field that holds this number. */
export const numberText = (
  value: number | null | undefined,
  { decimals = MONEY_DECIMALS }: NumberRules = {},
  locale?: string,
): string => (value == null ? '' : latin(locale, { maximumFractionDigits: decimals }).format(value));

/** `1234.50 or 1,234.50` */
const examples = (decimals: number, locale: string | undefined): string =>
  ([false, 'always'] as const)
    .map((useGrouping) => {
      const digits =
        decimals === 0 ? { maximumFractionDigits: 0 } : { minimumFractionDigits: MONEY_DECIMALS };
      return latin(locale, { useGrouping, ...digits }).format(
        Math.trunc(EXAMPLE) + (decimals && EXAMPLE % 1),
      );
    })
    .join(' or ');

/**
 * Undefined where a comma, point or blank is neither the decimal sign of the locale nor its grouping:
 * guessing would change an amount a thousandfold.
 */
function digitsOf(typed: string, locale: string | undefined) {
  const parts = latin(locale, { useGrouping: 'always' }).formatToParts(EXAMPLE);
  const signOf = (type: string) =>
    plainly(`0${parts.find((part) => part.type === type)?.value ?? ''}0`).slice(1, -1);
  const [group, decimal] = [signOf('group'), signOf('decimal')];
  const signs = Array.from(typed, (sign) => {
    if (sign === decimal || sign === '٫') return 'D';
    return sign === group || " ’'٬".includes(sign) ? 'G' : sign;
  }).join('');
  const [, whole, fraction = ''] = /^(\d+|\d{1,3}G(?:\d{2,3}G)*\d{3})(?:D(\d*))?$/.exec(signs) ?? [];
  return whole === undefined ? undefined : { whole: whole.replaceAll('G', ''), fraction };
}

/** The number that a text means without doubt, or its fault; neither for an empty text that may be empty. */
export function readNumber(
  typed: string,
  { decimals = MONEY_DECIMALS, min = 0, max = Infinity, required = false }: NumberRules = {},
  locale?: string,
): { readonly value?: number; readonly fault?: string } {
  const text = plainly(typed);
  if (text === '') return required ? { fault: 'Enter a number' } : {};
  const digits = digitsOf(text, locale);
  if (!digits) return { fault: `Not clear. Write it like ${examples(decimals, locale)}` };
  const { whole, fraction } = digits;
  if (fraction.length > decimals)
    return { fault: decimals === 0 ? 'A whole number' : `At most ${String(decimals)} decimals` };
  if (whole.length + fraction.length > MAX_DIGITS) return { fault: `At most ${String(MAX_DIGITS)} digits` };
  const value = Number(`${whole}.${fraction}`);
  const [least, most] = [min, max].map((limit) => numberText(limit, { decimals }, locale));
  if (value < min || value > max)
    return { fault: max === Infinity ? `${least ?? ''} or more` : `From ${least ?? ''} to ${most ?? ''}` };
  return { value };
}
