import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Intent } from '../../packages/sdk/src/index.ts';
import { newBuyer } from '../support/people/buyer.ts';
import { createRandom, withSeed } from '../support/time/size.ts';
import { until } from '../support/time/until.ts';
import { processEnv } from '../support/world/processes.ts';
import type { Stack } from '../support/world/stack.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { startCuttingProxy } from './cutting-proxy.support.ts';

const PRICE_MINOR = 230n;

/** What the program is told, as JSON in its last argument. It prints a line when it begins. */
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

/**
 * Has a merchant's program buy `count` orders while connections break at random bytes and the program is
 * killed at random. Each intended order must be bought once, and no purchase may exist that it does not know.
 */
export async function proveOrders(stack: Stack, count: number, program: readonly string[]): Promise<void> {
  await withSeed(async (seed) => {
    const random = createRandom(seed);
    const buyer = await newBuyer(stack, {
      plan: 'ENTERPRISE',
      fundsMinor: 2n * PRICE_MINOR * BigInt(count),
    });
    const file = join(await makeTestFolder(), 'orders');
    writeFileSync(file, '');
    const proxy = await startCuttingProxy(stack.apiUrl, random);
    const orders = { baseUrl: proxy.url, apiKey: buyer.account.apiKey, file, count };
    let kills = 0;
    while (!(await live(program, orders, random.below(4_000)))) kills += 1;
    await proxy.close();
    expect(Math.min(kills, proxy.cuts.request, proxy.cuts.answer)).toBeGreaterThan(0);

    const ended = knownIn(file).filter(({ intent }) => !intent);
    expect(ended.map(({ order }) => order).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: count }, (_, order) => order),
    );
    const purchases = await until(
      () => buyer.purchases(),
      (rows) => rows.every(({ closed_at }) => closed_at !== null),
      { what: 'all purchases closed' },
    );
    expect(purchases.map((row) => row.transaction_id).toSorted()).toEqual(
      ended.map(({ transactionId }) => transactionId).toSorted(),
    );
    expect(await buyer.balanceMinor()).toBe(PRICE_MINOR * BigInt(count));
    console.log(
      `${count} orders, ${kills} kills, ${proxy.cuts.request} cut requests, ${proxy.cuts.answer} cut answers`,
    );
  });
}

/** Runs the program until it ends by itself, or is killed after `lifeMs`. Whether it ended. */
async function live([command = '', ...args]: readonly string[], orders: Orders, lifeMs: number) {
  const child = spawn(command, [...args, JSON.stringify(orders)], {
    env: processEnv(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  await Promise.race([once(child.stdout, 'data'), exited]);
  const timer = setTimeout(() => child.kill('SIGKILL'), lifeMs);
  const [code, signal] = await exited;
  clearTimeout(timer);
  if (signal === null && code !== 0) throw new Error(`the orders ended with code ${code}`);
  return code === 0;
}

/** All that the program knows. */
const knownIn = (file: string): Known[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Known);
