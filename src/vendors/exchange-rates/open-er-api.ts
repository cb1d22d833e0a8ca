/**
 * Rates from the open endpoint of ExchangeRate-API (open.er-api.com), published once a day, without a key. Its terms ask for
 * attribution and forbid passing the rates on as data, so an operator switches it on knowingly. Guarantee: all rates of an answer are
 * sound, or it throws.
 */
import type { Clock } from '../../domain/clock.ts';
import type { RateSource } from '../../catalogue/port.ts';
import { parseWithNumbersAsText } from '../http/json.ts';
import { rateText } from './decimal.ts';

const OPEN_ENDPOINT = 'https://open.er-api.com/v6/latest/USD';
const TIME_LIMIT_MS = 10_000;
/** About 160 currencies are 4 KB. */
const MAX_BODY_BYTES = 256 * 1024;
/** Published every 24 h; a little later happens, much later means that the provider has stopped. */
const MAX_PUBLISHED_AGE_MS = 26 * 3_600_000;
/** The provider's clock may be a little ahead of ours. */
const MAX_PUBLISHED_AHEAD_MS = 300_000;

export interface OpenErApiOptions {
  readonly clock: Clock;
  readonly url?: string;
  readonly timeLimitMs?: number;
  /** Only these, all of them; without it everything that the provider has, NGN at least. */
  readonly currencies?: readonly string[];
}

/** Makes the source. `observe` throws on every answer that is not complete, recent and sound. */
export function createOpenErApi(options: OpenErApiOptions): RateSource {
  const { clock, url = OPEN_ENDPOINT, timeLimitMs = TIME_LIMIT_MS, currencies } = options;
  const name = 'open.er-api.com';
  return {
    name,
    observe: async () => {
      const body = await fetchText(url, timeLimitMs);
      const observedAt = clock.now();
      const published = readAnswer(body);
      requireRecent(published.atSeconds, observedAt);
      return { source: name, ratesPerUsd: soundRates(published.rates, currencies), observedAt };
    },
  };
}

async function fetchText(url: string, timeLimitMs: number): Promise<string> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeLimitMs),
  });
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new Error(`HTTP ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`answer of more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readAnswer(body: string): {
  readonly atSeconds: string;
  readonly rates: Readonly<Record<string, unknown>>;
} {
  const answer = parseWithNumbersAsText(body);
  if (!isRecord(answer) || answer['result'] !== 'success') throw new Error('the provider reports no success');
  if (answer['base_code'] !== 'USD') throw new Error('the rates are not per US dollar');
  const { rates, time_last_update_unix: atSeconds } = answer;
  if (!isRecord(rates)) throw new Error('no rates in the answer');
  if (typeof atSeconds !== 'string' || !/^\d{1,11}$/.test(atSeconds))
    throw new Error('no time of publication');
  return { atSeconds, rates };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function requireRecent(atSeconds: string, now: Date): void {
  const ageMs = now.getTime() - Number(atSeconds) * 1000;
  if (ageMs > MAX_PUBLISHED_AGE_MS) throw new Error(`published ${Math.trunc(ageMs / 3_600_000)} h ago`);
  if (ageMs < -MAX_PUBLISHED_AHEAD_MS) throw new Error('published in the future');
}

function soundRates(
  published: Readonly<Record<string, unknown>>,
  currencies: readonly string[] | undefined,
): Record<string, string> {
  const wanted = currencies ?? [...new Set([...Object.keys(published), 'NGN'])];
  const rates: Record<string, string> = {};
  for (const currency of wanted) {
    if (!/^[A-Z]{3}$/.test(currency)) throw new Error('a currency code that is none');
    const written = Object.hasOwn(published, currency) ? published[currency] : undefined;
    const rate = rateText(written);
    if (rate === null) throw new Error(`no rate for ${currency}`);
    rates[currency] = rate;
  }
  return rates;
}
