import { isObject, parseObject } from '../kit/server.ts';
import { toJson } from './wire.ts';

interface Refusal {
  code: string;
  status?: number;
  type?: 'validation_error' | 'api_error' | 'processor_error';
  nextStep?: string;
}

/** A refusal by the gateway, as its documentation has it. Must not carry secrets in a message. */
export class GatewayError extends Error {
  readonly status: number;
  readonly refusal: Refusal;

  constructor(message: string, refusal: Refusal) {
    super(message);
    this.name = 'GatewayError';
    this.status = refusal.status ?? 400;
    this.refusal = refusal;
  }
}

/** A mandatory parameter is absent, null or empty. */
export function missing(message: string): GatewayError {
  return new GatewayError(message, { code: 'missing_params', nextStep: 'Provide all required params' });
}

/** A parameter has an impossible value. */
export function invalid(message: string, code = 'invalid_params'): GatewayError {
  return new GatewayError(message, { code, nextStep: 'Provide valid params' });
}

export function duplicateReference(): GatewayError {
  return new GatewayError('Duplicate Transaction Reference', {
    code: 'duplicate_reference',
    nextStep: 'Use a reference that was never used on this integration',
  });
}

/** `status` because answers differ about transactions. */
export function notFound(message = 'Entity not found', code = 'not_found', status = 404): GatewayError {
  return new GatewayError(message, { code, status, nextStep: 'Check that it exists on this integration' });
}

/** The gateway's own failure. */
export function serverError(): GatewayError {
  return new GatewayError('An error occurred on our side', {
    code: 'unknown',
    status: 500,
    type: 'api_error',
    nextStep: 'Try again later',
  });
}

export function refusalJson({ message, refusal }: GatewayError): string {
  const { nextStep = 'Check the request and try again', type = 'validation_error', code } = refusal;
  return toJson({ status: false, message, meta: { nextStep }, type, code });
}

export type Params = Record<string, unknown>;

const LONGEST_TEXT = 2000;
const LONGEST_REFERENCE = 100;

function given(params: Params, name: string): unknown {
  const value = params[name];
  return value === null || value === '' ? undefined : value;
}

export function optionalText(params: Params, name: string): string | undefined {
  const value = given(params, name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value.length > LONGEST_TEXT) throw invalid(`${name} must be a string`);
  return value;
}

/** A mandatory text; `message` when it is absent. */
export function requiredText(params: Params, name: string, message = `${name} is required`): string {
  const value = optionalText(params, name);
  if (value === undefined) throw missing(message);
  return value;
}

export function emailOf(params: Params, absent: string): string {
  const email = requiredText(params, 'email', absent);
  if (!/^[^\s@<>"]{1,64}@[^\s@<>"]{1,190}$/.test(email)) throw invalid('Invalid Email Address Passed');
  return email;
}

/** Subunits as an integer or a string of digits; undefined when absent. */
export function optionalAmount(params: Params, name: string): number | undefined {
  const value = given(params, name);
  if (value === undefined) return undefined;
  const amount = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (!Number.isSafeInteger(amount)) throw invalid('Amount must be an integer', 'invalid_amount');
  if ((amount as number) <= 0) throw invalid('You must specify a valid amount', 'invalid_amount');
  return amount as number;
}

export function requiredAmount(params: Params): number {
  const amount = optionalAmount(params, 'amount');
  if (amount === undefined) throw missing('Amount is required');
  return amount;
}

/** The merchant's reference, from its alphabet; undefined when the gateway is to make one. */
export function referenceOf(params: Params): string | undefined {
  const reference = optionalText(params, 'reference');
  if (reference === undefined) return undefined;
  if (!/^[A-Za-z0-9.=-]+$/.test(reference)) throw invalid('Invalid character in transaction reference');
  if (reference.length > LONGEST_REFERENCE) throw invalid('Transaction reference is too long');
  return reference;
}

/** Whether a browser may be sent there. */
export function isWebAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

/** An address that a browser may be sent to. */
export function optionalUrl(params: Params, name: string): string | undefined {
  const text = optionalText(params, name);
  if (text !== undefined && !isWebAddress(text)) throw invalid(`${name} must be a fully qualified URL`);
  return text;
}

/** Metadata as it was sent: an object, or any text (usually JSON in a string). */
export function metadataOf(params: Params): unknown {
  const value = given(params, 'metadata');
  if (value !== undefined && typeof value !== 'string' && !isObject(value)) {
    throw invalid('metadata must be an object or a stringified JSON object');
  }
  return value;
}

/** Metadata as an object, parsed from a string where it is one; empty when there is none. */
export function metadataObject(metadata: unknown): Params {
  if (isObject(metadata)) return metadata;
  return (typeof metadata === 'string' ? parseObject(metadata) : undefined) ?? {};
}

export function objectIn(params: Params, name: string): Params | undefined {
  const value = params[name] ?? undefined;
  if (value !== undefined && !isObject(value)) throw invalid(`${name} must be an object`);
  return value;
}

/** A time as ISO 8601 or a date; undefined when absent. */
export function timeOf(text: string | null | undefined, name: string): number | undefined {
  if (!text) return undefined;
  const isTime = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/.test(text);
  const zoned = /[Z]$|[+-]\d\d:?\d\d$/.test(text.slice(10)) || text.length === 10 ? text : `${text}Z`;
  const atMs = isTime ? Date.parse(zoned.replace(' ', 'T')) : Number.NaN;
  if (Number.isNaN(atMs)) throw invalid(`Invalid '${name}' date`);
  return atMs;
}

/** A number of a query: `fallback` when absent. */
export function pageNumber(query: URLSearchParams, name: string, fallback: number, most: number): number {
  const text = query.get(name);
  if (!text) return fallback;
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (number < 1) throw invalid(`${name} must be a whole number from 1`);
  return Math.min(number, most);
}
