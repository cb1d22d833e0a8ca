/**
 * What the supplier contract needs of whoever runs it: an implementation, and a control over the vendor's side that can misbehave and
 * say what it really holds. Knows no vendor.
 */
import { randomUUID } from 'node:crypto';
import type { EsimSupplier, Outcome } from '../../src/esims/port.ts';

/** Always (1), never (0), or the next n calls. */
export type Chance = number | { readonly next: number };

export interface SupplierFaults {
  readonly outOfStock?: Chance;
  readonly priceChanged?: Chance;
  readonly lowBalance?: Chance;
  readonly busy?: Chance;
  readonly loseAnswer?: Chance;
  readonly commitLate?: Chance;
  readonly lateCommitMs?: number;
  readonly refusalsFirst?: boolean;
  readonly cancelUnseen?: Chance;
  readonly neverAllocate?: Chance;
  readonly wrongSignature?: Chance;
  readonly rateLimit?: boolean;
  readonly latencyMs?: number;
  readonly allocationMs?: number;
}

/** The vendor's side of a test. */
export interface SupplierControl {
  setFaults(faults: SupplierFaults): Promise<void>;
  clearFaults(): Promise<void>;
  /** How many purchases (orders and top-ups) the vendor holds under our id. */
  held(transactionId: string): Promise<number>;
  /** Changes an eSIM as time and its user would. */
  changeEsim(esimTranNo: string, change: { esimStatus?: string; orderUsage?: number }): Promise<void>;
}

export interface SupplierUnderTest {
  readonly supplier: EsimSupplier;
  readonly control: SupplierControl;
  /** Longer than the implementation's time limit for one call. */
  readonly tooSlowMs: number;
  close(): Promise<void>;
}

const REPEATS = 60;
const REPEAT_EVERY_MS = 100;

/** What `look` finds, asked again and again; throws when it finds nothing within six seconds. */
export async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < REPEATS; i += 1) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, REPEAT_EVERY_MS));
  }
  throw new Error('nothing within the deadline');
}

/** The value of what was done; throws for everything else. */
export function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.outcome !== 'done') throw new Error(`not done: ${JSON.stringify(outcome)}`);
  return outcome.value;
}

/** A transactionId nobody has used. */
export const newId = (): string => `txn-${randomUUID().replaceAll('-', '')}`;
