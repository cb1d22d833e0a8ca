/** The part of the configuration that is about money from outside: the gateway of each world, its pace, and where buyers come back to. */
import { z } from 'zod';
import type { Environment } from '../../domain/account.ts';
import type { PaymentTimings } from '../../payments/rules.ts';

export interface GatewayConfig {
  readonly baseUrl: string;
  readonly timeLimitMs: number;
}

/** The secret key signs in and signs events; one that was replaced lately still proves events. */
export interface GatewayKeys {
  readonly secretKey: string;
  readonly previousSecretKey: string | undefined;
}

const secret = z.string().min(1).optional();

/** Variables of the environment. */
export const paymentSettings = {
  SIMWAY_TEST_GATEWAY_URL: z.url().optional(),
  SIMWAY_TEST_GATEWAY_SECRET_KEY: secret,
  SIMWAY_TEST_GATEWAY_PREVIOUS_SECRET_KEY: secret,
  SIMWAY_LIVE_GATEWAY_URL: z.url().default('https://api.paystack.co'),
  SIMWAY_LIVE_GATEWAY_SECRET_KEY: secret,
  SIMWAY_LIVE_GATEWAY_PREVIOUS_SECRET_KEY: secret,
  SIMWAY_PUBLIC_URL: z.url().optional(),
  SIMWAY_MOBILE_MONEY_CURRENCY: z.enum(['GHS', 'KES', 'XOF']).optional(),
  /** The gateway allows 15 minutes to 8 hours. */
  SIMWAY_TRANSFER_MINUTES: z.coerce.number().int().min(15).max(480).default(30),
};

type Settings = z.output<z.ZodObject<typeof paymentSettings>>;

/** One answer of the gateway: two tries fit into a buyer's wait. */
const GATEWAY_TIME_LIMIT_MS = 2_500;

/** A gateway is there once its address and its key are. */
export function gatewayOf(
  baseUrl: string | undefined,
  secretKey: string | undefined,
): { readonly gateway?: GatewayConfig } {
  if (baseUrl === undefined || secretKey === undefined) return {};
  return { gateway: { baseUrl, timeLimitMs: GATEWAY_TIME_LIMIT_MS } };
}

export function gatewayKeysOf(s: Settings): Partial<Record<Environment, GatewayKeys>> {
  const keys = (secretKey: string | undefined, previousSecretKey: string | undefined) =>
    secretKey === undefined ? undefined : { secretKey, previousSecretKey };
  const test = keys(s.SIMWAY_TEST_GATEWAY_SECRET_KEY, s.SIMWAY_TEST_GATEWAY_PREVIOUS_SECRET_KEY);
  const live = keys(s.SIMWAY_LIVE_GATEWAY_SECRET_KEY, s.SIMWAY_LIVE_GATEWAY_PREVIOUS_SECRET_KEY);
  return { ...(test ? { test } : {}), ...(live ? { live } : {}) };
}

/** How long money is awaited and how often it is looked for. */
export function paymentTimings(s: Pick<Settings, 'SIMWAY_TRANSFER_MINUTES'>): PaymentTimings {
  return {
    openChargeForMs: 10 * 60_000,
    checkoutMs: 24 * 3_600_000,
    transferMs: s.SIMWAY_TRANSFER_MINUTES * 60_000,
    pollFirstMs: 5_000,
    pollMaxMs: 10 * 60_000,
    refundLookFirstMs: 5_000,
    refundLookMaxMs: 3_600_000,
  };
}

/** The sandbox's gateway is at hand, so it is asked more often. */
export const SANDBOX_PACE = { pollFirstMs: 2_000, refundLookFirstMs: 500, refundLookMaxMs: 10_000 };

/** Without a trailing slash. */
export function publicUrlOf(
  s: Settings & { readonly SIMWAY_HTTP_HOST: string; readonly SIMWAY_HTTP_PORT: number },
): string {
  return (s.SIMWAY_PUBLIC_URL ?? `http://${s.SIMWAY_HTTP_HOST}:${s.SIMWAY_HTTP_PORT}`).replace(/\/+$/, '');
}
