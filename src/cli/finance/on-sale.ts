import { dataOf } from 'simway-client';
import type { components } from 'simway-client/generated/ops.ts';
import { z } from 'zod';
import { defined, option } from '../../platform/command.ts';
import { text, time } from '../values.ts';
import { financeCommand } from './group.ts';
import { allPages, moment, money, type Output } from './output.ts';

const MAX_CODE_CHARACTERS = 64;

export const ON_SALE = financeCommand({
  syntax: 'on-sale',
  summary: 'Shows what was on sale at a given moment, at which cost and prices',
  help: `Shows what was on sale at a given moment, with our cost and the prices in US dollars. A change counts from the sync
that found it.`,
  options: z.object({
    at: option(time.optional(), 'a day, at midnight UTC, or an ISO 8601 time; now by default', 'time'),
    package: option(text(MAX_CODE_CHARACTERS).optional(), 'only this package', 'code'),
    region: option(text(MAX_CODE_CHARACTERS).optional(), 'only this region', 'code'),
  }),
  run: async ({ options: { at = new Date(), package: packageCode, region: regionCode }, ops, out }) => {
    const filter = { at: at.toISOString(), ...defined({ packageCode, regionCode }) };
    const view = await allPages((page) =>
      dataOf(ops.GET('/ops/on-sale', { params: { query: { ...page, ...filter } } })),
    );
    out.json(view);
    printOnSale(out, view);
  },
});

function printOnSale(out: Output, { at, knownSince, items }: components['schemas']['OnSale']['data']): void {
  if (knownSince === null) out.note('not known: no catalogue has been read yet');
  else if (at < knownSince) out.note(`not known: the history begins at ${moment(knownSince)}`);
  out.table(
    ['PACKAGE', 'NAME', 'REGION', 'COST', 'USER', 'MERCHANT', 'FROM', 'TO'],
    items.map((item) => [
      item.packageCode,
      item.name,
      item.regionCode,
      money(item.costUsd, 'USD4'),
      money(item.userPriceUsd, 'USD'),
      money(item.merchantPriceUsd, 'USD'),
      moment(item.validFrom),
      moment(item.validTo),
    ]),
  );
}
