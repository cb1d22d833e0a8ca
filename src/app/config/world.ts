/**
 * Settings of one environment: its vendors, how fast purchases go, reconciliation, and webhooks to merchants.
 */
import { z } from 'zod';
import type { Environment } from '../../domain/account.ts';
import { HOUR_MS } from '../../domain/clock.ts';
import { parseMinor } from '../../domain/money.ts';
import type { PurchaseTimings } from '../../purchases/purchase.ts';
import type { FeeTariff } from '../../reconciliation/payment-rules.ts';
import { ATTEMPT_WAITS_MS, FAILING_LIMIT_MS, HAND_OVER_FROM_MS } from '../../webhooks/rules.ts';
import { json, list, positive, secureUrl, text } from './fields.ts';

const decimal = z
  .string()
  .refine((amount) => (parseMinor(amount) ?? -1n) >= 0n, 'takes a decimal such as "100.00"')
  .transform((amount) => parseMinor(amount) ?? 0n);

const tariff = z
  .strictObject({
    percent: z.string().regex(/^\d{1,2}(\.\d{1,2})?$/),
    fixed: decimal.default(0n),
    fixedFrom: decimal.default(0n),
    cap: decimal.optional(),
  })
  .transform(({ percent, fixed, fixedFrom, cap }): FeeTariff => ({
    rateBps: Number(parseMinor(percent) ?? 0n),
    fixedMinor: fixed,
    fixedFromMinor: fixedFrom,
    capMinor: cap ?? null,
  }));

/** JSON such as `{"NGN":[{"percent":"1.5","fixed":"100.00","fixedFrom":"2500.00","cap":"2000.00"}]}`. */
const fees = (fallback: object) =>
  json(
    JSON.stringify(fallback),
    '{"NGN":[{"percent":"1.5"}]}',
    z.record(z.string().regex(/^[A-Z]{3}$/), z.array(tariff).min(1)),
  );

const SIMULATORS_FEES = {
  NGN: [{ percent: '1.5', cap: '2000.00' }],
  ...Object.fromEntries(['USD', 'GHS', 'KES', 'XOF'].map((currency) => [currency, [{ percent: '1.5' }]])),
};

/** Some of the waiting times of purchases. */
const timings = json(
  '{}',
  '{"attentionAfterMs":5000}',
  z.record(z.string(), z.number().int().positive()),
) satisfies z.ZodType<Partial<PurchaseTimings>>;

/**
 * Below a second nearly every read would ask the supplier; above an hour a page would show what the schedule
 * has long replaced.
 */
const esimFreshMs = (fallback: number) => z.coerce.number().int().min(1_000).max(HOUR_MS).default(fallback);

/** Variables of the environment. */
export const worldSettings = {
  SIMWAY_TEST_SUPPLIER_URL: z.url(),
  SIMWAY_TEST_SUPPLIER_ACCESS_CODE: z.string().min(1),
  SIMWAY_TEST_SUPPLIER_SECRET_KEY: text,
  SIMWAY_TEST_SUPPLIER_CONTROL_URL: z.url().optional(),
  SIMWAY_TEST_SUPPLIER_REQUESTS_PER_SECOND: z.coerce.number().int().positive().optional(),
  SIMWAY_TEST_SUPPLIER_EVENTS_URL: z.union([z.url(), z.literal('off')]).optional(),
  SIMWAY_TEST_SUPPLIER_EVENT_ADDRESSES: list.prefault('127.0.0.0/8,::1'),
  SIMWAY_TEST_ESIM_FRESH_MS: esimFreshMs(2_000),
  SIMWAY_LIVE_ESIM_FRESH_MS: esimFreshMs(60_000),
  SIMWAY_LIVE_SUPPLIER_EVENTS_URL: secureUrl.optional(),
  /** The vendor's published ones. */
  SIMWAY_LIVE_SUPPLIER_EVENT_ADDRESSES: list.prefault(
    '3.1.131.226,54.254.74.88,18.136.190.97,18.136.60.197,18.136.19.137',
  ),
  SIMWAY_LIVE_SUPPLIER_URL: secureUrl.default('https://api.esimaccess.com'),
  SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: text,
  SIMWAY_LIVE_SUPPLIER_SECRET_KEY: text,
  SIMWAY_TEST_GATEWAY_REQUESTS_PER_SECOND: z.coerce.number().int().positive().optional(),
  /**
   * Three times what 100,000 payments and 300,000 checkouts a day take (docs/CAPACITY.md). The gateway names
   * no limit of its own.
   */
  SIMWAY_LIVE_GATEWAY_REQUESTS_PER_SECOND: positive(30),
  SIMWAY_TEST_GATEWAY_URL: z.url().optional(),
  SIMWAY_TEST_GATEWAY_SECRET_KEY: text,
  SIMWAY_TEST_GATEWAY_PREVIOUS_SECRET_KEY: text,
  SIMWAY_LIVE_GATEWAY_URL: secureUrl.default('https://api.paystack.co'),
  SIMWAY_LIVE_GATEWAY_SECRET_KEY: text,
  SIMWAY_LIVE_GATEWAY_PREVIOUS_SECRET_KEY: text,
  SIMWAY_TEST_TIMINGS: timings,
  /** The gateway allows 15 minutes to 8 hours. */
  SIMWAY_TRANSFER_MINUTES: z.coerce.number().int().min(15).max(480).default(30),
  SIMWAY_TEST_RECONCILE_MS: positive(HOUR_MS),
  SIMWAY_LIVE_RECONCILE_MS: positive(24 * HOUR_MS),
  /** A page takes money for a day, and late money is checked for three days more. */
  SIMWAY_RECONCILE_OVERLAP_MS: positive(96 * HOUR_MS),
  SIMWAY_TEST_RECONCILE_SETTLE_MS: positive(300_000),
  SIMWAY_LIVE_RECONCILE_SETTLE_MS: positive(HOUR_MS),
  SIMWAY_TEST_GATEWAY_FEES: fees(SIMULATORS_FEES),
  SIMWAY_LIVE_GATEWAY_FEES: fees({}),
  SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES: list,
  SIMWAY_LIVE_WEBHOOK_ALLOWED_RANGES: list,
  SIMWAY_TEST_WEBHOOK_SPEED: positive(1),
};

type Settings = z.output<z.ZodObject<typeof worldSettings>>;

/** Durations travel with each purchase, so open ones keep theirs. */
export function purchaseTimings(
  s: Pick<Settings, 'SIMWAY_TEST_TIMINGS' | 'SIMWAY_TRANSFER_MINUTES'>,
  environment: Environment,
): PurchaseTimings {
  const live: PurchaseTimings = {
    openChargeForMs: 10 * 60_000,
    checkoutMs: 24 * HOUR_MS,
    transferMs: s.SIMWAY_TRANSFER_MINUTES * 60_000,
    pollFirstMs: 5_000,
    pollMaxMs: 10 * 60_000,
    refundCheckFirstMs: 5_000,
    refundCheckMaxMs: HOUR_MS,
    answerWithinMs: 8_000,
    // The supplier's advice: a check every 3 s, up to 30 s expected.
    checkFirstMs: 1_000,
    checkMaxMs: 3_000,
    attentionAfterMs: 600_000,
    slowCheckMs: 300_000,
    // After the 6 s to send an order and the 5 s to answer it. The vendor lists an order within 30 s.
    inFlightGraceMs: 60_000,
  };
  if (environment === 'live') return live;
  return {
    ...live,
    // The simulators are local and allocate at once.
    pollFirstMs: 2_000,
    refundCheckFirstMs: 500,
    refundCheckMaxMs: 10_000,
    checkFirstMs: 250,
    attentionAfterMs: 120_000,
    slowCheckMs: 10_000,
    inFlightGraceMs: 20_000,
    ...s.SIMWAY_TEST_TIMINGS,
  };
}

/** One answer of the gateway: two tries fit into a buyer's wait. */
const GATEWAY_TIME_LIMIT_MS = 2_500;
const SUPPLIER_TIME_LIMIT_MS = 5_000;
/** The vendor's published allowance. */
const LIVE_SUPPLIER_REQUESTS_PER_SECOND = 8;

/** A gateway is there once its address and its key are; without one only WALLET is offered. */
function gatewayOf(
  baseUrl: string | undefined,
  secretKey: string | undefined,
  requestsPerSecond: number | null,
) {
  if (baseUrl === undefined || secretKey === undefined) return undefined;
  return { baseUrl, timeLimitMs: GATEWAY_TIME_LIMIT_MS, requestsPerSecond, shareWithoutRedis: 0.25 };
}

/**
 * What `shareWithoutRedis` is: the part of a vendor's allowance that each process takes while Redis is away.
 */
export function worldSpecifics(s: Settings, environment: Environment) {
  const isLive = environment === 'live';
  return {
    supplier: {
      baseUrl: isLive ? s.SIMWAY_LIVE_SUPPLIER_URL : s.SIMWAY_TEST_SUPPLIER_URL,
      /** There is nothing to control at a real supplier. */
      controlUrl: isLive ? undefined : s.SIMWAY_TEST_SUPPLIER_CONTROL_URL,
      requestsPerSecond: isLive
        ? LIVE_SUPPLIER_REQUESTS_PER_SECOND
        : (s.SIMWAY_TEST_SUPPLIER_REQUESTS_PER_SECOND ?? null),
      shareWithoutRedis: isLive ? 0.25 : 0.5,
      timeLimitMs: SUPPLIER_TIME_LIMIT_MS,
    },
    gateway: isLive
      ? gatewayOf(
          s.SIMWAY_LIVE_GATEWAY_URL,
          s.SIMWAY_LIVE_GATEWAY_SECRET_KEY,
          s.SIMWAY_LIVE_GATEWAY_REQUESTS_PER_SECOND,
        )
      : gatewayOf(
          s.SIMWAY_TEST_GATEWAY_URL,
          s.SIMWAY_TEST_GATEWAY_SECRET_KEY,
          s.SIMWAY_TEST_GATEWAY_REQUESTS_PER_SECOND ?? null,
        ),
    esimFreshMs: isLive ? s.SIMWAY_LIVE_ESIM_FRESH_MS : s.SIMWAY_TEST_ESIM_FRESH_MS,
    closedPaymentFreshMs: isLive ? 60_000 : 2_000,
    reconcile: {
      everyMs: isLive ? s.SIMWAY_LIVE_RECONCILE_MS : s.SIMWAY_TEST_RECONCILE_MS,
      overlapMs: s.SIMWAY_RECONCILE_OVERLAP_MS,
      settleMs: isLive ? s.SIMWAY_LIVE_RECONCILE_SETTLE_MS : s.SIMWAY_TEST_RECONCILE_SETTLE_MS,
      lingerMs: isLive ? 10_000 : 1_000,
      fees: isLive ? s.SIMWAY_LIVE_GATEWAY_FEES : s.SIMWAY_TEST_GATEWAY_FEES,
    },
  };
}

/**
 * Where the supplier sends its events, without a trailing slash, and from where. The sandbox's supplier is
 * beside the API.
 */
export function supplierEventsOf(s: Settings, environment: Environment, localApiUrl: string) {
  if (environment === 'live') {
    const { SIMWAY_LIVE_SUPPLIER_EVENTS_URL: url, SIMWAY_LIVE_SUPPLIER_EVENT_ADDRESSES: addresses } = s;
    return { url: url?.replace(/\/+$/, ''), addresses };
  }
  const { SIMWAY_TEST_SUPPLIER_EVENTS_URL: given, SIMWAY_TEST_SUPPLIER_EVENT_ADDRESSES: addresses } = s;
  return { url: given === 'off' ? undefined : (given ?? localApiUrl).replace(/\/+$/, ''), addresses };
}

/** Live follows the published schedule exactly. `waitsMs`: the wait before each attempt. */
export function webhooksOf(s: Settings, environment: Environment) {
  const isLive = environment === 'live';
  const faster = (ms: number): number => (isLive ? ms : Math.trunc(ms / s.SIMWAY_TEST_WEBHOOK_SPEED));
  return {
    httpsOnly: isLive,
    /** The operator's own addresses and ranges, which are called although they are not public. */
    allowedRanges: isLive ? s.SIMWAY_LIVE_WEBHOOK_ALLOWED_RANGES : s.SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES,
    waitsMs: ATTEMPT_WAITS_MS.map(faster),
    failingLimitMs: faster(FAILING_LIMIT_MS),
    handOverFromMs: faster(HAND_OVER_FROM_MS),
  };
}

/**
 * What only this environment's processes may know. The secret key of a gateway signs in and signs events; a
 * replaced one still proves events.
 */
export function worldSecrets(s: Settings) {
  const gatewayKeys = (secretKey: string | undefined, previousSecretKey: string | undefined) =>
    secretKey === undefined ? undefined : { secretKey, previousSecretKey };
  const supplierKeys = (accessCode: string | undefined, secretKey: string | undefined) =>
    accessCode === undefined ? undefined : { accessCode, secretKey };
  return {
    gateways: {
      test: gatewayKeys(s.SIMWAY_TEST_GATEWAY_SECRET_KEY, s.SIMWAY_TEST_GATEWAY_PREVIOUS_SECRET_KEY),
      live: gatewayKeys(s.SIMWAY_LIVE_GATEWAY_SECRET_KEY, s.SIMWAY_LIVE_GATEWAY_PREVIOUS_SECRET_KEY),
    },
    suppliers: {
      test: supplierKeys(s.SIMWAY_TEST_SUPPLIER_ACCESS_CODE, s.SIMWAY_TEST_SUPPLIER_SECRET_KEY),
      live: supplierKeys(s.SIMWAY_LIVE_SUPPLIER_ACCESS_CODE, s.SIMWAY_LIVE_SUPPLIER_SECRET_KEY),
    },
  };
}
