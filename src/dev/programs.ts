import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

/** Throws when the command fails or takes longer than `timeout` ms. */
export const runCommand = promisify(execFile);

/** `pathEnv` is a list of folders such as PATH. */
export async function findProgram(name: string, pathEnv: string): Promise<string | null> {
  for (const folder of pathEnv.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, name);
    if (await isExecutableFile(candidate)) return candidate;
  }
  return null;
}

export async function isExecutableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
