/** Writes what use cases return as the schema of the answer documents it: those fields, and no others. */
import { z } from 'zod';
import type { Money } from '../../domain/money.ts';
import { amountJson, decimalJson, type JsonNumber } from './json.ts';

/**
 * Units in which use cases have the numbers of some fields, under names that say so: the field `price` is
 * written from `priceMinor` in the `currency` beside it, `costUsd` from `costUsdE4`, and `marginPercent` from
 * `marginBps`.
 */
type Unit = 'Minor' | 'E4' | 'Bps';

const units = z.registry<{ unit: Unit }>();

/** A number that use cases have in this unit. */
export function numberIn<U extends Unit>(
  unit: U,
  words: { readonly description: string; readonly example?: number | undefined },
) {
  return z.number().meta(words).register(units, { unit }).brand<U>();
}

type UnitOf<T> = NonNullable<T> extends z.core.$brand<infer U> ? Extract<U, Unit> : never;

type NameIn<Name extends string, U extends Unit> = U extends 'Bps'
  ? Name extends `${infer Of}Percent`
    ? `${Of}Bps`
    : never
  : `${Name}${U}`;

/** The field in its unit, or as it is written. */
type Kept<Name extends string, T> =
  | Readonly<Record<Name, JsonNumber | Money | T>>
  | Readonly<Record<NameIn<Name, UnitOf<T>>, NumberIn<UnitOf<T>> | Extract<T, null | undefined>>>;

type NumberIn<U extends Unit> = U extends 'Bps' ? number : bigint;

type NamesInUnits<T> = { [K in keyof T]-?: [UnitOf<T[K]>] extends [never] ? never : K }[keyof T] & string;

type InUnits<T, Name extends NamesInUnits<T> = NamesInUnits<T>> = [Name] extends [never]
  ? unknown
  : [{ [K in Name]: (kept: Kept<K, T[K]>) => void }[Name]] extends [(kept: infer All) => void]
    ? All
    : never;

/** What is written as a documented type: times may be dates, and whole numbers bigints. */
export type View<T> = T extends number
  ? T | JsonNumber | bigint
  : T extends string
    ? string extends T
      ? string | Date
      : T
    : T extends readonly (infer Item)[]
      ? readonly View<Item>[]
      : T extends object
        ? { readonly [K in keyof T as K extends NamesInUnits<T> ? never : K]: View<T[K]> } & InUnits<T>
        : T;

type Write = (value: unknown, currency: unknown) => unknown;
type Fields = Readonly<Record<string, unknown>>;

/** Values as the schema documents them, ready for JSON. */
export function presenter<Schema extends z.ZodType>(
  schema: Schema,
): (value: View<z.output<Schema>>) => object {
  const write = writerOf(schema);
  return (value) => write(value, undefined) as object;
}

/** Without what says that a value may be absent. */
const bare = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodNullable || schema instanceof z.ZodOptional ? bare(schema.unwrap()) : schema;

function writerOf(documented: z.core.$ZodType): Write {
  const schema = bare(documented);
  if (schema instanceof z.ZodArray) {
    const write = writerOf(schema.element);
    return (items) => (Array.isArray(items) ? items.map((item) => write(item, undefined)) : items);
  }
  if (schema instanceof z.ZodObject) return objectWriter(schema);
  const { unit } = units.get(schema) ?? {};
  return (value, currency) => writeValue(value, unit, currency);
}

function objectWriter({ shape }: z.ZodObject<z.ZodRawShape>): Write {
  const fields = Object.entries(shape).map(
    ([name, field]) => [name, nameInside(name, field), writerOf(field)] as const,
  );
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    const view = value as Fields;
    return Object.fromEntries(
      fields.map(([name, inside, write]) => [
        name,
        write(view[name in view ? name : inside], view['currency']),
      ]),
    );
  };
}

/** The name that a field has inside. */
function nameInside(name: string, field: z.core.$ZodType): string {
  const { unit } = units.get(bare(field)) ?? {};
  if (unit === undefined) return name;
  return unit === 'Bps' ? name.replace(/Percent$/, unit) : `${name}${unit}`;
}

/** In no unit: a count, a time, a text, or a value that is written already. */
function writeValue(value: unknown, unit: Unit | undefined, currency: unknown): unknown {
  if (unit === undefined) return typeof value === 'bigint' ? decimalJson(String(value)) : value;
  if (isMoney(value)) return amountJson(value);
  // Hundredths of a percent have two decimals, as minor units do.
  const amountMinor = unit === 'Bps' && typeof value === 'number' ? BigInt(value) : value;
  if (typeof amountMinor !== 'bigint') return value;
  if (unit === 'E4') return amountJson({ amountMinor, currency: 'USD4' });
  return amountJson({ amountMinor, currency: typeof currency === 'string' ? currency : '' });
}

const isMoney = (value: unknown): value is Money =>
  typeof value === 'object' && value !== null && 'amountMinor' in value;

type CamelCase<Name> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** A row with its columns named as fields are: `created_at` is `createdAt`. */
export const fromRow = <Row extends object>(row: Row) =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  ) as { readonly [Column in keyof Row as CamelCase<Column> & string]: Row[Column] };
