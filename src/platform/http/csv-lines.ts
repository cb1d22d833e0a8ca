/** A list as CSV, from the schema of its items: the same fields under the same names. */
import type { z } from 'zod';
import { csvOf } from '../../domain/csv.ts';
import { isJsonNumber } from './json.ts';
import { presenter, type View } from './present.ts';

/** Texts, numbers and times stand as in JSON, without quotes; null and absent fields are empty. */
export function csvLines<Item extends z.ZodObject>(
  item: Item,
  lines: readonly View<z.output<Item>>[],
): string {
  const columns = Object.keys(item.shape);
  const present = presenter(item);
  return csvOf(
    columns,
    lines.map((line) => {
      const fields = present(line) as Readonly<Record<string, unknown>>;
      return columns.map((column) => cellOf(fields[column]));
    }),
  );
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  if (isJsonNumber(value)) return value.rawJSON;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The columns, for the reference. */
export const columnsOf = (item: z.ZodObject): string => Object.keys(item.shape).join(', ');
