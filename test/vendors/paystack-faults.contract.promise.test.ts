/**
 * Promise G3: whatever goes wrong on the way of whichever call, there is one charge that took money, one refund, and the statement tells
 * both. Played on the gateway simulator by a caller that keeps the rules: unknown is asked about, and only what is known not to be is
 * sent again.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayCharge, ChargeRequest, GatewayOutcome } from '../../src/payments/port.ts';
import { createRandom, size, withSeed, type Random } from '../support/size.ts';
import { chargeBy, linesAbout, naira, newReference, type ControlledGateway } from './payment-gateway-kit.ts';
import { startOnSimulator, type SimulatorControl } from './paystack.support.ts';

const SEEDS = size({ ci: 1, prove: 200 });
/** Simulators side by side, each with one story at a time: a story is mostly waiting for what does not come. */
const SIMULATORS = size({ ci: 1, prove: 10 });
/** Far more than a simulator takes; at full size also where eleven thousand stories keep a machine busy. */
const TIME_LIMIT_MS = size({ ci: 120, prove: 400 });
const TRICKLE_MS = 2000;
/** Faults last for two calls at most, so whoever asks this often has been answered. */
const MOST_ASKS = 12;

const KINDS = [
  'connect-refused',
  'timeout-before',
  'timeout-after',
  'reset',
  '429',
  '500',
  'html-502',
  'bad-json',
  'failed-200',
  'duplicate-reference',
  'trickle',
] as const;
/** Kinds whose answer says nothing about whether the work was done. */
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
beforeAll(async () => {
  const starting = Array.from({ length: SIMULATORS }, () => startOnSimulator({ timeLimitMs: TIME_LIMIT_MS }));
  simulators = await Promise.all(starting);
});
afterAll(() => Promise.all(simulators.map((simulator) => simulator.close())));

/** Asks until the answer is clear; `ask` is only ever a question, or an effect that cannot happen twice. */
async function known<T>(ask: () => Promise<GatewayOutcome<T>>): Promise<T> {
  let last: unknown;
  for (let i = 0; i < MOST_ASKS; i += 1) {
    const outcome = await ask();
    if (outcome.outcome === 'done') return outcome.value;
    last = outcome;
  }
  throw new Error(`never known: ${JSON.stringify(last)}`);
}

/** A charge that its buyer can pay; under another reference only when the first one cannot be told any more. */
async function payable({ gateway }: Simulator, first: ChargeRequest): Promise<ChargeRequest> {
  let request = first;
  for (let i = 0; i < MOST_ASKS; i += 1) {
    const outcome = await gateway.charge(request);
    if (outcome.outcome === 'done') return request;
    await known(() => gateway.findCharge(request.reference));
    if (outcome.outcome === 'refused') request = { ...request, reference: newReference() };
  }
  throw new Error('never payable');
}

/** Looks for the refund, and makes it only when there is none. */
async function givenBack({ gateway }: Simulator, reference: string): Promise<void> {
  const request = { reference, amount: naira(400_00n), refundKey: `${reference}:refund` };
  for (let i = 0; i < MOST_ASKS; i += 1) {
    if ((await known(() => gateway.findRefund(request))) !== null) return;
    await gateway.refund(request);
  }
  throw new Error('never given back');
}

async function told({ gateway }: Simulator, references: readonly string[], from: Date): Promise<string[]> {
  for (let i = 0; ; i += 1) {
    try {
      const lines = await linesAbout(gateway, references, { from, to: new Date(Date.now() + 1000) });
      return lines.map(({ kind, amount }) => `${kind} ${amount.amountMinor}`);
    } catch (error) {
      if (i === MOST_ASKS) throw error;
    }
  }
}

/** One buyer's whole story with one kind of trouble on one call. */
async function story(under: Simulator, kind: string, operation: string, random: Random): Promise<void> {
  const from = new Date(Date.now() - 1000);
  const done = EITHER_WAY.includes(kind) ? { done: random.below(2) === 1 } : {};
  const trickleMs = kind === 'trickle' ? { trickleMs: TRICKLE_MS } : {};
  await under.control.setOwnFaults({
    network: { kind, operation, next: 1 + random.below(2), ...done, ...trickleMs },
  });
  const first = chargeBy('BANK_TRANSFER');
  const request = await payable(under, first);
  const { reference } = request;
  const look = () => known<GatewayCharge | null>(() => under.gateway.findCharge(reference));
  expect((await look())?.state).toBe('waiting');
  await under.control.pay(reference);
  expect((await look())?.state).toBe('paid');
  await givenBack(under, reference);
  const references = [...new Set([first.reference, reference])];
  await expect
    .poll(() => told(under, references, from), { timeout: 20_000 })
    .toEqual(['charge 100000', 'refund 40000']);
  const held = await Promise.all(references.map((each) => under.control.held(each)));
  expect(held.filter((each) => each !== null && each.receivedMinor > 0)).toEqual([
    { receivedMinor: 1000_00, refunds: 1 },
  ]);
  await under.control.clearFaults();
}

describe('no charge is doubled and none is lost', () => {
  const matrix = KINDS.flatMap((kind) =>
    Object.entries(CALLS).map(([call, operation]) => [kind, call, operation] as const),
  );
  it.each(matrix)('%s at %s', (kind, _call, operation) =>
    withSeed(async (seed) => {
      const stories = Array.from({ length: SEEDS }, (_, nth) => createRandom(seed + nth)).values();
      const play = async (under: Simulator): Promise<void> => {
        for (const random of stories) await story(under, kind, operation, random);
      };
      await Promise.all(simulators.map(play));
    }),
  );
});
