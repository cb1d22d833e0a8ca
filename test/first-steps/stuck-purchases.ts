// Buys the twenty purchases of docs/SANDBOX.md before the first test: they become stuck two minutes later,
// while the other tests run.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { readRunningFile, type RunningInfo } from '../../src/dev/running-file.ts';
import { CHECKOUT } from '../support/world/checkout.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stuckIds: string[];
  }
}

const SANDBOX = readFileSync(join(CHECKOUT, 'docs', 'SANDBOX.md'), 'utf8');
const [, BUY = '', LIST = ''] =
  /^## Twenty stuck purchases\n.*?^```sh\n(.*?)\n(.*?)\n```/ms.exec(SANDBOX) ?? [];
export const LIST_STUCK = LIST;

export default async function setup(project: TestProject): Promise<void> {
  project.provide('stuckIds', [...transactionIds(await inShell(await readRunning(), BUY))]);
}

/** What npm start tells every program. Throws if nothing is running in this checkout. */
export async function readRunning(): Promise<RunningInfo> {
  const running = await readRunningFile(join(CHECKOUT, '.data'));
  if (running === null) throw new Error('Nothing is running in this checkout: start it with npm start');
  return running;
}

/** A line of the page in a shell. Returns what it printed. */
export async function inShell({ apiUrl, keys }: RunningInfo, line: string): Promise<string> {
  const script = `export URL='${apiUrl}' KEY='${keys.ngn}'\n${line}`;
  return (await promisify(execFile)('bash', ['-c', script], { cwd: CHECKOUT })).stdout;
}

export const transactionIds = (text: string): Set<string> => new Set(text.match(/txn-[0-9a-f]{32}/g));
