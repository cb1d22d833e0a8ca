/**
 * What the contract of the payment gateway needs to run: a client of a gateway, and for most suites a control
 * over the gateway that pays, misbehaves and shows what it holds. Knows no vendor.
 */
import { createFence } from '../../src/platform/fence.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type {
  GatewayCharge,
  ChargeRequest,
  GatewayOutcome,
  PaymentGateway,
  StatementLine,
} from '../../src/payments/port.ts';

export interface Payment {
  readonly amountMinor?: number;
  readonly currency?: string;
  /** The fee that the buyer pays, inside the amount. */
  readonly feesMinor?: number;
  readonly times?: number;
}

/** Controls the gateway of a test. */
export interface GatewayControl {
  /** Its own words: docs/SANDBOX.md. */
  setFaults(faults: Readonly<Record<string, unknown>>): Promise<unknown>;
  clearFaults(): Promise<unknown>;
  pay(reference: string, payment?: Payment): Promise<unknown>;
  act(
    reference: string,
    action: 'fail' | 'abandon' | 'reverse' | 'dispute',
    details?: Readonly<Record<string, unknown>>,
  ): Promise<unknown>;
  /** Moves the gateway's clock forward. */
  advance(ms: number): Promise<unknown>;
  /** What the gateway holds under our reference; null: nothing. */
  held(reference: string): Promise<{ readonly receivedMinor: number; readonly refunds: number } | null>;
}

export interface ReceivedEvent {
  readonly rawBody: Buffer;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface GatewayUnderTest {
  readonly gateway: PaymentGateway;
  /** The events that arrived, oldest first. */
  events(): readonly ReceivedEvent[];
  close(): Promise<void>;
}

export interface ControlledGateway extends GatewayUnderTest {
  readonly control: GatewayControl;
  /** A client of the same gateway with a short time limit for one call. */
  readonly withShortTimeout: PaymentGateway;
  /** Longer than that time limit. */
  readonly tooSlowMs: number;
}

/** The value of an outcome that is done; throws for every other outcome. */
export function valueOf<T>(outcome: GatewayOutcome<T>): T {
  if (outcome.outcome !== 'done') throw new Error(`not done: ${JSON.stringify(outcome)}`);
  return outcome.value;
}

/** A reference that is not used yet. */
export const newReference = (): string => `txn-${randomUUID()}`;

export const naira = (amountMinor: bigint) => ({ amountMinor, currency: 'NGN' });

/** A charge in naira under a new reference. */
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
    fence: createFence(60_000),
    ...change,
  };
}

/** The charge as the client finds it; throws if it finds none. */
export async function foundCharge(gateway: PaymentGateway, reference: string): Promise<GatewayCharge> {
  const charge = valueOf(await gateway.findCharge(reference));
  if (charge === null) throw new Error('the gateway holds no such charge');
  return charge;
}

/** One gateway for the tests of a suite, without faults when each begins. */
export function sharedGateway(create: () => Promise<ControlledGateway>) {
  const under = {} as ControlledGateway;
  beforeAll(async () => {
    Object.assign(under, await create());
  });
  afterEach(() => under.control.clearFaults());
  afterAll(() => under.close());
  const opened = async (method: ChargeRequest['method'] = 'BANK_TRANSFER'): Promise<string> => {
    const request = chargeBy(method);
    valueOf(await under.gateway.charge(request));
    return request.reference;
  };
  return {
    under,
    /** A charge that nobody has paid; its reference. */
    opened,
    paid: async (): Promise<string> => {
      const reference = await opened();
      await under.control.pay(reference);
      return reference;
    },
    chargeOf: (reference: string) => foundCharge(under.gateway, reference),
  };
}

/** The lines of a statement about these references. */
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
