/** What sells, and an account's own figures. */
import { z } from 'zod';
import { regionSchema } from '../../catalogue/http/shared.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { ESIM_STATUSES, PAYMENT_METHODS, PURCHASE_STATUSES } from '../../domain/states.ts';
import { money, oldestUsage, text, count, namedObject } from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { dayField, wholeNumberField } from '../../platform/http/fields.ts';
import type { RenderCache } from '../../platform/http/render-cache.ts';
import type { Route } from '../../platform/http/route.ts';
import { MAX_SPENDING_DAYS, MAX_STATISTICS_DAYS, recordOf } from '../figures/statistics.ts';
import { MAX_COUNTED_BY_REGION } from '../store/statistics.ts';
import type { FiguresCases } from '../use-cases.ts';

const routes = merchantRoutes<FiguresCases>('Statistics');
const DEFAULT_DESTINATIONS = 10;
const MAX_DESTINATIONS = 50;

const destinationsQuery = z.object({
  limit: wholeNumberField({
    min: 1,
    max: MAX_DESTINATIONS,
    fallback: DEFAULT_DESTINATIONS,
    description: 'Regions at most',
  }),
});

const destinationSchema = regionSchema
  .extend({ purchases: count('Delivered purchases, top-ups included') })
  .meta({ id: 'Destination' });

/**
 * Counted at most once a minute: it reads 30 sums of each package that was sold, and the figure is of 30
 * days.
 */
const destinationsRoute = (cache: RenderCache) =>
  routes.get('/api/esim/top-destinations', {
    query: destinationsQuery,
    answer: { 200: { description: 'Most purchases first', schema: z.array(destinationSchema) } },
    operationId: 'listTopDestinations',
    summary: 'List the regions that sell most',
    description:
      'Regions on sale by delivered purchases of all accounts in this environment, today and the 29 days before (UTC). Up to a minute old.',
    async handle({ cases, environment, query }) {
      const { limit } = query;
      const { status, body } = await cache.answer(
        { environment, revision: cases.catalogueRevision() },
        ['top-destinations', limit],
        () => cases.listTopDestinations(limit),
      );
      return { status, body };
    },
  });

const dayRange = (maxDays: number) =>
  z.object({
    from: dayField({ description: 'First UTC day, included; without it, 30 days end with `to`' }).optional(),
    to: dayField({
      description: `Last UTC day, included; today without it. At most ${maxDays} days`,
    }).optional(),
  });

const counted = z.number().int().min(0);

const countsOf = <Name extends string>(names: readonly Name[]) => z.object(recordOf(names, () => counted));

const purchaseCounts = countsOf(PURCHASE_STATUSES).meta({ id: 'PurchaseCounts' });

const KEPT = 'Charged for these purchases and kept';
const NOT_KEPT = 'without money on hold, given back, or at risk in a dispute';

const statisticsSchema = namedObject('Statistics', {
  from: text('First UTC day', '2026-01-02'),
  to: text('Last UTC day', '2026-01-31'),
  purchases: z
    .object({
      total: counted,
      byStatus: purchaseCounts,
      byPaymentMethod: z.object(recordOf(PAYMENT_METHODS, () => purchaseCounts)),
    })
    .describe('Opened on these days, by their present status'),
  spend: z
    .array(
      z.object({
        currency: z.enum(ACCOUNT_CURRENCIES),
        amount: money(KEPT),
      }),
    )
    .describe(NOT_KEPT),
  esims: z
    .object({ total: counted, byStatus: countsOf(ESIM_STATUSES).meta({ id: 'EsimCounts' }) })
    .describe('Ordered on these days, by their present status'),
  boughtBytes: counted.describe('Data of the delivered purchases, top-ups included'),
  usedBytes: counted.describe('What these eSIMs have used, as last known'),
  usageAsOf: oldestUsage,
});

const figures = {
  purchases: counted.describe('Delivered purchases, top-ups included'),
  failed: counted.describe('Purchases that failed'),
  spent: money(`${KEPT}; ${NOT_KEPT}`),
  dataBytes: counted.describe('Data of the delivered purchases, in bytes'),
  usedBytes: counted.describe('What the eSIMs that were ordered on this day have used until now, in bytes'),
};

const spendingSchema = namedObject('Spending', {
  from: text('First UTC day', '2026-01-02'),
  to: text('Last UTC day', '2026-01-31'),
  currency: z.enum(ACCOUNT_CURRENCIES).describe('Of the account'),
  usageAsOf: oldestUsage,
  total: z.object(figures).meta({ description: 'Of all these days', id: 'SpendingTotal' }),
  days: z
    .array(namedObject('SpendingDay', { day: text('UTC day', '2026-01-31'), ...figures }))
    .describe('Every day, oldest first, also those without a purchase'),
  topDestinations: z
    .array(
      namedObject('SpendingDestination', {
        regionCode: z.string().meta({ example: 'NG' }),
        regionName: text('The code where the region is no longer sold', 'Nigeria'),
        purchases: counted.describe('Delivered purchases, top-ups included'),
      }),
    )
    .describe(
      `At most 10 regions of your own purchases, most purchases first. Counts the newest ${MAX_COUNTED_BY_REGION} delivered purchases of these days`,
    ),
});

/** Where the age of the usage is not known, its text is empty. */
const withAge = <Figures extends { readonly usageAsOf: Date | null }>(figures: Figures) => ({
  ...figures,
  usageAsOf: figures.usageAsOf ?? '',
});

export const figuresRoutes = (cache: RenderCache): readonly Route<FiguresCases>[] => [
  destinationsRoute(cache),
  routes.get('/api/esim/statistics', {
    query: dayRange(MAX_STATISTICS_DAYS),
    answer: [200, 'The figures', statisticsSchema],
    operationId: 'getStatistics',
    summary: 'Read your own figures',
    description: 'About the purchases and eSIMs that your account opened on these days, as they stand now.',
    handle: async ({ cases, principal, query }) => withAge(await cases.getStatistics(principal, query)),
  }),
  routes.get('/api/esim/spending', {
    query: dayRange(MAX_SPENDING_DAYS),
    answer: [200, 'The figures', spendingSchema],
    operationId: 'getSpending',
    summary: 'Read your spending by day, and your top destinations',
    description:
      'A figure belongs to the UTC day on which its purchase or eSIM was ordered, as it stands now: a later refund lowers that day.',
    handle: async ({ cases, principal, query }) => withAge(await cases.getSpending(principal, query)),
  }),
];
