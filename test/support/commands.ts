// Runs a command of src/main.ts to its end, as an operator does, with nothing of this process's environment.
import { execFile } from 'node:child_process';
import { join } from 'node:path';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const CHECKOUT = join(import.meta.dirname, '..', '..');
const DEADLINE_MS = 100_000;

/** Answers whatever the command did; a code of null means that it had to be killed. */
export function runCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['src/main.ts', ...words],
      { cwd: CHECKOUT, env: { ...env, PATH: '/usr/bin:/bin' }, timeout: DEADLINE_MS, killSignal: 'SIGKILL' },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}
