import type { z } from 'zod';

/** An answer that is not what the vendor's reference promises. */
export class UnreadableAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableAnswer';
  }
}

/**
 * Reads a value; throws UnreadableAnswer with the first field that is not as the schema wants it. `what`
 * names the whole; `error` words a fault that the schema does not word itself.
 */
export function readAs<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { what, error }: { readonly what: string; readonly error?: z.core.$ZodErrorMap },
): z.output<Schema> {
  const read = schema.safeParse(value, { error });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UnreadableAnswer(`${issue?.path.join('.') || what} ${issue?.message ?? ''}`);
}

/**
 * Parses JSON with every number kept as the text it was written as. Throws SyntaxError when it is no JSON.
 */
export function parseWithNumbersAsText(json: string): unknown {
  const keepSource = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' ? (context?.source ?? '') : value;
  const parsed: unknown = JSON.parse(json, keepSource);
  return parsed;
}
