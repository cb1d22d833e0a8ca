/**
 * JSON at the edge. Amounts come in as the digits they were written with, and leave as number literals with
 * exactly two decimals. They are made from text, never from floating point. Bodies are turned into text once,
 * here. Must not know any resource.
 */
import { formatAmount, formatMinor, type Money } from '../../domain/money.ts';

/** A number literal that JSON.stringify copies as it stands. */
export interface JsonNumber {
  readonly rawJSON: string;
}

/** What a reviver gets beside the value: for a primitive, its text in the source. */
interface JsonSource {
  readonly source?: string;
}

declare global {
  interface JSON {
    /** ECMAScript "JSON.parse source text access": Node has it, TypeScript's library does not list it yet. */
    rawJSON(text: string): JsonNumber;
    isRawJSON(value: unknown): value is JsonNumber;
    parse(text: string, reviver: (key: string, value: unknown, context: JsonSource) => unknown): unknown;
  }
}

/** `1234n` → the literal `12.34`. */
export function moneyJson(amountMinor: bigint): JsonNumber {
  return JSON.rawJSON(formatMinor(amountMinor));
}

/** Two decimals, four for the supplier's unit. */
export function amountJson(amount: Money): JsonNumber {
  return JSON.rawJSON(formatAmount(amount));
}

/**
 * Decimal text such as `"1534.25"` → the same digits as a literal. Throws SyntaxError when it is no JSON
 * number.
 */
export function decimalJson(text: string): JsonNumber {
  return JSON.rawJSON(text);
}

/** Whether a value is a number as `parseJson` leaves it. */
export function isJsonNumber(value: unknown): value is JsonNumber {
  return JSON.isRawJSON(value);
}

/**
 * JSON text → values, each number as the literal that was written. Goes as deep as the text: for texts whose
 * depth is known to be small. A `length` stays a number: zod compares that of an object in a text's place.
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, (key, value, { source }) =>
    typeof value === 'number' && source !== undefined && key !== 'length' ? JSON.rawJSON(source) : value,
  );
}

/** The body of an answer. */
export function toJson(value: unknown): string {
  return JSON.stringify(value);
}

/** The same text for the same values, whatever order their fields came in; for fingerprints. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return String(member);
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
