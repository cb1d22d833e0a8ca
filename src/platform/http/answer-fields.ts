/** Fields that many answers share: their schemas, and how they are written. */
import { z } from 'zod';
import { formatAmount, type Money } from '../../domain/money.ts';
import { decimalJson, type JsonNumber } from './json.ts';

/** An amount; presenters write it as a literal with two decimals (json.ts). */
export const money = (description: string) => z.number().meta({ description, example: 12.5 });

/** ISO 8601, UTC, with milliseconds. */
export const isoTime = (description: string) =>
  z.string().meta({ description, example: '2026-01-31T09:30:00.000Z' });

/** Empty until known. */
export const laterText = (description: string) =>
  z.string().meta({ description: `${description}; empty until known` });

/** The age of summed usage, as text. */
export const oldestUsage = z.string().meta({
  description:
    'ISO 8601: no usage of an eSIM that can still change is older; empty if none can change any more',
  example: '2026-01-31T09:30:00.000Z',
});

export const timeline = z
  .array(z.object({ at: isoTime('ISO 8601'), what: z.string() }))
  .meta({ description: 'What happened when' });

/** Two decimals, four for the supplier's unit. Made from text, so that nothing is rounded. */
export function amountJson(amount: Money): JsonNumber {
  return decimalJson(formatAmount(amount));
}

export function presentTimeline(
  timeline: readonly { readonly at: Date; readonly what: string }[],
): readonly { readonly at: string; readonly what: string }[] {
  return timeline.map(({ at, what }) => ({ at: at.toISOString(), what }));
}
