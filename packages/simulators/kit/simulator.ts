/** Starts and stops a simulator: two servers over one storage. A start that fails leaves nothing open. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type Koa from 'koa';
import { z } from 'zod';
import { listen, type RunningServer } from './server.ts';

export interface Simulator {
  start(): Promise<{ url: string; controlUrl: string }>;
  /** Drains for at most `drainMs` and closes everything; safe to call twice. */
  stop(drainMs?: number): Promise<void>;
}

export interface SimulatorOptions {
  /** Folder of the simulator's own storage; made when missing. */
  dataDir: string;
  host?: string;
  port?: number;
  controlPort?: number;
  seed?: number;
  now?: () => number;
  /** One line about a bug of the simulator itself. */
  log?: (line: string) => void;
}

interface SimulatorParts {
  api: Koa;
  control: Koa;
  onListening: (api: RunningServer) => void | Promise<void>;
  close: () => void;
}

export interface SimulatorFrame {
  url: () => string;
  /** Reports a bug of the simulator itself; gets no request data. */
  onBug: (error: unknown) => void;
}

const DEFAULT_DRAIN_MS = 2000;

/** A simulator that has not been started; `build` opens its storage at every start. */
export function createSimulator(options: SimulatorOptions, build: (frame: SimulatorFrame) => SimulatorParts) {
  const host = options.host ?? '127.0.0.1';
  let isClosed = false;
  const onBug = (error: unknown) => {
    // A request that outlived the drain finds the storage closed.
    if (isClosed) return;
    const what = error instanceof Error ? error.stack : 'not an error';
    options.log?.(JSON.stringify({ level: 'error', msg: 'simulator bug', error: what }));
  };
  let stop: ((drainMs: number) => Promise<void>) | undefined;

  const start = async () => {
    if (stop !== undefined) throw new Error('the simulator is running');
    isClosed = false;
    let api: RunningServer | undefined;
    let control: RunningServer | undefined;
    const parts = build({ url: () => api?.url ?? '', onBug });
    const end = async (drainMs: number) => {
      await Promise.all([api?.close(drainMs), control?.close(drainMs)]);
      isClosed = true;
      parts.close();
    };
    try {
      api = await listen(parts.api, { host, port: options.port ?? 0 });
      control = await listen(parts.control, { host, port: options.controlPort ?? 0 });
      await parts.onListening(api);
      stop = end;
      return { url: api.url, controlUrl: control.url };
    } catch (error) {
      await end(0);
      throw error;
    }
  };
  return {
    start,
    stop: async (drainMs = DEFAULT_DRAIN_MS) => {
      const stopping = stop;
      stop = undefined;
      await stopping?.(drainMs);
    },
  };
}

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

function checkFlags<Shape extends z.ZodRawShape>(shape: Shape, given: Record<string, unknown>) {
  const result = z.object(shape).safeParse(given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(`--${flagOf(String(issue?.path[0]))} ${issue?.message ?? ''}`);
}

/**
 * The variable, or the file that `NAME_FILE` names. Not an argument: every process of the machine can read
 * those. Undefined if absent or empty.
 */
export function secretOf(variable: string): string | undefined {
  const file = process.env[`${variable}_FILE`];
  return process.env[variable] || (file ? readFileSync(file, 'utf8').trim() : '') || undefined;
}

export function neededSecret(variable: string): string {
  const secret = secretOf(variable);
  if (secret === undefined) throw new Error(`the variable ${variable} or ${variable}_FILE is needed`);
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

/** Says what is wrong, with the usage, and exits 1. */
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
