import { z } from 'zod';
import { readOnSaleAt, type OnSaleAt } from '../../catalogue/changes.ts';
import { option } from '../../platform/command.ts';
import { text, time } from '../values.ts';
import { addFinanceCommand, type FinanceGroup } from './group.ts';
import { moment, money, type Output } from './output.ts';

const MAX_CODE_CHARACTERS = 64;

export function addOnSaleCommand(group: FinanceGroup): void {
  addFinanceCommand(group, {
    syntax: 'on-sale',
    summary: 'Shows what was on sale at a given moment, at which cost and prices',
    help: `Shows what was on sale at a given moment, with our cost and the prices in US dollars. A change counts from the sync
that found it.`,
    options: z.object({
      at: option(time.optional(), 'a day, at midnight UTC, or an ISO 8601 time; now by default', 'time'),
      package: option(text(MAX_CODE_CHARACTERS).optional(), 'only this package', 'code'),
      region: option(text(MAX_CODE_CHARACTERS).optional(), 'only this region', 'code'),
    }),
    run: async ({ options: { at = new Date(), package: packageCode, region: regionCode }, world, out }) => {
      const view = await readOnSaleAt(world.db, { at, packageCode, regionCode });
      out.json(view);
      printOnSale(out, view);
      return 0;
    },
  });
}

function printOnSale(out: Output, { at, knownSince, packages }: OnSaleAt): void {
  if (knownSince === null) out.note('not known: no catalogue has been read yet');
  else if (at < knownSince) out.note(`not known: the history begins at ${moment(knownSince)}`);
  out.table(
    ['PACKAGE', 'NAME', 'REGION', 'COST', 'USER', 'MERCHANT', 'FROM', 'TO'],
    packages.map((item) => [
      item.packageCode,
      item.name,
      item.regionCode,
      money(item.cost, 'USD4'),
      money(item.userPriceUsdMinor, 'USD'),
      money(item.merchantPriceUsdMinor, 'USD'),
      moment(item.validFrom),
      moment(item.validTo),
    ]),
  );
}
