/** `npm run finance`: for those who find and resolve what is stuck. Standard output is the answer alone. */
import type { Command } from 'commander';
import type { Cli } from '../context.ts';
import { ACTIONS, APPROVALS, DISMISS, REPLAY } from './actions.ts';
import { BOOKS } from './books.ts';
import { INSPECT } from './inspect.ts';
import { addLoginCommands } from './login.ts';
import { ON_SALE } from './on-sale.ts';
import { PRICING } from './pricing.ts';

export function addFinanceCommands(cli: Cli, parent: Command): void {
  const group = { cli, parent };
  addLoginCommands(group);
  for (const add of [...INSPECT, REPLAY, ...ACTIONS, DISMISS, ...APPROVALS, ...BOOKS, ...PRICING, ON_SALE])
    add(group);
}
