/** The shapes that settings come in, for the files of the configuration to share. Each turns a text of the environment into what it means. */
import { z } from 'zod';
import { parseRateMicros } from '../../catalogue/pricing.ts';
import type { PurchaseTimings } from '../../purchases/purchase.ts';
import { LOG_LEVELS } from '../telemetry/logger.ts';

/** Names every wrong variable, never its value. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`The environment is not right:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

export const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
export const positive = (fallback: number) => z.coerce.number().int().positive().default(fallback);
/** By commas. */
export const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  );
export const logLevel = z.enum(LOG_LEVELS).default('info');

export const fixedRates = z
  .string()
  .default('NGN=1600.00,EUR=0.92,GBP=0.79,GHS=12.50,KES=129.00,XOF=605.00')
  .transform((text, context) => {
    const pairs = text
      .split(',')
      .filter(Boolean)
      .map((pair) => pair.trim().split('='));
    for (const [currency = '', rate = ''] of pairs) {
      if (!/^[A-Z]{3}$/.test(currency) || parseRateMicros(rate) === undefined) {
        context.addIssue({ code: 'custom', message: 'takes pairs such as NGN=1600.00,EUR=0.92' });
      }
    }
    return Object.fromEntries(pairs) as Record<string, string>;
  });

/** JSON over some of the waiting times. */
export const timings = z
  .string()
  .default('{}')
  .transform((text, context): Partial<PurchaseTimings> => {
    try {
      return z.record(z.string(), z.number().int().positive()).parse(JSON.parse(text));
    } catch {
      context.addIssue({ code: 'custom', message: 'takes JSON such as {"attentionAfterMs":5000}' });
      return z.NEVER;
    }
  });
