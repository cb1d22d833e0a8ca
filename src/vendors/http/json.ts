/** JSON of vendors who do not keep to their own types: numbers without loss, and guards that give the stated type or throw UnreadableAnswer. */

/** An answer that is not what the vendor's reference promises. */
export class UnreadableAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableAnswer';
  }
}

/** Parses JSON with every number kept as the text it was written as. Throws SyntaxError when it is no JSON. */
export function parseWithNumbersAsText(json: string): unknown {
  const keepSource = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' ? (context?.source ?? '') : value;
  const parsed: unknown = JSON.parse(json, keepSource);
  return parsed;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON object; throws UnreadableAnswer for anything else. */
export function fieldsOf(value: unknown, what: string): Fields {
  if (!isFields(value)) throw new UnreadableAnswer(`${what} is no object`);
  return value;
}

/** The list under a name; throws UnreadableAnswer when there is none. */
export function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (!Array.isArray(value)) throw new UnreadableAnswer(`${name} is no list`);
  return value as unknown[];
}

/** Text; numbers are taken as their digits, absent and null as "". */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Text that may not be empty; throws UnreadableAnswer. */
export function requiredText(fields: Fields, name: string): string {
  const text = textOf(fields, name);
  if (text === '') throw new UnreadableAnswer(`${name} is missing`);
  return text;
}

/** A whole number that JavaScript can hold exactly, as a number or as digits; null otherwise. */
export function wholeOrNull(value: unknown): number | null {
  const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

/** A whole number of at least 0; throws UnreadableAnswer. */
export function requiredWhole(fields: Fields, name: string): number {
  const whole = wholeOrNull(fields[name]);
  if (whole === null || whole < 0) throw new UnreadableAnswer(`${name} is no whole number`);
  return whole;
}

/** A whole number, or the fallback when there is none. */
export function wholeOr(fields: Fields, name: string, fallback: number): number {
  return wholeOrNull(fields[name]) ?? fallback;
}

/** The objects of a list that may be absent. */
export function fieldsListOf(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? (value as unknown[]).filter(isFields) : [];
}
