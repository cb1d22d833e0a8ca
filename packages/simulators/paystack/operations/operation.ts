import { digestHex } from '../../kit/seeded.ts';
import type { GatewayContext } from '../context.ts';
import type { TransactionRow } from '../storage.ts';
import {
  notFound,
  type Params,
  duplicateReference,
  emailOf,
  metadataOf,
  referenceOf,
  requiredAmount,
} from '../errors.ts';
import type { OperationName } from '../faults.ts';
import { idOf } from '../wire.ts';
import { customerIdOf } from '../present/transaction.ts';
import { chargeable, chargeableAmount } from '../rules.ts';
import { plannedFor, scenarioOf, SCENARIOS, type Scenario } from '../scenarios.ts';

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

export function transactionById(context: GatewayContext, digits: string): TransactionRow | undefined {
  if (context.faults.current.otherIntegration || !/^\d{1,20}$/.test(digits)) return undefined;
  const id = idOf(digits);
  return Number.isSafeInteger(id) ? context.transactions.get(id) : undefined;
}

export function findTransaction(context: GatewayContext, referenceOrId: string): TransactionRow | undefined {
  return byReference(context, referenceOrId) ?? transactionById(context, referenceOrId);
}

function byReference(context: GatewayContext, reference: string): TransactionRow | undefined {
  return context.faults.current.otherIntegration ? undefined : context.transactions.find({ reference });
}

export type Wanted = ReturnType<typeof wantedIn>;

/** What every request for a charge says; `noEmail` is the refusal of one without an address. */
export function wantedIn(context: GatewayContext, body: Params, noEmail: string) {
  const email = emailOf(body, noEmail);
  const amount = requiredAmount(body);
  const currency = chargeable(context.integration, body['currency']);
  const requested = chargeableAmount(amount, currency);
  const reference = referenceOf(body);
  const metadata = metadataOf(body);
  return { reference, email, currency, requested, metadata, scenario: scenarioOf(metadata, email) };
}

type Beginning = Pick<TransactionRow, 'origin' | 'status' | 'channel' | 'channels'> & Partial<TransactionRow>;

/** Refuses and counts a reference that was used before. */
export function requireUnused(context: GatewayContext, reference: string | undefined): void {
  if (reference === undefined) return;
  const known = context.transactions.find({ reference });
  if (known === undefined) return;
  context.transactions.put({ ...known, requests: known.requests + 1 });
  throw duplicateReference();
}

/** Writes a new transaction, and plans what will happen to it by itself. */
export function begin(context: GatewayContext, wanted: Wanted, beginning: (id: number) => Beginning) {
  const id = context.transactions.nextId();
  const { reference, email, currency, requested, metadata } = wanted;
  const scenario: Scenario | undefined =
    wanted.scenario === undefined ? undefined : SCENARIOS[wanted.scenario];
  const row: TransactionRow = {
    id,
    reference: reference ?? digestHex(`reference:${context.seed}:${id}`).slice(0, 15),
    accessCode: digestHex(`access:${context.seed}:${id}`).slice(0, 15),
    step: null,
    currency,
    requested,
    paidCurrency: null,
    received: 0,
    fees: 0,
    givenBack: 0,
    email,
    customerId: customerIdOf(email),
    callbackUrl: null,
    metadata: metadata ?? null,
    scenario: wanted.scenario ?? null,
    payer: null,
    account: null,
    expiresAtMs: null,
    message: null,
    gatewayResponse: 'The transaction was not completed',
    refundOutcome: scenario?.refundOutcome ?? null,
    history: [],
    createdAtMs: context.now(),
    openedAtMs: null,
    paidAtMs: null,
    requests: 1,
    ...beginning(id),
  };
  context.transactions.put(row);
  for (const { kind, atMs, data } of plannedFor(row, context.scenarioMs)) {
    context.plan(kind, id, atMs, data);
  }
  return row;
}
