/** The part of the configuration that is about reconciliation: how often it runs, how far back it looks, and what the gateway may charge. */
import { z } from 'zod';
import { positive } from './fields.ts';
import type { Environment } from '../../domain/account.ts';
import { parseMinor } from '../../domain/money.ts';
import type { FeeTariff, FeeTariffs } from '../../reconciliation/payment-rules.ts';

export interface ReconcileConfig {
  readonly everyMs: number;
  readonly overlapMs: number;
  readonly settleMs: number;
  readonly lingerMs: number;
  readonly supplierPauseMs: number;
  readonly fees: FeeTariffs;
}

const decimal = z
  .string()
  .refine((text) => (parseMinor(text) ?? -1n) >= 0n, 'takes a decimal such as "100.00"')
  .transform((text) => parseMinor(text) ?? 0n);

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

const tariffs = z.record(z.string().regex(/^[A-Z]{3}$/), z.array(tariff).min(1));

/** JSON such as `{"NGN":[{"percent":"1.5","fixed":"100.00","fixedFrom":"2500.00","cap":"2000.00"}]}`. */
const fees = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text, context): FeeTariffs => {
      try {
        return tariffs.parse(JSON.parse(text));
      } catch {
        context.addIssue({ code: 'custom', message: 'takes JSON such as {"NGN":[{"percent":"1.5"}]}' });
        return z.NEVER;
      }
    });

const SIMULATORS_FEES = JSON.stringify({
  NGN: [{ percent: '1.5', cap: '2000.00' }],
  ...Object.fromEntries(['USD', 'GHS', 'KES', 'XOF'].map((currency) => [currency, [{ percent: '1.5' }]])),
});

const HOUR_MS = 3_600_000;

/** Variables of the environment. */
export const reconcileSettings = {
  SIMWAY_TEST_RECONCILE_MS: positive(HOUR_MS),
  SIMWAY_LIVE_RECONCILE_MS: positive(24 * HOUR_MS),
  /** A page takes money for a day, and late money is looked for three days more. */
  SIMWAY_RECONCILE_OVERLAP_MS: positive(96 * HOUR_MS),
  SIMWAY_TEST_RECONCILE_SETTLE_MS: positive(300_000),
  SIMWAY_LIVE_RECONCILE_SETTLE_MS: positive(HOUR_MS),
  SIMWAY_TEST_GATEWAY_FEES: fees(SIMULATORS_FEES),
  SIMWAY_LIVE_GATEWAY_FEES: fees('{}'),
};

type Settings = z.output<z.ZodObject<typeof reconcileSettings>>;

export function reconcileOf(s: Settings, environment: Environment): ReconcileConfig {
  const overlapMs = s.SIMWAY_RECONCILE_OVERLAP_MS;
  return environment === 'live'
    ? {
        everyMs: s.SIMWAY_LIVE_RECONCILE_MS,
        overlapMs,
        settleMs: s.SIMWAY_LIVE_RECONCILE_SETTLE_MS,
        lingerMs: 10_000,
        // A quarter of the vendor's eight requests a second, so that purchases keep the rest.
        supplierPauseMs: 500,
        fees: s.SIMWAY_LIVE_GATEWAY_FEES,
      }
    : {
        everyMs: s.SIMWAY_TEST_RECONCILE_MS,
        overlapMs,
        settleMs: s.SIMWAY_TEST_RECONCILE_SETTLE_MS,
        lingerMs: 1_000,
        supplierPauseMs: 0,
        fees: s.SIMWAY_TEST_GATEWAY_FEES,
      };
}
