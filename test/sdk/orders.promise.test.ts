/** Orders by the SDK, with connections that break and a program that is killed. */
import { join } from 'node:path';
import { it } from 'vitest';
import { casesOfRun, size } from '../support/time/size.ts';
import { soundStack } from '../support/world/sound-stack.ts';
import { proveOrders } from './orders.support.ts';

const count = casesOfRun({ ci: 200, prove: 10_000 });
/** Half a minute where nothing else runs. */
const LIMIT_MS = size({ ci: 600_000, prove: 3_600_000 });
const stack = await soundStack();

it(
  `buys ${count} orders once each, and knows all of them`,
  async () => {
    await proveOrders(stack, count, [process.execPath, join(import.meta.dirname, 'orders-process.ts')]);
  },
  LIMIT_MS,
);
