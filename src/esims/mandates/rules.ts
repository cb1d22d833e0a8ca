/** Automatic top-ups that are agreed to in advance: what may be agreed to, and when one is due. */
import { DAY_MS } from '../../domain/clock.ts';
import type { EsimStatus } from '../../domain/states.ts';
import { isMoving } from '../life-rules.ts';

/** What a traveller chooses from, as far as the shop's limit allows. */
export const TRAVELLER_TOP_UPS = [1, 2, 3, 5, 10] as const;
export const TRAVELLER_DAYS = [7, 30, 90] as const;

/** Longer than any journey: a mandate that is forgotten ends. */
export const MAX_MANDATE_MS = 366 * DAY_MS;

/**
 * Agreements of travellers for one eSIM within a day, since each is a row that is kept. More than anyone has
 * reason for.
 */
export const MAX_TRAVELLER_AGREEMENTS_A_DAY = 10;

/** Whether it can still be topped up, now or later. */
export const canHaveMandate = (esim: { readonly status: EsimStatus; readonly replaced_by: string | null }) =>
  isMoving(esim) && esim.replaced_by === null;

/** Below this share of a top-up there is time to add one: figures of suppliers are hours behind. */
const LOW_SHARE = 5n;

/** When data is low, by what one top-up adds. */
export const thresholdOf = (topUpBytes: bigint): bigint =>
  topUpBytes > LOW_SHARE ? topUpBytes / LOW_SHARE : 1n;

/** What a traveller may still choose; empty: the eSIM has had all that the shop allows. */
export const choicesWithin = (left: number): number[] => TRAVELLER_TOP_UPS.filter((count) => count <= left);

export function isLow(
  esim: { readonly total_volume_bytes: bigint; readonly order_usage_bytes: bigint },
  { threshold_bytes: threshold }: { readonly threshold_bytes: bigint },
): boolean {
  return esim.total_volume_bytes - esim.order_usage_bytes < threshold;
}
