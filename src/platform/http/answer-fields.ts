/** What many answers share: the envelope, fields with their schemas, and how they are written. */
import { z } from 'zod';
import { formatAmount, type Money } from '../../domain/money.ts';
import type { Answer } from './errors.ts';
import { decimalJson, toJson, type JsonNumber, type Wire } from './json.ts';

/** An amount; presenters write it as a literal with two decimals (json.ts). */
export const money = (description: string) => z.number().meta({ description, example: 12.5 });

/** ISO 8601, UTC, with milliseconds. */
export const isoTime = (description: string) =>
  z.string().meta({ description, example: '2026-01-31T09:30:00.000Z' });

export const text = (description: string, example?: string) => z.string().meta({ description, example });

export const count = (description: string, example?: number) =>
  z.number().int().meta({ description, example });

export const yesNo = (description: string) => z.boolean().describe(description);

/** Empty until known. */
export const laterText = (description: string) => text(`${description}; empty until known`);

/** The age of summed usage, as text. */
export const oldestUsage = z.string().meta({
  description:
    'ISO 8601: no usage of an eSIM that can still change is older; empty if none can change any more',
  example: '2026-01-31T09:30:00.000Z',
});

export const timeline = z
  .array(z.object({ at: isoTime('ISO 8601'), what: z.string() }))
  .describe('What happened when');

/** Two decimals, four for the supplier's unit. Made from text, so that nothing is rounded. */
export function amountJson(amount: Money): JsonNumber {
  return decimalJson(formatAmount(amount));
}

/** The general envelope around one thing. */
export function dataSchema<Data extends z.ZodType>(data: Data, id: string) {
  return z.object({ success: z.literal(true), data }).meta({ id });
}

/** What a presenter returns for the inside of the envelope. */
export type Data<Schema extends z.ZodType<{ data: unknown }>> = Wire<z.output<Schema>>['data'];

/** The body that such a schema describes. */
export const dataJson = <Data>(
  _schema: z.ZodType<{ readonly success: true; readonly data: Data }>,
  data: Wire<Data>,
): string => toJson({ success: true, data });

/** The same around a list that is short enough to be whole. */
export function listSchema<Item extends z.ZodType>(item: Item, id: string) {
  return dataSchema(z.object({ items: z.array(item) }), id);
}

/** For answers without data. */
export const doneSchema = dataSchema(z.object({ done: z.literal(true) }), 'Done');

export const answer = (body: object, status = 200): Answer => ({ status, body: toJson(body) });

/** In the general envelope. */
export const dataAnswer = (data: object, status?: number): Answer => answer({ success: true, data }, status);

/** Presents the documented fields and no others. */
export function presenter<Shape extends z.ZodRawShape>({ shape }: z.ZodObject<Shape>) {
  type Fields = Wire<z.output<z.ZodObject<Shape>>>;
  return (value: Fields): Fields =>
    Object.fromEntries(
      Object.keys(shape).map((name) => [name, value[name as keyof Fields]]),
    ) as unknown as Fields;
}
