/**
 * JSON of vendors who do not keep to their own types: numbers without loss, and hand-written guards. Guarantee: what the guards answer
 * has the stated type, or they throw UnreadableAnswer. Must not know any particular message.
 */

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
