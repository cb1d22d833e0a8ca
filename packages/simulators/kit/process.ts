/**
 * A simulator as a process: flags and environment in, one JSON line out when both ports listen, a drained
 * stop on SIGTERM and SIGINT. With --exit-with-parent it also stops when stdin closes.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { Simulator, SimulatorOptions } from './simulator.ts';

const HARD_DEADLINE_MS = 5000;

export const SWITCH = z.boolean().default(false);
export const WHOLE_NUMBER = 'must be a whole number';
export const WHOLE = z
  .string()
  .regex(/^\d{1,15}$/, WHOLE_NUMBER)
  .transform(Number);
const PORT = WHOLE.refine((port) => port <= 65_535, 'must be at most 65535').prefault('0');

/** A field `controlPort` is the flag `--control-port`; a list may be given several times. */
const COMMON_FLAGS = {
  data: z.string('is needed'),
  host: z.string().default('127.0.0.1'),
  port: PORT,
  controlPort: PORT,
  seed: WHOLE.prefault('1'),
  exitWithParent: SWITCH,
};

const flagOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The values of this process's flags, by the fields of `shape`. */
function readFlags(shape: z.ZodRawShape): Record<string, unknown> {
  const names = Object.keys(shape);
  const options = names.map((name) => {
    const flag = shape[name];
    const type = flag === SWITCH ? ('boolean' as const) : ('string' as const);
    const multiple = flag instanceof z.ZodOptional && flag.unwrap() instanceof z.ZodArray;
    return [flagOf(name), { type, multiple }] as const;
  });
  const { values } = parseArgs({ strict: true, options: Object.fromEntries(options) });
  return Object.fromEntries(names.map((name) => [name, values[flagOf(name)]]));
}

/** The flags of the shape; throws what is wrong with the first one. */
function checkFlags<Shape extends z.ZodRawShape>(shape: Shape, given: Record<string, unknown>) {
  const result = z.object(shape).safeParse(given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(`--${flagOf(String(issue?.path[0]))} ${issue?.message ?? ''}`);
}

/**
 * A secret, which comes from the environment, because every process of the machine can read arguments.
 * Undefined if absent or empty.
 */
export function secretOf(variable: string): string | undefined {
  return process.env[variable] || undefined;
}

/** The value of a mandatory secret. */
export function neededSecret(variable: string): string {
  const secret = secretOf(variable);
  if (secret === undefined) throw new Error(`the variable ${variable} is needed`);
  return secret;
}

async function run(simulator: Simulator, exitWithParent: boolean): Promise<void> {
  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(0), HARD_DEADLINE_MS).unref();
    simulator.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  if (exitWithParent) {
    process.stdin.on('end', stop).on('close', stop).on('error', stop);
    process.stdin.resume();
  }
  const { url, controlUrl } = await simulator.start();
  process.stdout.write(`${JSON.stringify({ ready: true, url, controlUrl })}\n`);
}

/**
 * Runs the simulator that `create` makes of this process's flags; says what is wrong, with the usage, and
 * exits 1.
 */
export function runSimulator<Shape extends z.ZodRawShape>(
  usage: string,
  own: Shape,
  create: (options: z.output<z.ZodObject<Shape>> & Required<Omit<SimulatorOptions, 'now'>>) => Simulator,
): void {
  const start = async () => {
    const given = readFlags({ ...COMMON_FLAGS, ...own });
    const { data: dataDir, exitWithParent, ...common } = checkFlags(COMMON_FLAGS, given);
    const log = (line: string) => void process.stderr.write(`${line}\n`);
    await run(create({ ...checkFlags(own, given), ...common, dataDir, log }), exitWithParent);
  };
  start().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n${usage}`);
    process.exit(1);
  });
}
