/**
 * Promise W2 and the bodies of webhooks: every gap of the schedule within its bounds for a thousand
 * endpoints, every byte of every body.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/domain/clock.ts';
import { ATTEMPT_WAITS_MS, FAILING_LIMIT_MS, shouldDisable, nextAttempt } from '../../src/webhooks/rules.ts';
import { sampleBody } from '../../src/webhooks/event-samples.ts';
import {
  DEFAULT_EVENTS,
  isWebhookEvent,
  WEBHOOK_EVENTS,
  webhookBody,
  type WebhookFacts,
} from '../../src/webhooks/events.ts';
import { createRandom, seedOfRun, withSeed } from '../support/time/size.ts';

/** As in the documents and the promise, written again by hand. */
const PUBLISHED_MS = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
const START_MS = Date.parse('2026-11-21T09:00:00.000Z');
const STEPS = 2 ** 32;

describe('the schedule', () => {
  it('is the published one, 75 h 35 min 5 s in total', () => {
    expect(ATTEMPT_WAITS_MS).toEqual(PUBLISHED_MS);
    const total = PUBLISHED_MS.reduce((sum, wait) => sum + wait, 0);
    expect(total).toBe(75 * HOUR_MS + 35 * MINUTE_MS + 5 * SECOND_MS);
  });

  it('keeps every gap of 1,000 endpoints within a fifth, uses the whole width, and ends after ten attempts', () =>
    withSeed((seed) => {
      const gaps: number[][] = PUBLISHED_MS.map(() => []);
      for (let endpoint = 0; endpoint < 1_000; endpoint += 1) {
        const random = createRandom(seed + endpoint);
        let nowMs = START_MS;
        let attempts = 0;
        for (;;) {
          const atMs = nextAttempt(attempts, nowMs, random.below(STEPS) / STEPS);
          if (atMs === undefined) break;
          gaps[attempts]!.push(atMs - nowMs);
          nowMs = atMs;
          attempts += 1;
        }
        expect(attempts).toBe(10);
      }
      gaps.forEach((each, attempts) => {
        const planned = PUBLISHED_MS[attempts]!;
        const [least, most] = [Math.min(...each), Math.max(...each)];
        expect(each).toHaveLength(1_000);
        expect(each.every(Number.isSafeInteger)).toBe(true);
        expect(least).toBeGreaterThanOrEqual(planned * 0.8);
        expect(most).toBeLessThanOrEqual(planned * 1.2);
        if (planned === 0) return;
        expect(least).toBeLessThan(planned * 0.81);
        expect(most).toBeGreaterThan(planned * 1.19);
      });
    }));

  it('reaches both ends of the jitter and never exceeds them', () => {
    PUBLISHED_MS.forEach((planned, attempts) => {
      expect(nextAttempt(attempts, START_MS, 0)).toBe(START_MS + planned * 0.8);
      expect(nextAttempt(attempts, START_MS, 0.5)).toBe(START_MS + planned);
      expect(nextAttempt(attempts, START_MS, 1 - 2 ** -53)).toBe(START_MS + planned * 1.2);
    });
  });

  it.each([
    // attempts so far, random, Retry-After in seconds, the wait in seconds
    ['the first attempt is at once, whatever was said', 0, 0.5, 3_600, 0],
    ['less than planned', 2, 0.5, 60, 300],
    ['less than the jittered wait', 2, 0, 200, 240],
    ['more than the jittered wait', 2, 0, 250, 250],
    ['as much as planned', 2, 0, 300, 300],
    ['more than the latest jitter', 2, 0.999, 400, 400],
    ['exactly twice', 2, 0.5, 600, 600],
    ['more than twice', 2, 0.5, 601, 600],
    ['a year', 9, 0.5, 31_536_000, 2 * 24 * 3_600],
  ])('honours Retry-After: %s', (_name, attempts, random, retryAfterS, waitS) => {
    const atMs = nextAttempt(attempts, START_MS, random, retryAfterS * SECOND_MS);
    expect(atMs).toBe(START_MS + waitS * SECOND_MS);
  });

  it('honours every Retry-After from one to two times the planned wait to the millisecond', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.double({ min: 1.2, max: 2, noNaN: true }),
        (attempts, random, times) => {
          const asked = Math.trunc(PUBLISHED_MS[attempts]! * times);
          expect(nextAttempt(attempts, START_MS, random, asked)).toBe(START_MS + asked);
        },
      ),
      { seed: seedOfRun() },
    );
  });

  it('ends after the last attempt, whatever the answer was', () => {
    expect(nextAttempt(10, START_MS, 0.5)).toBeUndefined();
    expect(nextAttempt(10, START_MS, 0.5, HOUR_MS)).toBeUndefined();
    expect(nextAttempt(11, START_MS, 0.5)).toBeUndefined();
  });

  it('uses other waits in a scaled run', () => {
    expect(nextAttempt(1, START_MS, 0.5, 0, [0, 50])).toBe(START_MS + 50);
    expect(nextAttempt(1, START_MS, 0.5, 1_000, [0, 50])).toBe(START_MS + 100);
    expect(nextAttempt(2, START_MS, 0.5, 0, [0, 50])).toBeUndefined();
  });
});

describe('a failing endpoint', () => {
  it.each([
    ['five days of failures', 120 * HOUR_MS, 4, true],
    ['more of them', 500 * HOUR_MS, 10, true],
    ['a millisecond less', 120 * HOUR_MS - 1, 10, false],
    ['a first failure after a long silence', 720 * HOUR_MS, 1, false],
    ['three of them', 720 * HOUR_MS, 3, false],
    ['a fourth, half an hour on', 720 * HOUR_MS, 4, true],
    ['nothing before', 0, 10, false],
  ])('after %s', (_name, sinceMs, attempts, failing) => {
    const failures = { failingSinceMs: START_MS, attempts };
    expect(shouldDisable(failures, START_MS + sinceMs)).toBe(failing);
  });

  it('is never disabled for one message only: its whole schedule is shorter, jitter included', () => {
    const longest = PUBLISHED_MS.reduce((sum, wait) => sum + wait * 1.2, 0);
    expect(longest).toBeLessThan(FAILING_LIMIT_MS);
  });
});

describe('bodies', () => {
  const at = new Date('2026-11-21T09:00:00.007Z');
  const purchase = (changes: Partial<WebhookFacts['esim.purchased']>) =>
    webhookBody(
      'esim.purchased',
      {
        transactionId: 'txn-1',
        status: 'PROCESSING',
        esimId: null,
        iccid: null,
        qrCodeUrl: null,
        reference: null,
        metadata: {},
        ...changes,
      },
      at,
    );

  it('of a purchase have exactly the specified fields', () => {
    const esim = { esimId: 'esim-1', iccid: '8948', qrCodeUrl: 'https://example.com/q/1.png?a="b"' };
    const own = { reference: 'order "1"', metadata: { b: '1', a: '2' } };
    expect(purchase({ status: 'SUCCESS', ...esim, ...own })).toBe(
      '{"event":"esim.purchased","data":{"transactionId":"txn-1","status":"SUCCESS","esimId":"esim-1","iccid":"8948",' +
        '"qrCodeUrl":"https://example.com/q/1.png?a=\\"b\\"","reference":"order \\"1\\"","metadata":{"b":"1","a":"2"}},"timestamp":"2026-11-21T09:00:00.007Z"}',
    );
  });

  it.each(['PROCESSING', 'SUCCESS', 'FAILED'] as const)(
    'have every key while there is no eSIM: %s',
    (status) => {
      expect(purchase({ status })).toBe(
        `{"event":"esim.purchased","data":{"transactionId":"txn-1","status":"${status}","esimId":"","iccid":"",` +
          '"qrCodeUrl":"","reference":"","metadata":{}},"timestamp":"2026-11-21T09:00:00.007Z"}',
      );
    },
  );

  it('of an order without a profile name it and leave the rest empty', () => {
    expect(purchase({ esimId: 'esim-1' })).toContain('"esimId":"esim-1","iccid":"","qrCodeUrl":""');
  });

  it('of payments and wallets have numbers with two decimals, however large', () => {
    const payment = {
      transactionId: 'txn-1',
      gatewayReference: 'txn-1-2',
      currency: 'NGN',
      reference: 'order-1',
      metadata: {},
    };
    expect(
      webhookBody(
        'payment.received',
        {
          ...payment,
          purpose: 'funding',
          paymentMethod: 'BANK_TRANSFER',
          amountMinor: 9_007_199_254_740_993_01n,
        },
        at,
      ),
    ).toBe(
      '{"event":"payment.received","data":{"transactionId":"txn-1","purpose":"funding","paymentMethod":"BANK_TRANSFER",' +
        '"gatewayReference":"txn-1-2","amount":9007199254740993.01,"currency":"NGN","reference":"order-1","metadata":{}},"timestamp":"2026-11-21T09:00:00.007Z"}',
    );
    expect(webhookBody('payment.refunded', { ...payment, amountMinor: 5n, refundedTo: 'WALLET' }, at)).toBe(
      '{"event":"payment.refunded","data":{"transactionId":"txn-1","gatewayReference":"txn-1-2","amount":0.05,"currency":"NGN",' +
        '"refundedTo":"WALLET","reference":"order-1","metadata":{}},"timestamp":"2026-11-21T09:00:00.007Z"}',
    );
    expect(
      webhookBody('wallet.low_balance', { balanceMinor: 0n, thresholdMinor: 10_00n, currency: 'USD' }, at),
    ).toBe(
      '{"event":"wallet.low_balance","data":{"balance":0.00,"threshold":10.00,"currency":"USD"},' +
        '"timestamp":"2026-11-21T09:00:00.007Z"}',
    );
    const disabled = {
      endpointId: 'ep-1',
      url: 'https://m.example/in',
      reason: 'GONE',
      messageId: 'msg-1',
    } as const;
    expect(webhookBody('endpoint.disabled', disabled, at)).toBe(
      '{"event":"endpoint.disabled","data":{"endpointId":"ep-1","url":"https://m.example/in","reason":"GONE","messageId":"msg-1"},' +
        '"timestamp":"2026-11-21T09:00:00.007Z"}',
    );
  });

  it('have only their own keys, whatever else a caller passes in', () => {
    const more = { pin: '1234', ac: 'LPA:1$x$y' };
    expect(purchase({ ...more, status: 'SUCCESS' })).toBe(purchase({ status: 'SUCCESS' }));
  });

  it('are JSON whatever the texts contain', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff)), (units) => {
        const text = String.fromCharCode(...units);
        const { data } = JSON.parse(purchase({ transactionId: text, iccid: text })) as {
          data: Record<string, string>;
        };
        expect(data).toMatchObject({ transactionId: text, iccid: text });
      }),
      { seed: seedOfRun() },
    );
  });
});

describe('the list of events', () => {
  it('is fixed, and only the specified one goes to every endpoint', () => {
    expect(WEBHOOK_EVENTS).toEqual([
      'esim.purchased',
      'esim.status_changed',
      'esim.usage_threshold',
      'esim.expiring',
      'esim.expired',
      'esim.returned',
      'esim.replaced',
      'mandate.ended',
      'mandate.refused',
      'payment.received',
      'payment.refunded',
      'wallet.low_balance',
      'endpoint.disabled',
      'batch.completed',
      'package.changed',
      'package.withdrawn',
    ]);
    expect(DEFAULT_EVENTS).toEqual(['esim.purchased']);
    expect(WEBHOOK_EVENTS.every(isWebhookEvent)).toBe(true);
    const others = ['', 'esim', 'esim.*', '*', 'ESIM.PURCHASED', 'toString', '__proto__', 'esim.purchased '];
    expect(others.filter(isWebhookEvent)).toEqual([]);
  });

  it.each(WEBHOOK_EVENTS)('has a sample of %s in the real shape', (event) => {
    const body = JSON.parse(sampleBody(event, new Date(START_MS))) as Record<string, unknown>;
    expect(Object.keys(body)).toEqual(['event', 'data', 'timestamp']);
    expect(body).toMatchObject({ event, timestamp: '2026-11-21T09:00:00.000Z' });
    expect(Object.values(body['data'] as object)).not.toContain('');
    for (const id of JSON.stringify(body).matchAll(/"(txn|esim|ep|batch|mandate)-([^"]*)"/g))
      expect(id[2]).toMatch(/^0{32}(-1)?$/);
  });

  it('has a sample of a purchase for each status, of which only a delivered one has an eSIM', () => {
    const dataOf = (...status: Parameters<typeof sampleBody>[2][]) =>
      (JSON.parse(sampleBody('esim.purchased', new Date(START_MS), ...status)) as { data: object }).data;
    const transactionId = `txn-${'0'.repeat(32)}`;
    const own = { reference: 'order-1001', metadata: { channel: 'sample' } };
    const delivered = {
      transactionId,
      status: 'SUCCESS',
      esimId: `esim-${'0'.repeat(32)}`,
      iccid: '8900000000000000000',
      qrCodeUrl: 'https://example.com/qr/sample.png',
      ...own,
    };
    expect(dataOf()).toEqual(delivered);
    expect(dataOf('SUCCESS')).toEqual(delivered);
    for (const status of ['PROCESSING', 'FAILED'] as const)
      expect(dataOf(status)).toEqual({ transactionId, status, esimId: '', iccid: '', qrCodeUrl: '', ...own });
  });

  it('has samples of the other events, which no status changes', () => {
    const others = WEBHOOK_EVENTS.filter((event) => event !== 'esim.purchased');
    for (const event of others)
      expect(sampleBody(event, new Date(START_MS), 'FAILED')).toBe(sampleBody(event, new Date(START_MS)));
  });
});
