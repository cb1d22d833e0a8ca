/**
 * A simulator as a process: flags and environment in, one JSON line out when both ports listen, a drained
 * stop on SIGTERM and SIGINT. With --exit-with-parent it also stops when stdin closes.
 */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import type { Simulator } from './simulator.ts';

const HARD_DEADLINE_MS = 5000;

const COMMON_FLAGS = {
  data: { type: 'string' },
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '0' },
  'control-port': { type: 'string', default: '0' },
  seed: { type: 'string', default: '1' },
  'exit-with-parent': { type: 'boolean', default: false },
} as const;

type Flags<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Options }>
>['values'];

/**
 * A secret, which comes from the environment, because every process of the machine can read arguments.
 * Undefined if absent or empty.
 */
export function secretOf(variable: string): string | undefined {
  return process.env[variable] || undefined;
}

/** The value of a mandatory secret. */
export function neededSecret(variable: string): string {
  return needed(secretOf(variable), `the variable ${variable}`);
}

function needed(value: string | undefined, what: string): string {
  if (value === undefined) throw new Error(`${what} is needed`);
  return value;
}

/** The value of a flag as a whole number. */
export function wholeNumber(text: string, flag: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${flag} must be a whole number`);
  return Number(text);
}

function portNumber(text: string, flag: string): number {
  const port = wholeNumber(text, flag);
  if (port > 65_535) throw new Error(`--${flag} must be at most 65535`);
  return port;
}

/** The options behind the flags that every simulator has. */
function commonOptions(flags: Flags<typeof COMMON_FLAGS>) {
  return {
    dataDir: needed(flags.data, '--data'),
    host: flags.host,
    port: portNumber(flags.port, 'port'),
    controlPort: portNumber(flags['control-port'], 'control-port'),
    seed: wholeNumber(flags.seed, 'seed'),
    log: (line: string) => void process.stderr.write(`${line}\n`),
  };
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
export function runSimulator<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  create: (flags: Flags<Options>, common: ReturnType<typeof commonOptions>) => Simulator,
): void {
  const start = async () => {
    const { values } = parseArgs({ strict: true, options: { ...COMMON_FLAGS, ...options } });
    const common = values as Flags<typeof COMMON_FLAGS>;
    await run(create(values, commonOptions(common)), common['exit-with-parent']);
  };
  start().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n${usage}`);
    process.exit(1);
  });
}
