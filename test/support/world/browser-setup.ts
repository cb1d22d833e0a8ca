// The services for all files, and the pages built as they are served.
import type { TestProject } from 'vitest/node';
import { buildAll } from '../../../src/dev/build.ts';
import startServices from './global-setup.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const log = { info: () => undefined, warn: (line: string) => console.warn(line) };
  const [stop] = await Promise.all([startServices(project), buildAll(log)]);
  return stop;
}
