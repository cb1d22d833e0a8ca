/** An operation of the API, and how it finds a transaction. */
import type { GatewayContext } from '../context.ts';
import { notFound } from '../errors.ts';
import type { OperationName } from '../faults.ts';
import type { Params } from '../params.ts';
import type { TransactionRow } from '../storage.ts';
import { idOf } from '../wire.ts';

export interface ApiRequest {
  /** The path's own part, as in /transaction/verify/{reference}; empty where there is none. */
  id: string;
  query: URLSearchParams;
  body: Params;
}

export type Operation = (
  context: GatewayContext,
  request: ApiRequest,
) => { message: string; data?: unknown; meta?: unknown };

/** Some of the operations. */
export type Operations = Partial<Record<OperationName, Operation>>;

/** The transaction with this reference; refused with the status that the faults say. */
export function requireReference(context: GatewayContext, reference: string): TransactionRow {
  return required(context, byReference(context, reference));
}

/** The transaction with this reference or id, refused like `requireReference`. */
export function requireTransaction(context: GatewayContext, referenceOrId: string): TransactionRow {
  return required(context, findTransaction(context, referenceOrId));
}

function required({ faults }: GatewayContext, row: TransactionRow | undefined): TransactionRow {
  if (row !== undefined) return row;
  const status = faults.current.unknownReference;
  throw notFound('Transaction reference not found', 'transaction_not_found', status);
}

/** The transaction with this id, if any. */
export function transactionById(context: GatewayContext, digits: string): TransactionRow | undefined {
  if (context.faults.current.otherIntegration || !/^\d{1,20}$/.test(digits)) return undefined;
  const id = idOf(digits);
  return Number.isSafeInteger(id) ? context.transactions.get(id) : undefined;
}

/** The transaction with this reference or id. */
export function findTransaction(context: GatewayContext, referenceOrId: string): TransactionRow | undefined {
  return byReference(context, referenceOrId) ?? transactionById(context, referenceOrId);
}

function byReference(context: GatewayContext, reference: string): TransactionRow | undefined {
  return context.faults.current.otherIntegration ? undefined : context.transactions.find({ reference });
}
