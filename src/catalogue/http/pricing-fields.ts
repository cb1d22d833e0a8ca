/** What rates, prices and packages on sale share. */
import { z } from 'zod';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { amountJson } from '../../platform/http/answer-fields.ts';
import { textField } from '../../platform/http/fields.ts';
import { decimalJson, type JsonNumber, moneyJson } from '../../platform/http/json.ts';
import { formatRateMicros } from '../pricing.ts';

export const reason = textField({
  max: MAX_REASON_CHARACTERS,
  description: 'Why: kept on record under your name',
  example: 'the rate of the central bank this morning',
}).refine(
  (text) => text.trim().length >= MIN_REASON_CHARACTERS,
  `must have at least ${MIN_REASON_CHARACTERS} characters`,
);

export const percent = (description: string) => z.number().meta({ description, example: 2.5 });
export const rateJson = (micros: bigint): JsonNumber => decimalJson(formatRateMicros(micros));

export const rateOrNull = (micros: bigint | null | undefined): JsonNumber | null =>
  micros === null || micros === undefined ? null : rateJson(micros);

/** Hundredths of a percent have two decimals, as minor units do. */
export const percentJson = (bps: number): JsonNumber => moneyJson(BigInt(bps));
export const costJson = (cost: bigint): JsonNumber => amountJson({ amountMinor: cost, currency: 'USD4' });

export const priceOrNull = (minor: bigint | null): JsonNumber | null =>
  minor === null ? null : moneyJson(minor);

export const percentOrNull = (bps: number | null): JsonNumber | null =>
  bps === null ? null : percentJson(bps);
