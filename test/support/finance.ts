// Finance's command line in a test: as a shell runs it, or in the test's own process, which is quicker. Must not reach around it.
import { runFinance } from '../../src/cli/finance/index.ts';
import { readFinanceSettings } from '../../src/platform/config/config.ts';
import { runCommand, type CommandResult } from './commands.ts';

export type FinanceEnv = Readonly<Record<string, string>>;

/** Of a whole service, what finance needs to know. */
export function financeEnv(env: FinanceEnv): FinanceEnv {
  const names = ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'SIMWAY_NAMESPACE_PREFIX', 'SIMWAY_TEST_TIMINGS'];
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}

/** As a shell runs it: a process of its own. */
export function shellFinance(
  env: FinanceEnv,
  line: string,
  more: readonly string[] = [],
): Promise<CommandResult> {
  return runCommand(['finance', ...wordsOf(line), ...more], financeEnv(env));
}

export interface HereOptions {
  /** Words that hold spaces. */
  readonly more?: readonly string[];
  /** What the person at the terminal answers; without it nobody sits there. */
  readonly answer?: string;
}

/** The same, without a process. */
export async function hereFinance(
  env: FinanceEnv,
  line: string,
  { more = [], answer }: HereOptions = {},
): Promise<CommandResult> {
  const settings = readFinanceSettings(financeEnv(env));
  let [stdout, stderr] = ['', ''];
  const code = await runFinance(
    settings,
    () =>
      Promise.resolve({ databaseUrl: env['DATABASE_URL'] ?? '', temporalAddress: settings.temporalAddress }),
    [...wordsOf(line), ...more],
    {
      stdout: (text) => void (stdout += text),
      stderr: (text) => void (stderr += text),
      isTerminal: answer !== undefined,
      ask: (question) => {
        stderr += question;
        return Promise.resolve(answer ?? '');
      },
    },
  );
  return { code, stdout, stderr };
}

const wordsOf = (line: string): string[] => line.split(' ').filter((word) => word !== '');

/** The one JSON value that a command printed; fails with what it said otherwise. */
export function jsonOf({ code, stdout, stderr }: CommandResult, wantedCode = 0): unknown {
  if (code !== wantedCode) throw new Error(`ended ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
}
