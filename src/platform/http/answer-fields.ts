/** What many answers share: the envelope, fields with their schemas, and how they are written. */
import type { Metadata } from '../../domain/own-details.ts';
import { TRANSACTION_EVENTS } from '../../domain/states.ts';
import { z } from 'zod';
import type { Answer } from './errors.ts';
import { toJson } from './json.ts';
import { numberIn, type View } from './present.ts';

/** An amount; written as a literal with two decimals, of USD4 with four. */
export const money = (description: string, example = 12.5) => numberIn('Minor', { description, example });

/** US dollars with the four decimals of the supplier's unit. */
export const usd = (description: string, example?: number) => numberIn('E4', { description, example });

/** With two decimals. */
export const percent = (description: string, example = 2.5) => numberIn('Bps', { description, example });

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
  .array(z.object({ at: isoTime('ISO 8601'), what: z.enum(TRANSACTION_EVENTS) }))
  .describe('What happened when');

export const METADATA_EXAMPLE = { channel: 'web', customer: '4711' };

/** What the caller said for themselves about a purchase or a funding. */
export const ownFields = {
  reference: text('Yours; empty if there is none', 'order-1001'),
  metadata: z
    .record(z.string(), z.string())
    .meta({ description: 'Yours; `{}` if there is none', example: METADATA_EXAMPLE }),
};

export const presentOwn = (own: {
  readonly reference: string | null;
  readonly metadata: Metadata | null;
}) => ({
  reference: own.reference ?? '',
  metadata: own.metadata ?? {},
});

/** An object that the reference shows under a name of its own. */
export const namedObject = <Shape extends z.ZodRawShape>(id: string, shape: Shape) =>
  z.object(shape).meta({ id });

/** The general envelope around one thing. */
export function dataSchema<Data extends z.ZodType>(data: Data, id: string) {
  return z.object({ success: z.literal(true), data }).meta({ id });
}

/** The same around fields that stand in this answer alone. */
export const dataObject = <Shape extends z.ZodRawShape>(id: string, shape: Shape) =>
  dataSchema(z.object(shape), id);

/** What is written inside such an envelope. */
export type Data<Schema extends z.ZodType<{ data: unknown }>> = View<z.output<Schema>['data']>;

/** The same around a list that is short enough to be whole. */
export function listSchema<Item extends z.ZodType>(item: Item, id: string) {
  return dataSchema(z.object({ items: z.array(item) }), id);
}

/** For answers without data. */
export const doneSchema = dataSchema(z.object({ done: z.literal(true) }), 'Done');

export const answer = (body: object, status = 200): Answer => ({ status, body: toJson(body) });

/** In the general envelope. */
export const dataAnswer = (data: object, status?: number): Answer => answer({ success: true, data }, status);

export const CSV = 'text/csv';

export const PDF = 'application/pdf';

/** As the schema of an answer's other form. */
export const pdfSchema = z.string().meta({ format: 'binary', description: 'A PDF, A4' });

/** A paper that people keep. */
export const pdfAnswer = (name: string, body: Buffer): Answer => ({
  status: 200,
  body,
  headers: { 'Content-Type': PDF, 'Content-Disposition': `attachment; filename="${name}.pdf"` },
});

/** Of a file that is not whole. */
export const NEXT_HEADER = 'Simway-Next';

export const CUT_WORDS = `Where more match, the header \`${NEXT_HEADER}\` is the \`after\` of the next file.`;

/** A file for spreadsheets. `next`: more match than it has, and where the file with the rest begins. */
export const csvAnswer = (name: string, body: string, next?: string): Answer => ({
  status: 200,
  body,
  headers: {
    'Content-Type': `${CSV}; charset=utf-8`,
    'Content-Disposition': `attachment; filename="${name}.csv"`,
    ...(next !== undefined && { [NEXT_HEADER]: next }),
  },
});
