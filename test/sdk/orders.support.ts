import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Intent } from '../../packages/sdk/src/index.ts';
import { processEnv } from '../support/world/processes.ts';

export interface Orders {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly file: string;
  /** How many orders, numbered from 0. */
  readonly count: number;
}

/** A line of the file: what is intended, or how it ended. */
export interface Known {
  readonly order: number;
  readonly intent?: Intent<{ transactionId: string }>;
  readonly transactionId?: string;
  readonly refused?: string;
}

/** Runs orders-process.ts until it ends by itself, or is killed after `lifeMs`. Whether it ended. */
export async function live(orders: Orders, lifeMs: number): Promise<boolean> {
  const child = fork(join(import.meta.dirname, 'orders-process.ts'), [JSON.stringify(orders)], {
    env: processEnv(),
    execArgv: [],
  });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  await Promise.race([once(child, 'message'), exited]);
  const timer = setTimeout(() => child.kill('SIGKILL'), lifeMs);
  const [code, signal] = await exited;
  clearTimeout(timer);
  if (signal === null && code !== 0) throw new Error(`the orders ended with code ${code}`);
  return code === 0;
}

/** All that the program knows. */
export const knownIn = (file: string): Known[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Known);
