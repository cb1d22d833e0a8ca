/**
 * The part of the configuration that is about webhooks to merchants: whom we may call, how many at once, the key their secrets are sealed
 * with, and, in the sandbox, how much faster the schedule of attempts runs.
 */
import { z } from 'zod';
import { list, positive } from './fields.ts';
import type { Environment } from '../../domain/account.ts';
import { ATTEMPT_WAITS_MS, FAILING_LIMIT_MS } from '../../webhooks/rules.ts';

/** Of one world. */
export interface WebhookConfig {
  readonly httpsOnly: boolean;
  /** The operator's own addresses and ranges, which are called although they are not public. */
  readonly allowedRanges: readonly string[];
  /** The wait before each attempt. */
  readonly waitsMs: readonly number[];
  readonly failingLimitMs: number;
}

/** Attempts at once, of each world in each worker process. */
export interface WebhookLimits {
  readonly attempts: number;
  readonly perEndpoint: number;
  readonly perAccount: number;
}

export interface SecretKeys {
  readonly key: string;
  readonly previousKeys: readonly string[];
}

const key = z.string().regex(/^[0-9a-fA-F]{64}$/, 'takes 64 hexadecimal digits');

/** Variables of the environment. */
export const webhookSettings = {
  SIMWAY_SECRETS_KEY: key,
  SIMWAY_SECRETS_PREVIOUS_KEYS: list.pipe(z.array(key)),
  /** Sockets and memory for this many are small change; a worker's processor is the limit long before. */
  SIMWAY_WEBHOOK_ATTEMPTS: positive(200),
  /** Ten quick answers at a time are hundreds a second, more than a merchant's server likes. */
  SIMWAY_WEBHOOK_ATTEMPTS_PER_ENDPOINT: positive(10),
  SIMWAY_WEBHOOK_ATTEMPTS_PER_ACCOUNT: positive(40),
  SIMWAY_SWEEP_WEBHOOKS_MS: positive(30_000),
  SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES: list,
  SIMWAY_LIVE_WEBHOOK_ALLOWED_RANGES: list,
  SIMWAY_TEST_WEBHOOK_SPEED: positive(1),
};

type Settings = z.output<z.ZodObject<typeof webhookSettings>>;

export function webhookLimits(s: Settings): WebhookLimits {
  return {
    attempts: s.SIMWAY_WEBHOOK_ATTEMPTS,
    perEndpoint: s.SIMWAY_WEBHOOK_ATTEMPTS_PER_ENDPOINT,
    perAccount: s.SIMWAY_WEBHOOK_ATTEMPTS_PER_ACCOUNT,
  };
}

/** Live keeps the published schedule to the letter. */
export function webhooksOf(s: Settings, environment: Environment): WebhookConfig {
  if (environment === 'live')
    return {
      httpsOnly: true,
      allowedRanges: s.SIMWAY_LIVE_WEBHOOK_ALLOWED_RANGES,
      waitsMs: ATTEMPT_WAITS_MS,
      failingLimitMs: FAILING_LIMIT_MS,
    };
  const faster = (ms: number): number => Math.trunc(ms / s.SIMWAY_TEST_WEBHOOK_SPEED);
  return {
    httpsOnly: false,
    allowedRanges: s.SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES,
    waitsMs: ATTEMPT_WAITS_MS.map(faster),
    failingLimitMs: faster(FAILING_LIMIT_MS),
  };
}

export function secretKeysOf(s: Settings): SecretKeys {
  return { key: s.SIMWAY_SECRETS_KEY, previousKeys: s.SIMWAY_SECRETS_PREVIOUS_KEYS };
}
