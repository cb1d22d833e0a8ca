// Finding programs on a search path and running short commands.
// Must not read the environment: the search path is handed in.
import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

/** Run a short command; answers what it printed, throws when it fails or takes longer than `timeout` ms. */
export const runCommand = promisify(execFile);

/** The full path of a program on a PATH-like list of folders, or null. */
export async function findProgram(name: string, pathEnv: string): Promise<string | null> {
  for (const folder of pathEnv.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, name);
    if (await isExecutableFile(candidate)) return candidate;
  }
  return null;
}

/** Whether this path is a file that we may execute. */
export async function isExecutableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
