/**
 * The sources of exchange rates: the operator's own, and the client of open.er-api.com at a local server that
 * also misbehaves.
 */
import { describe, expect, it } from 'vitest';
import { createFixedRates } from '../../src/vendors/exchange-rates/fixed.ts';
import { createOpenErApi } from '../../src/vendors/exchange-rates/open-er-api.ts';
import { json, startAnsweringServer, type Answering } from '../support/vendors/answering-server.ts';
import { parseRateMicros } from '../../src/catalogue/pricing.ts';
import { forFile } from '../support/world/for-file.ts';

const NOW = new Date('2026-09-27T12:00:00.000Z');
let nowMs = NOW.getTime();
const clock = { now: () => new Date(nowMs) };

const server = await forFile(startAnsweringServer());

describe('fixed rates', () => {
  it('are observed at the time of each read', async () => {
    const source = createFixedRates({ ratesPerUsd: { NGN: '1600.00', KWD: '0.306' }, clock });
    expect(await source.observe()).toEqual({
      source: 'fixed',
      ratesPerUsd: { NGN: '1600', KWD: '0.306' },
      observedAt: NOW,
      setByOperator: true,
    });
    nowMs += 86_400_000;
    expect((await source.observe()).observedAt).toEqual(new Date(NOW.getTime() + 86_400_000));
    nowMs = NOW.getTime();
  });

  it.each<Record<string, string>>([
    { NGN: '0' },
    { NGN: '-1600' },
    { NGN: 'NaN' },
    { NGN: '1.6e3' },
    { NGN: '' },
    { NGN: ' 1600' },
    { NGN: '1,600' },
    { NGN: '0.0000001' },
    { ngn: '1600' },
    { NAIRA: '1600' },
  ])('refuse %j when they are created', (ratesPerUsd) => {
    expect(() => createFixedRates({ ratesPerUsd, clock })).toThrow(TypeError);
  });
});

describe('the client of open.er-api.com', () => {
  const observe = (answer: Answering, timeLimitMs = 10_000) => {
    server.answerWith(answer);
    const url = `${server.baseUrl}/v6/latest/USD`;
    return createOpenErApi({ clock, url, timeLimitMs }).observe();
  };

  const publishedAt = NOW.getTime() / 1000 - 12 * 3600;
  /** Written by hand: JSON.stringify would already have rounded the numbers. */
  const body = (
    rates: string,
    change: { result?: string; base?: string; published?: string } = {},
  ): string => `{
    "result": "${change.result ?? 'success'}",
    "provider": "https://www.exchangerate-api.com",
    "time_last_update_unix": ${change.published ?? publishedAt},
    "time_next_update_unix": ${publishedAt + 86_400},
    "time_eol_unix": 0,
    "base_code": "${change.base ?? 'USD'}",
    "rates": {${rates}}
  }`;
  it('reads rates without floating point', async () => {
    const rates =
      '"USD":1,"NGN":1534.254567,"KWD":0.30,"XOF":605.1234565,"VND":26345.00000049,"IRR":123456789012.345678';
    const observed = await observe(json(body(rates)));
    expect(observed).toEqual({
      source: 'open.er-api.com',
      observedAt: NOW,
      ratesPerUsd: {
        USD: '1',
        NGN: '1534.254567',
        KWD: '0.3',
        XOF: '605.123457',
        VND: '26345',
        // More digits than floating point holds.
        IRR: '123456789012.345678',
      },
    });
  });

  it.each([
    ['zero', '"NGN":0'],
    ['rounded to zero', '"NGN":0.0000004'],
    ['negative', '"NGN":-1534.25'],
    ['null', '"NGN":null'],
    ['text', '"NGN":"NaN"'],
    ['NaN', '"NGN":NaN'],
    ['an exponent', '"NGN":1.5e3'],
    ['a list', '"NGN":[1534]'],
    ['absent', '"EUR":0.92'],
    ['beside a negative rate', '"NGN":1534.25,"EUR":-0.92'],
    ['beside an unknown currency', '"NGN":1534.25,"__proto__":1'],
  ])('throws after a rate that is %s', async (_name, rates) => {
    await expect(observe(json(body(rates)))).rejects.toThrow();
  });

  it.each([
    ['an error report', body('"NGN":1534.25', { result: 'error' })],
    ['another base', body('"NGN":1534.25', { base: 'EUR' })],
    ['no time of publication', body('"NGN":1534.25', { published: 'null' })],
    [
      'rates of the day before yesterday',
      body('"NGN":1534.25', { published: String(publishedAt - 2 * 86_400) }),
    ],
    ['rates of tomorrow', body('"NGN":1534.25', { published: String(publishedAt + 2 * 86_400) })],
    ['no rates', '{"result":"success","base_code":"USD","time_last_update_unix":1}'],
    ['no JSON', '<html>'],
    ['an empty body', ''],
    ['half an answer', body('"NGN":1534.25').slice(0, 150)],
    ['an answer of 300,000 bytes', body(`"NGN":1534.25,"PAD":"${'x'.repeat(300_000)}"`)],
  ])('throws after %s', async (_name, text) => {
    await expect(observe(json(text))).rejects.toThrow();
  });

  it.each<[string, Answering]>([
    ['429', json(body('"NGN":1534.25'), 429)],
    ['500', json('oops', 500)],
    ['a redirect', (response) => void response.writeHead(302, { location: '/' }).end()],
    ['silence', () => undefined],
    ['a reset', (response) => void response.socket?.resetAndDestroy()],
  ])('throws after %s', async (_name, misbehave) => {
    await expect(observe(misbehave, 300)).rejects.toThrow();
  });

  it('returns rates that prices are computed with', async () => {
    const { ratesPerUsd } = await observe(json(body('"NGN":1534.2545678901,"USD":1')));
    expect(parseRateMicros(ratesPerUsd['NGN']!)).toBe(1_534_254_568n);
  });
});
