/** What errors of Postgres and its driver mean; nothing else reads them. */
import { DomainError } from '../../domain/errors.ts';
import { isOutdatedPlan } from './database.ts';

export const CONSTRAINTS = {
  walletNeverBelowZero: 'wallet_never_below_zero',
  ledgerNetsToZero: 'ledger_nets_to_zero',
  ledgerAppendOnly: 'ledger_append_only',
  holdClosesOnce: 'hold_closes_once',
  purchaseEndsOnce: 'purchase_ends_once',
  paymentGivesWhatItHas: 'payment_gives_what_it_has',
} as const;

interface DriverError {
  readonly code?: unknown;
  readonly constraint?: unknown;
}

/** The name of the constraint that refused a statement, or undefined for any other error. */
export function constraintOf(error: unknown): string | undefined {
  const { constraint } = (error ?? {}) as DriverError;
  return typeof constraint === 'string' ? constraint : undefined;
}

const OUR_RULES: ReadonlySet<string> = new Set(Object.values(CONSTRAINTS));
const DUPLICATE = '23505';
/** Data exceptions (such as out of range) and integrity violations. */
const REFUSED_ROW = /^2[23]/;

/**
 * Why Postgres refuses this row however often it is sent, for logs; undefined for any other error, and for
 * those of our own rules, which callers expect. A duplicate means that something else was first, so it passes
 * where the same step reads what that wrote.
 */
export function refusedRowOf(error: unknown, duplicates: 'pass' | 'refused' = 'pass'): string | undefined {
  const { code } = (error ?? {}) as DriverError;
  const constraint = constraintOf(error);
  if (typeof code !== 'string' || !REFUSED_ROW.test(code)) return undefined;
  if (constraint !== undefined && OUR_RULES.has(constraint)) return undefined;
  if (isDuplicate(error) && duplicates === 'pass') return undefined;
  return constraint === undefined ? `SQLSTATE ${code}` : `SQLSTATE ${code}, ${constraint}`;
}

export const isDuplicate = (error: unknown): boolean => ((error ?? {}) as DriverError).code === DUPLICATE;

/**
 * SQLSTATE classes that pass by themselves: connection loss, shutdown, serialization, deadlock, out of
 * connections.
 */
const PASSING_SQLSTATES = /^(08...|57P0[123]|40001|40P01|53300|55P03|57014)$/;
const PASSING_NODE_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOENT']);

/** Whether the same statement may well succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as DriverError;
  if (isOutdatedPlan(error)) return true;
  if (typeof code === 'string') return PASSING_SQLSTATES.test(code) || PASSING_NODE_CODES.has(code);
  return /connection (terminated|timeout)|timeout exceeded when trying to connect|not queryable/i.test(
    error.message,
  );
}

const RETRY_AFTER_SECONDS = 2;

export function unavailable(cause: unknown): DomainError {
  const message = 'The service is not available right now, try again in a moment';
  const error = new DomainError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  error.cause = cause;
  return error;
}

/** Throws SERVICE_UNAVAILABLE for an error that passes by itself, and any other error as it is. */
export function rethrow(error: unknown): never {
  throw isPassing(error) ? unavailable(error) : error;
}
