/**
 * Reading a request's parameters with the vendor's error codes: 000105 absent, 000106 null, 000107 wrong length, 200008 wrong type. An empty
 * string counts as absent where a parameter is optional, as clients send it.
 */
import { isObject } from '../support/http.ts';
import { SupplierError } from './errors.ts';

export type Params = Record<string, unknown>;

/** Refuses a mandatory parameter that is absent or null. */
export function mandatory(params: Params, name: string): unknown {
  const value = params[name];
  if (value === undefined) throw new SupplierError('000105', `parameter [${name}] is absent`);
  if (value === null) throw new SupplierError('000106', `parameter [${name}] is null`);
  return value;
}

function wrongType(name: string, wants: string): SupplierError {
  return new SupplierError('200008', `parameter [${name}] must be ${wants}`);
}

/** A mandatory text of 1 to `longest` characters. */
export function mandatoryText(params: Params, name: string, longest: number): string {
  const value = mandatory(params, name);
  if (typeof value !== 'string') throw wrongType(name, 'a string');
  if (value.length === 0 || value.length > longest) {
    throw new SupplierError('000107', `parameter [${name}] must have 1 to ${longest} characters`);
  }
  return value;
}

/** An optional text; null and "" count as absent. */
export function optionalText(params: Params, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw wrongType(name, 'a string');
  if (value.length > 200) throw new SupplierError('000107', `parameter [${name}] is too long`);
  return value;
}

/** An optional whole number, as a number or as digits in a string. */
export function optionalInteger(params: Params, name: string): number | undefined {
  const value = params[name];
  if (value === undefined || value === null || value === '') return undefined;
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (!Number.isSafeInteger(number) || (number as number) < 0) throw wrongType(name, 'a whole number');
  return number as number;
}

/** A mandatory whole number within bounds; out of bounds is 000107. */
export function mandatoryInteger(params: Params, name: string, least: number, most: number): number {
  mandatory(params, name);
  const value = optionalInteger(params, name);
  if (value === undefined || value < least || value > most) {
    throw new SupplierError('000107', `parameter [${name}] must be from ${least} to ${most}`);
  }
  return value;
}

export function mandatoryObjects(params: Params, name: string): Params[] {
  const value = mandatory(params, name);
  if (!Array.isArray(value)) throw wrongType(name, 'a list');
  if (value.length === 0) throw new SupplierError('000107', `parameter [${name}] is empty`);
  if (!value.every(isObject)) throw wrongType(name, 'a list of objects');
  return value;
}

export function mandatoryObject(params: Params, name: string): Params {
  const value = mandatory(params, name);
  if (!isObject(value)) throw wrongType(name, 'an object');
  return value;
}

/** An optional ISO time (with offset), in milliseconds. */
export function optionalTimeMs(params: Params, name: string): number | undefined {
  const text = optionalText(params, name);
  if (text === undefined) return undefined;
  const atMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)$/.test(text)
    ? Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
    : Number.NaN;
  if (Number.isNaN(atMs)) throw wrongType(name, 'an ISO time with offset');
  return atMs;
}
