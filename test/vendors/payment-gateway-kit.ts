/**
 * What the gateway contract needs of whoever runs it: an implementation, and, where somebody plays the buyers, a control over the vendor's
 * side that can pay, misbehave and say what it really holds. Knows no vendor.
 */
import { randomUUID } from 'node:crypto';
import type {
  GatewayCharge,
  ChargeRequest,
  GatewayOutcome,
  PaymentGateway,
  StatementLine,
} from '../../src/payments/port.ts';
import type { Chance } from './esim-supplier-kit.ts';

export interface GatewayFaults {
  readonly loseAnswer?: Chance;
  readonly error?: Chance;
  readonly latencyMs?: number;
  readonly shortTransfer?: 'settle' | 'return';
  /** What becomes of refunds. */
  readonly refund?: 'process' | 'fail' | 'needs-attention' | 'refuse' | 'pending';
  /** How the bytes of events are written. */
  readonly webhookBytes?: 'compact' | 'pretty' | 'escaped' | 'reordered';
  /** Said in place of every status. */
  readonly unknownStatus?: string;
  /** How an unknown reference is answered, where a vendor's pages disagree. */
  readonly unknownReference?: 400 | 404;
  /** Fields of other types, ids of 64 bits, fields that nobody knows. */
  readonly shapeDrift?: boolean;
}

export interface Payment {
  readonly amountMinor?: number;
  readonly currency?: string;
  /** A fee that the buyer bears, inside the amount. */
  readonly feesMinor?: number;
  readonly times?: number;
}

/** The vendor's side of a test. */
export interface GatewayControl {
  setFaults(faults: GatewayFaults): Promise<void>;
  clearFaults(): Promise<void>;
  pay(reference: string, payment?: Payment): Promise<void>;
  does(reference: string, deed: 'fail' | 'abandon' | 'reverse' | 'dispute'): Promise<void>;
  /** What the vendor holds under our reference; null: nothing. */
  held(reference: string): Promise<{ readonly receivedMinor: number; readonly refunds: number } | null>;
}

export interface ReceivedEvent {
  readonly rawBody: Buffer;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface GatewayUnderTest {
  readonly gateway: PaymentGateway;
  /** Events that arrived, oldest first. */
  readonly events: readonly ReceivedEvent[];
  /** Longer than the implementation's time limit for one call. */
  readonly tooSlowMs: number;
  close(): Promise<void>;
}

export interface ControlledGateway extends GatewayUnderTest {
  readonly control: GatewayControl;
}

/** The value of what was done; throws for everything else. */
export function valueOf<T>(outcome: GatewayOutcome<T>): T {
  if (outcome.outcome !== 'done') throw new Error(`not done: ${JSON.stringify(outcome)}`);
  return outcome.value;
}

/** A reference nobody has used. */
export const newReference = (): string => `txn-${randomUUID()}`;

export const naira = (amountMinor: bigint) => ({ amountMinor, currency: 'NGN' });

/** A charge in naira under a reference of its own. */
export function chargeBy(
  method: ChargeRequest['method'],
  change: Partial<ChargeRequest> = {},
): ChargeRequest {
  return {
    reference: newReference(),
    method,
    amount: naira(1000_00n),
    email: `buyer-${randomUUID().slice(0, 8)}@example.com`,
    returnUrl: 'https://shop.example.com/back',
    ...change,
  };
}

/** The charge as the gateway tells it; throws when it tells none. */
export async function lookAt(gateway: PaymentGateway, reference: string): Promise<GatewayCharge> {
  const look = valueOf(await gateway.findCharge(reference));
  if (look === null) throw new Error('the gateway holds no such charge');
  return look;
}

/** The lines of a statement that are about these references. */
export async function linesAbout(
  gateway: PaymentGateway,
  references: readonly string[],
  window: { readonly from: Date; readonly to: Date },
): Promise<StatementLine[]> {
  const lines: StatementLine[] = [];
  for await (const line of gateway.statement(window.from, window.to)) {
    if (references.includes(line.reference)) lines.push(line);
  }
  return lines;
}
