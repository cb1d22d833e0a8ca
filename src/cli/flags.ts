/** Flags of a command, read by a schema: each flag is called as its field, takes one value, and every wrong one is told. */
import { parseArgs } from 'node:util';
import type { z } from 'zod';
import { OperatorMistake } from './operator-mistake.ts';

/** Throws OperatorMistake. */
export function readFlags<T extends z.ZodObject>(schema: T, flags: readonly string[]): z.output<T> {
  const options = Object.fromEntries(
    Object.keys(schema.shape).map((name) => [name, { type: 'string' as const }]),
  );
  const parsed = schema.safeParse(parseFlags(flags, options));
  if (parsed.success) return parsed.data;
  throw new OperatorMistake(
    parsed.error.issues
      .map(({ path: [flag], message }) => (flag === undefined ? message : `--${String(flag)}: ${message}`))
      .join('\n'),
  );
}

function parseFlags(flags: readonly string[], options: Record<string, { readonly type: 'string' }>) {
  try {
    return parseArgs({ args: [...flags], options }).values;
  } catch (error) {
    // Node's own sentence names the flag.
    throw error instanceof TypeError ? new OperatorMistake(error.message) : error;
  }
}
