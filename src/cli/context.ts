import { createInterface } from 'node:readline/promises';
import type { RunningInfo } from '../dev/running-file.ts';
import type { ProcessContext } from '../app/composition/context.ts';
import { namesInstallation, readConfig, readDevSettings } from '../app/config/config.ts';
import { createLogger } from '../platform/telemetry/logger.ts';
import { OperatorMistake, type ExitCode } from '../platform/command.ts';

export const NOTHING_RUNS =
  'Nothing is running in this checkout: start it with npm start, or set DATABASE_URL';

export interface Terminal {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** A person sits at it, and can be asked. */
  readonly isTerminal: boolean;
  readonly ask: (question: string) => Promise<string>;
}

/** What commands know of the environment around them; tests replace parts of it. */
export interface Cli {
  readonly terminal: Terminal;
  /** The environment to read settings from; undefined: this process's. */
  readonly env: Readonly<Record<string, string>> | undefined;
  /** What the npm start of this checkout published; null: it is not running. */
  readonly findRunning: () => Promise<RunningInfo | null>;
  /** Resolves on SIGINT or SIGTERM, which from then on do not end the process. */
  readonly untilStopped: () => Promise<unknown>;
  /** Set by a command that ends without an error but has not done its work. */
  exitCode: ExitCode;
}

export function createCli(replaced: Partial<Cli> = {}): Cli {
  const { env } = replaced;
  return {
    terminal: processTerminal(),
    env,
    findRunning: async () => {
      const { readRunningFile } = await import('../dev/running-file.ts');
      return readRunningFile(readDevSettings(env).dataDir);
    },
    untilStopped,
    exitCode: 0,
    ...replaced,
  };
}

export function print({ terminal }: Cli, line: string): void {
  terminal.stdout(`${line}\n`);
}

/** For a process of its own, from the environment. */
export function openProcess(
  { env }: Cli,
  processName: ProcessContext['processName'],
  defaults: Readonly<Record<string, string>> = {},
): ProcessContext {
  const { config, secrets } = readConfig(env, defaults);
  // Scripts read a command's output, so only its problems are logged.
  const logger = createLogger({ level: processName === 'command' ? 'error' : config.logLevel });
  return { config, secrets, logger, processName };
}

/**
 * For a command beside the installation that the environment names, else beside the `npm start` of this
 * checkout.
 */
export async function openCommand(cli: Cli): Promise<ProcessContext> {
  if (namesInstallation(cli.env)) return openProcess(cli, 'command');
  const running = await cli.findRunning();
  if (!running) throw new OperatorMistake(NOTHING_RUNS);
  return openProcess(cli, 'command', running.settings);
}

function processTerminal(): Terminal {
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    isTerminal: process.stdin.isTTY && process.stderr.isTTY,
    ask: async (question) => {
      const person = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await person.question(question);
      } finally {
        person.close();
      }
    },
  };
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
