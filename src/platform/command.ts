import type { Command } from 'commander';
import { z } from 'zod';

/** 0: done. 1: refused or failed. 2: called wrongly, which only finance tells apart from 1. */
export type ExitCode = 0 | 1 | 2;

/** The command does not exist as it was typed. Shown with its usage line. */
export class UsageMistake extends Error {
  override readonly name = 'UsageMistake';
}

/** What the operator asked for cannot be done. Shown without a stack. */
export class OperatorMistake extends Error {
  override readonly name = 'OperatorMistake';
}

export interface CommandSpec<Options extends z.ZodObject> {
  /** Name and arguments as commander writes them: `show <id>`. */
  readonly syntax: string;
  readonly summary: string;
  /** More than the summary, for the command's own help. */
  readonly help?: string;
  /** A field `dryRun` is the option `--dry-run`; option() says what help shows of it. */
  readonly options: Options;
  readonly run: (options: z.output<Options>, ...args: string[]) => Promise<unknown>;
}

/** Says how help shows an option. Without `value` it is a switch. */
export function option<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  value?: string,
): Schema {
  return schema.meta({ description, value });
}

export const toggle = (description: string) => option(z.boolean().default(false), description);

/**
 * Adds a command whose options are checked by a zod schema: all mistakes are named at once, before anything
 * is done.
 */
export function addCommand<Options extends z.ZodObject>(
  parent: Command,
  { syntax, summary, help, options, run }: CommandSpec<Options>,
): Command {
  const command = parent
    .command(syntax)
    .summary(summary)
    .description(help ?? summary)
    .allowExcessArguments();
  for (const [name, schema] of Object.entries(options.shape)) {
    const { description = '', value } = metaOf(schema);
    const isRequired = !(schema as z.ZodType).safeParse(undefined).success;
    command.option(
      value === undefined ? flagOf(name) : `${flagOf(name)} <${value}>`,
      `${description}${isRequired ? ' (required)' : ''}`,
    );
  }
  return command
    .showHelpAfterError(`usage: ${command.createHelp().commandUsage(command)}`)
    .action(async () => {
      try {
        refuseExcessArguments(command);
        await run(parseOptions(options, command.opts()), ...command.args);
      } catch (error) {
        if (error instanceof UsageMistake) command.error(error.message);
        throw error;
      }
    });
}

function refuseExcessArguments(command: Command): void {
  const excess = command.args[command.registeredArguments.length];
  if (excess === undefined) return;
  const takesRange = command.options.some(({ long }) => long === '--from');
  throw new UsageMistake(`Unexpected argument '${excess}'${takesRange ? '; use --from/--to' : ''}`);
}

function parseOptions<Options extends z.ZodObject>(schema: Options, given: object): z.output<Options> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new UsageMistake(
    parsed.error.issues
      .map(({ path: [field], message }) => {
        if (field === undefined) return message;
        const name = String(field);
        if (Object.hasOwn(given, name)) return `${flagOf(name)}: ${message}`;
        return `${flagOf(name)} is required (${metaOf(schema.shape[name]).description ?? ''})`;
      })
      .join('\n'),
  );
}

const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Of the schema itself, or of what an optional() or default() around it holds. */
function metaOf(schema: unknown): { description?: string | undefined; value?: string } {
  const meta = (schema as z.ZodType).meta();
  if (meta) return meta;
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? metaOf(schema.unwrap()) : {};
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The same fields without those that are undefined. */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
