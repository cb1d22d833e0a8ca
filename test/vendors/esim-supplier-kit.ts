/**
 * What the contract of the eSIM supplier needs to run: a client of a supplier, and a control over the
 * supplier that misbehaves and shows what it holds. Knows no vendor.
 */
import { randomUUID } from 'node:crypto';
import type { EsimSupplier, Outcome } from '../../src/esims/port.ts';

/** Controls the supplier of a test. */
export interface SupplierControl {
  /** Its own words: docs/SANDBOX.md. */
  setFaults(faults: Readonly<Record<string, unknown>>): Promise<unknown>;
  clearFaults(): Promise<unknown>;
  /** How many purchases (orders and top-ups) the supplier holds under our id. */
  held(transactionId: string): Promise<number>;
  /** Changes an eSIM as time and its traveller would. */
  changeEsim(esimTranNo: string, change: { esimStatus?: string; orderUsage?: number }): Promise<unknown>;
}

export interface SupplierUnderTest {
  readonly supplier: EsimSupplier;
  readonly control: SupplierControl;
  /** A client of the same supplier with a short time limit for one call. */
  readonly withShortTimeout: EsimSupplier;
  /** Longer than that time limit. */
  readonly tooSlowMs: number;
  close(): Promise<void>;
}

/** The value of an outcome that is done; throws for every other outcome. */
export function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.outcome !== 'done') throw new Error(`not done: ${JSON.stringify(outcome)}`);
  return outcome.value;
}

/** A transactionId that is not used yet. */
export const newId = (): string => `txn-${randomUUID().replaceAll('-', '')}`;
