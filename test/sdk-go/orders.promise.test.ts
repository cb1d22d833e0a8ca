/** Orders by the SDK in Go, with connections that break and a program that is killed. */
import { join } from 'node:path';
import { it } from 'vitest';
import { proveOrders } from '../sdk/orders.support.ts';
import { casesOfRun, size } from '../support/time/size.ts';
import { go } from '../support/world/go.ts';
import { soundStack } from '../support/world/sound-stack.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

const count = casesOfRun({ ci: 200, prove: 10_000 });
/** Half a minute where nothing else runs. */
const LIMIT_MS = size({ ci: 600_000, prove: 3_600_000 });
const stack = await soundStack();

it(
  `buys ${count} orders in Go once each, and knows all of them`,
  async () => {
    const program = join(await makeTestFolder(), 'orders-in-go');
    await go(['build', '-o', program, './orders'], import.meta.dirname);
    await proveOrders(stack, count, [program]);
  },
  LIMIT_MS,
);
