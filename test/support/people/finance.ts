// Finance's command line in a test, as a person who has signed in: as a shell runs it, or in the test's own
// process, which is faster.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Role } from '../../../src/domain/operator-roles.ts';
import { keepToken } from '../../../src/cli/session.ts';
import { runCommand, runHere, type CommandResult } from '../world/commands.ts';
import { signedIn, type Person } from './people.ts';
import type { Stack } from '../world/stack.ts';
import { makeTestFolder } from '../world/test-folder.ts';

export type FinanceEnv = Readonly<Record<string, string>>;

/** A person who has signed in, and the environment of their commands. */
export async function commander(
  stack: Pick<Stack, 'accounts' | 'apiUrl' | 'call'>,
  role: Role = 'FINANCE',
): Promise<Person & { readonly env: FinanceEnv }> {
  const person = await signedIn(stack, role, {});
  return { ...person, env: await envOf(stack.apiUrl, person.token) };
}

/** With a session of this token; without one the command is not signed in. */
export async function envOf(url: string, token?: string): Promise<FinanceEnv> {
  const home = await makeTestFolder();
  await mkdir(join(home, 'simway'));
  if (token !== undefined) await keepToken({ url, files: [join(home, 'simway/session.json')] }, token);
  return { SIMWAY_URL: url, XDG_CONFIG_HOME: home };
}

/** As a shell runs it: in a separate process. */
export function shellFinance(
  env: FinanceEnv,
  line: string,
  more: readonly string[] = [],
): Promise<CommandResult> {
  return runCommand(['finance', ...wordsOf(line), ...more], env);
}

export interface HereOptions {
  /** Arguments that contain spaces. */
  readonly more?: readonly string[];
  readonly answer?: string;
}

/** The same, without a process. */
export function hereFinance(
  env: FinanceEnv,
  line: string,
  { more = [], ...options }: HereOptions = {},
): Promise<CommandResult> {
  return runHere(['finance', ...wordsOf(line), ...more], { env, ...options });
}

const wordsOf = (line: string): string[] => line.split(' ').filter((word) => word !== '');

/** The one JSON value that a command printed; fails with its output otherwise. */
export function jsonOf({ code, stdout, stderr }: CommandResult, wantedCode = 0): unknown {
  if (code !== wantedCode) throw new Error(`ended ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
}
