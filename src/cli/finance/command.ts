/**
 * How a finance command is made: its name, its flags by a schema, its words, its help. Wrong usage is told by the flag's own name, all of it
 * at once, and nothing is done.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { FinanceWorld } from '../../platform/composition/finance.ts';
import type { Output } from './output.ts';

/** 0: done. 1: refused or failed. 2: wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** The caller's own mistake in calling. */
export class UsageMistake extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageMistake';
  }
}

export interface Asked<Flags, Switch extends string> {
  readonly words: readonly string[];
  readonly flags: Flags;
  readonly switches: Readonly<Record<Switch | 'json', boolean>>;
  readonly world: FinanceWorld;
  readonly out: Output;
}

export interface CommandSpec<Schema extends z.ZodObject, Switch extends string> {
  /** One or two words. */
  readonly name: string;
  /** Words and flags, as help shows them. */
  readonly usage: string;
  readonly help: string;
  /** Least and most words behind the name. */
  readonly words: readonly [number, number];
  readonly flags: Schema;
  readonly switches?: readonly Switch[];
  /** Cannot be done from the rows alone. */
  readonly needsTemporal?: boolean;
  readonly run: (asked: Asked<z.output<Schema>, Switch>) => Promise<ExitCode>;
}

/** A command whose flags are not known from outside. */
export interface Command extends Pick<CommandSpec<z.ZodObject, string>, 'name' | 'usage' | 'help'> {
  /** Throws UsageMistake before anything is done. */
  parse(args: readonly string[]): ParsedCommand;
}

export interface ParsedCommand {
  readonly worldName: 'test' | 'live' | undefined;
  readonly isJson: boolean;
  readonly isHelp: boolean;
  readonly needsTemporal: boolean;
  run(world: FinanceWorld, out: Output): Promise<ExitCode>;
}

const COMMON = {
  world: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const worldName = z.enum(['test', 'live']).optional();

export function defineCommand<Schema extends z.ZodObject, Switch extends string = never>(
  spec: CommandSpec<Schema, Switch>,
): Command {
  const { name, usage, help, switches = [] } = spec;
  return {
    name,
    usage,
    help,
    parse: (args) => {
      const { values, positionals } = parseFlags(args, {
        ...Object.fromEntries(Object.keys(spec.flags.shape).map((flag) => [flag, { type: 'string' }])),
        ...Object.fromEntries(switches.map((flag) => [flag, { type: 'boolean' }])),
        ...COMMON,
      });
      const { world, json = false, help: isHelp = false, ...given } = values;
      if (isHelp === true)
        return {
          worldName: undefined,
          isJson: false,
          isHelp: true,
          needsTemporal: false,
          run: () => Promise.resolve(0),
        };
      const [least, most] = spec.words;
      if (positionals.length < least || positionals.length > most)
        throw new UsageMistake(
          positionals.length < least ? 'something is missing' : `one word too many: ${positionals[most]}`,
        );
      const flags = check(spec.flags, given);
      const isJson = json === true;
      const on = Object.fromEntries([
        ...switches.map((flag) => [flag, given[flag] === true]),
        ['json', isJson],
      ]) as Record<Switch | 'json', boolean>;
      return {
        worldName: check(z.object({ world: worldName }), { world }).world,
        isJson,
        isHelp: false,
        needsTemporal: spec.needsTemporal ?? false,
        run: (opened, out) => spec.run({ words: positionals, flags, switches: on, world: opened, out }),
      };
    },
  };
}

type Options = Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>;

function parseFlags(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Node's own sentence names the flag.
    throw error instanceof TypeError ? new UsageMistake(error.message) : error;
  }
}

function check<Schema extends z.ZodObject>(schema: Schema, given: object): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new UsageMistake(
    parsed.error.issues
      .map(({ path: [flag], message }) => (flag === undefined ? message : `--${String(flag)}: ${message}`))
      .join('\n'),
  );
}
