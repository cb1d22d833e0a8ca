import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs `go …` in a folder and resolves to what it prints. These tests need Go: `npm test` does without. */
export async function go(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  try {
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 1 << 26 };
    return (await promisify(execFile)('go', args, options)).stdout;
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (code === 'ENOENT') throw new Error('Go is not on the PATH, and this test needs it', { cause: error });
    throw new Error(`go ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
  }
}
