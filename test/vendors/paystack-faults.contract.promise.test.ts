/**
 * Promise G3: after any network fault on any call, one charge has taken money, there is one refund, and the
 * statement lists both. The caller follows the rules: it looks up an unknown outcome, and sends again only
 * what the gateway does not hold.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORK_KINDS } from '../../packages/simulators/paystack/faults.ts';
import type { GatewayCharge, ChargeRequest, GatewayOutcome } from '../../src/payments/port.ts';
import { createFence } from '../../src/platform/fence.ts';
import { stopAll } from '../simulators/simulator.support.ts';
import { createSemaphore, runConcurrently } from '../support/time/concurrency.ts';
import { until } from '../support/time/until.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { chargeBy, linesAbout, naira, newReference, type ControlledGateway } from './payment-gateway-kit.ts';
import { startOnSimulator, type SimulatorControl } from './paystack.support.ts';

const SEEDS = size({ ci: 1, prove: 200 });
/**
 * Purchases run in parallel, each on a simulator of its own: a purchase mostly waits for answers that do not
 * come.
 */
const SIMULATORS = size({ ci: 4, prove: 10 });
/** Far more than a simulator needs, also on a machine that runs eleven thousand purchases. */
const TIME_LIMIT_MS = size({ ci: 120, prove: 400 });
const TRICKLE_MS = 2000;
/** A fault hits two calls at most, so that many tries always get an answer. */
const MAX_TRIES = 12;

/** Faults after which the work may have been done or not. */
const EITHER_WAY: readonly string[] = ['reset', '429', '500', 'html-502', 'bad-json', 'trickle'];
const CALLS = {
  charge: 'charge',
  findCharge: 'transaction/verify',
  refund: 'refund',
  findRefund: 'refund/list',
  statement: 'transaction/list',
} as const;

type Simulator = ControlledGateway & { readonly control: SimulatorControl };

let simulators: Simulator[];
let free: Simulator[];
const whenOneIsFree = createSemaphore(SIMULATORS);
beforeAll(async () => {
  const starting = Array.from({ length: SIMULATORS }, () => startOnSimulator({ timeLimitMs: TIME_LIMIT_MS }));
  simulators = await Promise.all(starting);
  free = [...simulators];
});
afterAll(async () => {
  await Promise.all(simulators.map((simulator) => simulator.close()));
  await stopAll();
});

/** Waits for a simulator that runs no other purchase. */
const withSimulator = (act: (under: Simulator) => Promise<void>): Promise<void> =>
  whenOneIsFree(async () => {
    const under = free.pop()!;
    try {
      await act(under);
    } finally {
      await under.control.clearFaults();
      free.push(under);
    }
  });

/** Repeats a lookup until its outcome is known. */
async function known<T>(lookUp: () => Promise<GatewayOutcome<T>>): Promise<T> {
  let last: unknown;
  for (let i = 0; i < MAX_TRIES; i += 1) {
    const outcome = await lookUp();
    if (outcome.outcome === 'done') return outcome.value;
    last = outcome;
  }
  throw new Error(`never known: ${JSON.stringify(last)}`);
}

/**
 * Opens a charge that the buyer can pay; under a new reference only if the gateway does not show the
 * instructions of the first again.
 */
async function payable({ gateway }: Simulator, first: ChargeRequest): Promise<ChargeRequest> {
  let request = first;
  for (let i = 0; i < MAX_TRIES; i += 1) {
    const outcome = await gateway.charge(request);
    if (outcome.outcome === 'done') return request;
    await known(() => gateway.findCharge(request.reference));
    if (outcome.outcome === 'refused') request = { ...request, reference: newReference() };
  }
  throw new Error('never payable');
}

/** Refunds a part, after a lookup that found no refund. */
async function refunded({ gateway }: Simulator, reference: string): Promise<void> {
  const request = {
    reference,
    amount: naira(400_00n),
    refundKey: `${reference}:refund`,
    fence: createFence(60_000),
  };
  for (let i = 0; i < MAX_TRIES; i += 1) {
    if ((await known(() => gateway.findRefund(request))) !== null) return;
    await gateway.refund(request);
  }
  throw new Error('never refunded');
}

async function statementOf(
  { gateway }: Simulator,
  references: readonly string[],
  from: Date,
): Promise<string[]> {
  for (let i = 0; ; i += 1) {
    try {
      const lines = await linesAbout(gateway, references, { from, to: new Date(Date.now() + 1000) });
      return lines.map(({ kind, amount }) => `${kind} ${amount.amountMinor}`);
    } catch (error) {
      if (i === MAX_TRIES) throw error;
    }
  }
}

/** One buyer's whole payment and refund with one kind of fault on one call. */
async function purchase(under: Simulator, kind: string, operation: string, random: Random): Promise<void> {
  const from = new Date(Date.now() - 1000);
  const done = EITHER_WAY.includes(kind) ? { done: random.below(2) === 1 } : {};
  const trickleMs = kind === 'trickle' ? { trickleMs: TRICKLE_MS } : {};
  await under.control.setFaults({
    network: { kind, operation, next: 1 + random.below(2), ...done, ...trickleMs },
  });
  const first = chargeBy('BANK_TRANSFER');
  const request = await payable(under, first);
  const { reference } = request;
  const charge = () => known<GatewayCharge | null>(() => under.gateway.findCharge(reference));
  expect((await charge())?.state).toBe('waiting');
  await under.control.pay(reference);
  expect((await charge())?.state).toBe('paid');
  await refunded(under, reference);
  const references = [...new Set([first.reference, reference])];
  await until(
    () => statementOf(under, references, from),
    (lines) => lines.join() === 'charge 100000,refund 40000',
  );
  const held = await Promise.all(references.map((each) => under.control.held(each)));
  expect(held.filter((each) => each !== null && each.receivedMinor > 0)).toEqual([
    { receivedMinor: 1000_00, refunds: 1 },
  ]);
}

describe('the Paystack client loses no charge and makes none twice', () => {
  const matrix = NETWORK_KINDS.flatMap((kind) =>
    Object.entries(CALLS).map(([call, operation]) => [kind, call, operation] as const),
  );
  it.concurrent.for(matrix)('under the fault %s at %s', async ([kind, , operation], { expect }) => {
    let purchases = 0;
    await withSeed((seed) => {
      const randoms = Array.from({ length: SEEDS }, (_, nth) => createRandom(seed + nth));
      return runConcurrently(randoms, SIMULATORS, async (random) => {
        await withSimulator((under) => purchase(under, kind, operation, random));
        purchases += 1;
      });
    });
    expect(purchases).toBe(SEEDS);
  });
});
