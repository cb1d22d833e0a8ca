/** `npm run finance`: for those who find and resolve what is stuck. Standard output is the answer alone. */
import type { Command } from 'commander';
import type { Cli } from '../context.ts';
import { addActionCommands, addApprovalCommands, addDismiss, addReplay } from './actions.ts';
import { addBookCommands } from './books.ts';
import { addInspectCommands } from './inspect.ts';
import { addLoginCommands } from './login.ts';
import { addOnSaleCommand } from './on-sale.ts';
import { addPriceCommands, addRateCommands } from './pricing.ts';

export function addFinanceCommands(cli: Cli, parent: Command): void {
  const group = { cli, parent };
  addLoginCommands(group);
  addInspectCommands(group);
  addReplay(group);
  addActionCommands(group);
  addDismiss(group);
  addApprovalCommands(group);
  addBookCommands(group);
  addRateCommands(group);
  addPriceCommands(group);
  addOnSaleCommand(group);
}
