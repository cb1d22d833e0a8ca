/** Starts the gateway simulator with clients of it and a receiver of its events, which `stopAll` removes. */
import { createPaystackGateway, type PaystackOptions } from '../../src/vendors/paystack/gateway.ts';
import {
  SECRET_KEY,
  startGateway,
  startReceiver,
  type TestGateway,
} from '../simulators/gateway-simulator.support.ts';
import type { ControlledGateway } from './payment-gateway-kit.ts';

const TIME_LIMIT_MS = 10_000;
const SHORT_TIME_LIMIT_MS = 200;

/** The control of the simulator, which has more faults than the contract needs. */
export type SimulatorControl = ReturnType<typeof controlOf>;

function controlOf({ control, setFaults, pay, act, advance, held }: TestGateway) {
  return {
    setFaults,
    pay,
    act,
    advance,
    clearFaults: () => control('DELETE', '/faults'),
    held: async (reference: string) => {
      const { status } = await control('GET', `/charges/${reference}`);
      if (status === 404) return null;
      const { received, refunds } = await held(reference);
      return { receivedMinor: received.amountMinor, refunds: refunds.length };
    },
  };
}

/** Starts a simulator and clients that call it. */
export async function startOnSimulator(
  options: Partial<PaystackOptions> = {},
): Promise<ControlledGateway & { readonly control: SimulatorControl }> {
  const receiver = await startReceiver();
  const simulator = await startGateway({ webhookUrls: [receiver.url], refundDelayMs: 50, now: Date.now });
  const clientWithin = (timeLimitMs: number) =>
    createPaystackGateway({
      baseUrl: simulator.url,
      secretKey: SECRET_KEY,
      mode: 'test',
      timeLimitMs,
      ...options,
    });
  const [gateway, withShortTimeout] = [clientWithin(TIME_LIMIT_MS), clientWithin(SHORT_TIME_LIMIT_MS)];
  return {
    gateway,
    withShortTimeout,
    control: controlOf(simulator),
    events: () =>
      receiver.attempts.map(({ text, headers }) => ({
        rawBody: Buffer.from(text),
        headers: { 'x-paystack-signature': headers['x-paystack-signature']?.toString() },
      })),
    tooSlowMs: SHORT_TIME_LIMIT_MS + 300,
    close: async () => {
      gateway.close();
      withShortTimeout.close();
      await simulator.stop();
    },
  };
}
