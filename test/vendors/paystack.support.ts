/** The paystack adapter on the gateway simulator, with a server that takes its events. Only what is closed is left behind. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPaystackGateway, type PaystackOptions } from '../../src/vendors/paystack/gateway.ts';
import { createGatewaySimulator } from '../../src/sandbox/gateway/index.ts';
import type { ControlledGateway, GatewayControl, ReceivedEvent } from './payment-gateway-kit.ts';

const SECRET_KEY = 'sk_test_simulator';
const TIME_LIMIT_MS = 1500;

function controlAt(controlUrl: string): SimulatorControl {
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(controlUrl + path, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (response.status === 404 && method === 'GET') return null;
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  return {
    setFaults: async (faults) => {
      await ask('PUT', '/faults', faults);
    },
    setOwnFaults: async (faults) => {
      await ask('PUT', '/faults', faults);
    },
    clearFaults: async () => {
      await ask('DELETE', '/faults');
    },
    pay: async (reference, payment = {}) => {
      await ask('POST', `/charges/${reference}/pay`, payment);
    },
    does: async (reference, deed) => {
      await ask('POST', `/charges/${reference}/${deed}`);
    },
    held: async (reference) => {
      const charge = (await ask('GET', `/charges/${reference}`)) as {
        received: { amountMinor: number };
        refunds: unknown[];
      } | null;
      if (charge === null) return null;
      return { receivedMinor: charge.received.amountMinor, refunds: charge.refunds.length };
    },
  };
}

/** A server that takes events, as the vendor wants it: 200 at once. */
async function startListener() {
  const events: ReceivedEvent[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const signature = request.headers['x-paystack-signature'];
      events.push({
        rawBody: Buffer.concat(chunks),
        headers: { 'x-paystack-signature': signature?.toString() },
      });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    events,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What the simulator can do beyond what every vendor's side must. */
export interface SimulatorControl extends GatewayControl {
  /** Any of the simulator's own faults. */
  setOwnFaults(faults: object): Promise<void>;
}

/** Starts a simulator and makes a gateway that calls it. */
export async function startOnSimulator(
  options: Partial<PaystackOptions> = {},
): Promise<ControlledGateway & { readonly control: SimulatorControl }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'simway-gateway-'));
  const listener = await startListener();
  const simulator = createGatewaySimulator({
    dataDir,
    secretKey: SECRET_KEY,
    webhookUrls: [listener.url],
    refundDelayMs: 50,
  });
  const { url, controlUrl } = await simulator.start();
  const gateway = createPaystackGateway({
    baseUrl: url,
    secretKey: SECRET_KEY,
    mode: 'test',
    timeLimitMs: TIME_LIMIT_MS,
    ...options,
  });
  return {
    gateway,
    control: controlAt(controlUrl),
    events: listener.events,
    tooSlowMs: TIME_LIMIT_MS + 500,
    close: async () => {
      gateway.close();
      await simulator.stop();
      await listener.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
