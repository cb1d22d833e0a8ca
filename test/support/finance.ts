// Finance's command line in a test: as a shell runs it, or in the test's own process, which is faster. Must not bypass it.
import { runCommand, runHere, type CommandResult } from './commands.ts';

type FinanceEnv = Readonly<Record<string, string>>;

/** The parts of a service that finance uses. */
function financeEnv(env: FinanceEnv): FinanceEnv {
  const names = [
    'DATABASE_URL',
    'TEMPORAL_ADDRESS',
    'SIMWAY_NAMESPACE_PREFIX',
    'SIMWAY_TEST_TIMINGS',
    'SIMWAY_APPROVAL_LIMIT',
  ];
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}

/** As a shell runs it: in a separate process. */
export function shellFinance(
  env: FinanceEnv,
  line: string,
  more: readonly string[] = [],
): Promise<CommandResult> {
  return runCommand(['finance', ...wordsOf(line), ...more], financeEnv(env));
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
  return runHere(['finance', ...wordsOf(line), ...more], { env: financeEnv(env), ...options });
}

const wordsOf = (line: string): string[] => line.split(' ').filter((word) => word !== '');

/** The one JSON value that a command printed; fails with its output otherwise. */
export function jsonOf({ code, stdout, stderr }: CommandResult, wantedCode = 0): unknown {
  if (code !== wantedCode) throw new Error(`ended ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
}
