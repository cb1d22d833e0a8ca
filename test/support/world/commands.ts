// Runs a command to its end without this process's environment: as an operator does, or in this process,
// which is faster.
import { execFile } from 'node:child_process';
import type { Cli } from '../../../src/cli/context.ts';
import { runCli } from '../../../src/cli/program.ts';
import { processEnv } from './processes.ts';
import { CHECKOUT } from './checkout.ts';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const DEADLINE_MS = 100_000;

/** Answers in any case; a code of null means that the command had to be killed. */
export function runCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['src/main.ts', ...words],
      { cwd: CHECKOUT, env: { ...processEnv(), ...env }, timeout: DEADLINE_MS, killSignal: 'SIGKILL' },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/**
 * The same without a process. `answer` is what the operator types at the terminal; without it there is no
 * terminal.
 */
export async function runHere(
  words: readonly string[],
  { answer, ...replaced }: Partial<Cli> & { readonly answer?: string },
): Promise<CommandResult> {
  let [stdout, stderr] = ['', ''];
  const terminal = {
    stdout: (text: string) => void (stdout += text),
    stderr: (text: string) => void (stderr += text),
    isTerminal: answer !== undefined,
    ask: (question: string) => {
      stderr += question;
      return Promise.resolve(answer ?? '');
    },
  };
  const code = await runCli(words, { terminal, findRunning: () => Promise.resolve(null), ...replaced });
  return { code, stdout, stderr };
}
