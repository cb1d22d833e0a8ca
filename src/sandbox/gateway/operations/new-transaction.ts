/**
 * What initialize and charge have in common: a reference is taken once, the row is written with what will happen to it by itself.
 * Guarantee: one transaction; a reference that was taken is refused and counted.
 */
import { digestHex } from '../../support/seeded.ts';
import type { GatewayContext } from '../context.ts';
import { duplicateReference } from '../errors.ts';
import { customerIdOf } from '../present/transaction.ts';
import type { Currency } from '../rules.ts';
import { happeningsOf, SCENARIOS, type Scenario, type ScenarioName } from '../scenarios.ts';
import type { TransactionRow } from '../storage/rows.ts';

/** What is known of a charge when it is asked for. */
export interface Wanted {
  reference: string | undefined;
  email: string;
  currency: Currency;
  requested: number;
  metadata: unknown;
  scenario: ScenarioName | undefined;
}

type Beginning = Pick<TransactionRow, 'origin' | 'status' | 'channel' | 'channels'> & Partial<TransactionRow>;

/** Refuses a reference that was used before. */
export function requireUnused(context: GatewayContext, reference: string | undefined): void {
  if (reference === undefined) return;
  const known = context.transactions.byReference(reference);
  if (known === undefined) return;
  context.transactions.countRequest(known.id);
  throw duplicateReference();
}

/** Writes a new transaction. */
export function begin(
  context: GatewayContext,
  wanted: Wanted,
  beginning: (id: number) => Beginning,
): TransactionRow {
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
    metadata: metadata === undefined ? null : JSON.stringify(metadata),
    scenario: wanted.scenario ?? null,
    payer: null,
    account: null,
    expiresAtMs: null,
    message: null,
    gatewayResponse: 'The transaction was not completed',
    refundOutcome: scenario?.refundOutcome ?? null,
    history: '[]',
    createdAtMs: context.now(),
    openedAtMs: null,
    paidAtMs: null,
    requests: 1,
    ...beginning(id),
  };
  context.transactions.insert(row);
  for (const { kind, atMs, data } of happeningsOf(row, context.scenarioMs)) {
    context.plan(kind, id, atMs, data);
  }
  return row;
}
