/** The gateway simulator as a process. Prints its seed on stderr, so that a run can be repeated. */
import { neededSecret, runSimulator, wholeNumber } from '../kit/process.ts';
import { RETRY_SCHEDULES } from './faults.ts';
import { createPaystackSimulator } from './index.ts';
import { isWebAddress } from './params.ts';
import { COUNTRIES, CURRENCIES } from './rules.ts';

const USAGE = `usage: SANDBOX_GATEWAY_KEY=<secret key> node packages/simulators/paystack/main.ts --data <dir>
  [--host 127.0.0.1] [--port 0] [--control-port 0] [--public-url <url>]
  [--webhook-url <url>]... [--retries test|test-72h|live]
  [--bank-country NG|GH|KE|CI|ZA] [--currency NGN]... [--merchant "Sandbox Merchant"]
  [--refund-delay-ms 300] [--scenario-ms 1000] [--seed 1] [--exit-with-parent]
`;
const FLAGS = {
  'public-url': { type: 'string' },
  'webhook-url': { type: 'string', multiple: true, default: [] as string[] },
  retries: { type: 'string', default: 'test' },
  'bank-country': { type: 'string', default: 'NG' },
  currency: { type: 'string', multiple: true, default: [...CURRENCIES] as string[] },
  merchant: { type: 'string', default: 'Sandbox Merchant' },
  'refund-delay-ms': { type: 'string', default: '300' },
  'scenario-ms': { type: 'string', default: '1000' },
} as const;

function wordOf<Word extends string>(text: string, words: readonly Word[], flag: string): Word {
  const word = words.find((each) => each === text);
  if (word === undefined) throw new Error(`--${flag} must be one of ${words.join(', ')}`);
  return word;
}

function addressOf(text: string, flag: string): string {
  if (!isWebAddress(text)) throw new Error(`--${flag} must be an address`);
  return text;
}

runSimulator(USAGE, FLAGS, (flags, common) => {
  const publicUrl = flags['public-url'];
  const simulator = createPaystackSimulator({
    ...common,
    secretKey: neededSecret('SANDBOX_GATEWAY_KEY'),
    webhookUrls: flags['webhook-url'].map((url) => addressOf(url, 'webhook-url')),
    ...(publicUrl === undefined ? {} : { publicUrl: addressOf(publicUrl, 'public-url') }),
    retries: wordOf(flags.retries, RETRY_SCHEDULES, 'retries'),
    bankCountry: wordOf(flags['bank-country'], COUNTRIES, 'bank-country'),
    currencies: flags.currency.map((currency) => wordOf(currency, CURRENCIES, 'currency')),
    merchant: flags.merchant,
    refundDelayMs: wholeNumber(flags['refund-delay-ms'], 'refund-delay-ms'),
    scenarioMs: wholeNumber(flags['scenario-ms'], 'scenario-ms'),
  });
  common.log(JSON.stringify({ level: 'info', msg: 'gateway simulator', seed: common.seed }));
  return simulator;
});
