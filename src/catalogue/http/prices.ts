/** Markups, for operators: percentages with two decimals. */
import { z } from 'zod';
import { ACCOUNT_TYPES } from '../../domain/account.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import {
  dataAnswer,
  isoTime,
  percent,
  text,
  usd,
  namedObject,
  dataObject,
} from '../../platform/http/answer-fields.ts';
import { amountField, textField } from '../../platform/http/fields.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { pageFields, paginationSchema, presentPage } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import type { PricingCases } from '../operator-pricing.ts';
import type { PricingTermsRequest } from '../price-settings.ts';
import { changeBps } from '../pricing.ts';
import { changedPrices, declineBody, declinedSchema, rateOrNull, reason } from './pricing-fields.ts';

const numbered = (what: string, notFound: string) => ({
  description: what,
  example: '42',
  isPossible: (id: string) => /^\d{1,18}$/.test(id),
  notFound: { code: 'NOT_FOUND', message: notFound } as const,
});

const routes = operatorRoutes<PricingCases>('Rates and prices', {
  proposalId: numbered('The `proposalId` of markups that wait', 'No such proposal of the last 24 hours'),
  holdId: numbered('The `holdId` of a price of the supplier', 'No such price is held'),
});

/** Hundredths of a percent; the table's own limit. */
const MAX_PERCENT = 100_000n;
const MAX_VERSION_CHARACTERS = 100;
const pricesQuery = z.object({ ...environmentField, ...pageFields });

const terms = {
  userMarkupPercent: percent('On prices of individual users'),
  merchantMarkupPercent: percent('On prices of merchants'),
  ngnIncrementPercent: percent('On prices in NGN, after the conversion'),
};

const version = text('Of these settings', 'initial');

const rowId = z.string().meta({ example: '42' });

const pricesSchema = dataObject('Prices', {
  items: z.array(
    z.object({
      version,
      ...terms,
      by: z.string(),
      reason: z.string(),
      confirmedBy: text('The second person; null: none was needed').nullable(),
      validFrom: isoTime('ISO 8601'),
      isInForce: z.boolean(),
    }),
  ),
  waiting: z
    .array(
      z.object({
        proposalId: rowId,
        ...terms,
        proposedBy: text('Another person confirms them'),
        reason: z.string(),
        proposedAt: isoTime('ISO 8601'),
      }),
    )
    .describe('Of the last 24 hours, newest first'),
  pagination: paginationSchema,
});

const percentField = (description: string, example: number) =>
  amountField({ minMinor: 0n, maxMinor: MAX_PERCENT, description: `${description}, in percent`, example });

const termFields = {
  userMarkupPercent: percentField('The markup on prices of individual users', 25),
  merchantMarkupPercent: percentField('The markup on prices of merchants', 15),
  ngnIncrementPercent: percentField('The increment on prices in NGN, after the conversion', 3),
};

const previewBody = namedObject('PreviewPricesRequest', termFields);
const packageCount = z.number().int();

const pricePreviewSchema = dataObject('PricePreview', {
  version: version.describe('Of the settings in force: send it with `setPrices`'),
  before: z.object(terms),
  after: z.object(terms),
  nairaRate: z.number().nullable().meta({
    description: 'Prices in NGN are made with it. null: there is no current rate',
    example: 1534.25,
  }),
  outcome: z
    .enum(['set', 'waits', 'below-cost'])
    .describe(
      'What saving would do: `waits` for a second person, since a price moves far from the one that was agreed; `below-cost`: refused',
    ),
  packages: packageCount.describe('On sale, without top-ups'),
  topUps: packageCount.describe('On sale; below, packages and top-ups are counted together'),
  totals: z
    .array(
      z.object({
        accountType: z.enum(ACCOUNT_TYPES),
        currency: z.enum(ACCOUNT_CURRENCIES),
        dearer: packageCount,
        cheaper: packageCount,
        unchanged: packageCount,
        unsellable: packageCount.describe('Without a price above zero afterwards'),
        belowCost: packageCount.describe('Sold below our cost at the agreed rate afterwards'),
        largestRisePercent: percent('null: no package gets dearer').nullable(),
        largestFallPercent: percent('Negative. null: no package gets cheaper').nullable(),
        lowestMarginPercent: percent('Of the price. Negative: below cost').nullable(),
      }),
    )
    .describe('One line for each type of account and currency'),
  items: changedPrices,
  pagination: paginationSchema,
});

const pricesBody = namedObject('SetPricesRequest', {
  version: textField({
    max: MAX_VERSION_CHARACTERS,
    description: 'From the preview: other settings in force are refused with `PRICES_CHANGED`',
    example: 'initial',
  }),
  ...termFields,
  reason,
});

const pricesSetSchema = dataObject('PricesSet', {
  outcome: z.enum(['set', 'unchanged']).describe('`unchanged`: they are in force already'),
});

const pricesWaitSchema = dataObject('PricesWait', {
  outcome: z.literal('waits').describe('Another person confirms them within 24 hours'),
  proposalId: rowId,
});

const pricesConfirmedSchema = dataObject('PricesConfirmed', { outcome: z.literal('set') });

const heldPricesSchema = dataObject('HeldPrices', {
  items: z
    .array(
      z.object({
        holdId: rowId,
        packageCode: z.string(),
        name: z.string(),
        supplier: z.string(),
        costUsd: usd('The last price, which counts until then, four decimals', 12.5),
        heldCostUsd: usd('The price that the supplier lists now, four decimals', 850),
        changePercent: percent('Of the last price').nullable(),
        since: isoTime('ISO 8601'),
      }),
    )
    .describe('Those held longest first, at most 500'),
});

const confirmPricesBody = namedObject('ConfirmPricesRequest', { reason });
const confirmHeldBody = namedObject('ConfirmHeldPriceRequest', { reason });
const heldConfirmedSchema = dataObject('HeldPriceConfirmed', { outcome: z.literal('confirmed') });

const termsOf = (body: z.output<typeof previewBody>): PricingTermsRequest => ({
  userMarkupBps: Number(body.userMarkupPercent),
  merchantMarkupBps: Number(body.merchantMarkupPercent),
  ngnIncrementBps: Number(body.ngnIncrementPercent),
});

export const priceRoutes: readonly Route<PricingCases>[] = [
  routes.get('/ops/prices', {
    permission: 'pricing',
    query: pricesQuery,
    answer: [200, 'One page, newest first', pricesSchema],
    operationId: 'listPrices',
    summary: 'List markups, newest first',
    description:
      'The markups by type of account and the NGN increment, with who set them and why. They apply to every package.',
    async handle({ cases, query }) {
      const { settings, waiting } = await cases.listPrices(query);
      const { items, pagination } = presentPage(settings);
      const isFirst = (index: number) => query.page === 1 && index === 0;
      return {
        items: items.map(({ id, ...terms }, index) => ({ ...terms, version: id, isInForce: isFirst(index) })),
        waiting: waiting.map(({ proposalId, by, at, ...terms }) => ({
          ...terms,
          proposalId: String(proposalId),
          proposedBy: by,
          proposedAt: at,
        })),
        pagination,
      };
    },
  }),
  routes.post('/ops/prices/preview', {
    confirmed: false,
    permission: 'pricing',
    query: pricesQuery,
    body: previewBody,
    answer: [200, 'What would change; nothing was saved', pricePreviewSchema],
    operationId: 'previewPrices',
    summary: 'Preview new markups over the whole catalogue',
    description:
      'How many packages get dearer, cheaper, unsellable or cheaper than their cost, and one page of those whose price changes most.',
    async handle({ cases, query: { page, limit }, body }) {
      const preview = await cases.previewPrices(termsOf(body), { page, limit });
      const { items, pagination } = presentPage(preview.changes);
      return {
        ...preview,
        outcome: preview.verdict,
        version: preview.before.id,
        nairaRate: rateOrNull(preview.rates.get('NGN')?.micros),
        items: items.map(({ cost, ...item }) => ({ ...item, costUsdE4: cost })),
        pagination,
      };
    },
  }),
  routes.post('/ops/prices', {
    permission: 'pricing',
    body: pricesBody,
    errors: ['PRICES_CHANGED', 'PRICES_BELOW_COST'],
    answer: {
      200: { description: 'Prices use them within a second', schema: pricesSetSchema },
      202: { description: 'They wait until another person confirms them', schema: pricesWaitSchema },
    },
    operationId: 'setPrices',
    summary: 'Save new markups',
    description:
      'Refused where the settings in force are not those of the preview, or where a package would be sold below cost at the ' +
      'agreed rate. Where a price moves far from the one that two people agreed on, another person confirms them. Open purchases keep their quoted price.',
    async handle({ cases, session, body }) {
      const { version, reason } = body;
      const saved = await cases.savePrices(session, { version, after: termsOf(body), reason });
      if (saved.outcome === 'waits')
        return dataAnswer({ outcome: saved.outcome, proposalId: String(saved.proposalId) }, 202);
      return dataAnswer({ outcome: saved.outcome === 'set' ? 'set' : 'unchanged' } as const, 200);
    },
  }),
  routes.post('/ops/prices/{proposalId}/confirm', {
    permission: 'pricing',
    body: confirmPricesBody,
    errors: ['PRICES_CHANGED', 'PRICES_BELOW_COST'],
    answer: [200, 'Prices use them within a second', pricesConfirmedSchema],
    operationId: 'confirmPrices',
    summary: 'Confirm markups that another person set',
    description:
      'Refused where other markups were saved meanwhile, or where a package would be sold below cost.',
    async handle({ cases, session, params, body }) {
      await cases.confirmPrices(session, BigInt(params.proposalId), body.reason);
      return { outcome: 'set' } as const;
    },
  }),
  routes.post('/ops/prices/{proposalId}/decline', {
    permission: 'pricing',
    body: declineBody,
    answer: [200, 'They do not wait any more', declinedSchema],
    operationId: 'declinePrices',
    summary: 'Decline or withdraw markups that await confirmation',
    description: 'By another person, or by the one who set them. The markups in force stay.',
    async handle({ cases, session, params, body: { reason: why } }) {
      await cases.declineProposal(session, 'markups', { id: BigInt(params.proposalId), reason: why });
      return { outcome: 'declined' } as const;
    },
  }),
  routes.get('/ops/supplier-prices', {
    permission: 'pricing',
    query: z.object(environmentField),
    answer: [200, 'The held prices', heldPricesSchema],
    operationId: 'listHeldPrices',
    summary: 'List prices of the supplier that await a person',
    description: 'Prices that moved far from the last one. Until one is confirmed, the last price counts.',
    handle: async ({ cases }) => ({
      items: (await cases.listHeldPrices()).map(({ holdId, cost, heldCost, ...one }) => ({
        ...one,
        holdId: String(holdId),
        costUsdE4: cost,
        heldCostUsdE4: heldCost,
        changeBps: changeBps(cost, heldCost),
      })),
    }),
  }),
  routes.post('/ops/supplier-prices/{holdId}/confirm', {
    permission: 'pricing',
    body: confirmHeldBody,
    answer: [200, 'Prices use it within a second', heldConfirmedSchema],
    operationId: 'confirmHeldPrice',
    summary: 'Confirm a price of the supplier',
    description:
      'The package is sold at this cost from now on. Another price that the supplier lists meanwhile has another number.',
    async handle({ cases, session, params, body }) {
      await cases.confirmHeldPrice(session, BigInt(params.holdId), body.reason);
      return { outcome: 'confirmed' } as const;
    },
  }),
];
