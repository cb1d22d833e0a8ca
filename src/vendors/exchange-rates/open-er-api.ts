import { z } from 'zod';
import type { Clock } from '../../domain/clock.ts';
import { CONVERTED_CURRENCIES } from '../../domain/money.ts';
import type { RateSource } from '../../catalogue/port.ts';
import { parseWithNumbersAsText, createTransport } from '../http/transport.ts';
import { rateText } from './decimal.ts';

const OPEN_ENDPOINT = 'https://open.er-api.com/v6/latest/USD';
const TIME_LIMIT_MS = 10_000;
/** About 160 currencies are 4 KB. */
const MAX_BODY_BYTES = 256 * 1024;
/** Published every 24 h; much later means that the provider has stopped. */
const MAX_PUBLISHED_AGE_MS = 26 * 3_600_000;
const MAX_PUBLISHED_AHEAD_MS = 300_000;

/** With every number as text, so that no digit of a rate is lost. */
const answerSchema = z.object({
  result: z.literal('success', 'the provider reports no success'),
  base_code: z.literal('USD', 'the rates are not per US dollar'),
  time_last_update_unix: z.string().regex(/^\d{1,11}$/, 'no time of publication'),
  // Not z.record, which drops a key `__proto__` in silence.
  rates: z.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'no rates in the answer',
  ),
});

/**
 * The open endpoint of ExchangeRate-API (open.er-api.com): published once a day, without a key. Its terms ask
 * for attribution and forbid passing the rates on as data, so an operator has to switch it on. `observe`
 * throws on every answer that is not complete, recent and valid.
 */
export function createOpenErApi(options: {
  readonly clock: Clock;
  readonly url?: string;
  readonly timeLimitMs?: number;
}): RateSource {
  const { clock, url = OPEN_ENDPOINT, timeLimitMs = TIME_LIMIT_MS } = options;
  const name = 'open.er-api.com';
  const { origin, pathname: path } = new URL(url);
  const transport = createTransport({ baseUrl: origin, busyRetryMs: 0 });
  const fetchText = async (): Promise<string> => {
    const answer = await transport.send(() => ({ method: 'GET', path, headers: {} }), {
      timeLimitMs,
      maxBodyBytes: MAX_BODY_BYTES,
      isIdempotent: true,
    });
    if (answer.kind === 'lost') throw new Error(answer.detail);
    if (answer.status !== 200) throw new Error(`HTTP ${answer.status}`);
    return answer.body;
  };
  return {
    name,
    observe: async () => {
      const body = await fetchText();
      const observedAt = clock.now();
      const { data, error } = answerSchema.safeParse(parseWithNumbersAsText(body));
      if (error) throw new Error(z.prettifyError(error));
      requireRecent(data.time_last_update_unix, observedAt);
      return { source: name, ratesPerUsd: readRates(data.rates), observedAt };
    },
  };
}

function requireRecent(atSeconds: string, now: Date): void {
  const ageMs = now.getTime() - Number(atSeconds) * 1000;
  if (ageMs > MAX_PUBLISHED_AGE_MS) throw new Error(`published ${Math.trunc(ageMs / 3_600_000)} h ago`);
  if (ageMs < -MAX_PUBLISHED_AHEAD_MS) throw new Error('published in the future');
}

/** Those that prices need must be among them. */
function readRates(published: Readonly<Record<string, unknown>>): Record<string, string> {
  const currencies = [...new Set([...Object.keys(published), ...CONVERTED_CURRENCIES])];
  return Object.fromEntries(
    currencies.map((currency) => {
      if (!/^[A-Z]{3}$/.test(currency)) throw new Error('not a currency code');
      const rate = rateText(published[currency]);
      if (rate === null) throw new Error(`no rate for ${currency}`);
      return [currency, rate];
    }),
  );
}
