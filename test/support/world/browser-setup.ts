// The services for all files, and the dashboard built as it is served.
import type { TestProject } from 'vitest/node';
import { buildDashboard } from '../../../src/dev/build-dashboard.ts';
import startServices from './global-setup.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const log = { info: () => undefined, warn: (line: string) => console.warn(line) };
  const [stop] = await Promise.all([startServices(project), buildDashboard(log)]);
  return stop;
}
