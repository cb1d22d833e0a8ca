/** The gateway simulator as a process. Prints its seed on stderr, so that a run can be repeated. */
import { z } from 'zod';
import { oneOf } from '../kit/control.ts';
import { neededSecret, runSimulator, WHOLE } from '../kit/simulator.ts';
import { RETRY_SCHEDULES } from './faults.ts';
import { createPaystackSimulator } from './index.ts';
import { isWebAddress } from './errors.ts';
import { COUNTRIES, CURRENCIES } from './rules.ts';

const USAGE = `usage: SANDBOX_GATEWAY_KEY=<secret key> node packages/simulators/paystack/main.ts --data <dir>
  [--host 127.0.0.1] [--port 0] [--control-port 0] [--public-url <url>]
  [--webhook-url <url>]... [--retries test|test-72h|live]
  [--bank-country NG|GH|KE|CI|ZA] [--currency NGN]... [--merchant "Sandbox Merchant"]
  [--refund-delay-ms 300] [--scenario-ms 1000] [--seed 1] [--exit-with-parent]
`;
const ADDRESS = z.string().refine(isWebAddress, 'must be an address');
const FLAGS = {
  publicUrl: ADDRESS.optional(),
  webhookUrl: z.array(ADDRESS).optional(),
  retries: oneOf(RETRY_SCHEDULES).optional(),
  bankCountry: oneOf(COUNTRIES).optional(),
  currency: z.array(oneOf(CURRENCIES)).optional(),
  merchant: z.string().optional(),
  refundDelayMs: WHOLE.optional(),
  scenarioMs: WHOLE.optional(),
};

runSimulator(USAGE, FLAGS, ({ webhookUrl: webhookUrls, currency: currencies, ...flags }) => {
  const secretKey = neededSecret('SANDBOX_GATEWAY_KEY');
  const simulator = createPaystackSimulator({ ...flags, secretKey, webhookUrls, currencies });
  flags.log(JSON.stringify({ level: 'info', msg: 'gateway simulator', seed: flags.seed }));
  return simulator;
});
