/** What sells, and an account's own figures. */
import { z } from 'zod';
import { regionSchema } from '../../catalogue/http/shared.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { ESIM_STATUSES, PAYMENT_METHODS, PURCHASE_STATUSES } from '../../domain/states.ts';
import { money, oldestUsage, answer, text, count } from '../../platform/http/answer-fields.ts';
import { dayField, wholeNumberField } from '../../platform/http/fields.ts';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import type { RenderCache } from '../../platform/http/render-cache.ts';
import { READ, type Route, routesFor } from '../../platform/http/route.ts';
import { MAX_SPENDING_DAYS, type Spending } from '../figures/spending.ts';
import { MAX_STATISTICS_DAYS, recordOf, type Statistics } from '../figures/statistics.ts';
import { MAX_COUNTED_BY_REGION } from '../store/spending.ts';
import type { FiguresCases } from '../use-cases.ts';

const defineRoute = routesFor<FiguresCases>();
const TAG = 'Statistics';
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
  defineRoute({
    ...READ,
    path: '/api/esim/top-destinations',
    query: destinationsQuery,
    responses: { 200: { description: 'Most purchases first', schema: z.array(destinationSchema) } },
    docs: {
      operationId: 'listTopDestinations',
      tag: TAG,
      summary: 'List the regions that sell most',
      description:
        'Regions on sale by delivered purchases of all accounts in this environment, today and the 29 days before (UTC). Up to a minute old.',
    },
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

const statisticsSchema = z
  .object({
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
          amount: money('Charged for these purchases and kept'),
        }),
      )
      .describe('Without money on hold, given back, or at risk in a dispute'),
    esims: z
      .object({ total: counted, byStatus: countsOf(ESIM_STATUSES).meta({ id: 'EsimCounts' }) })
      .describe('Ordered on these days, by their present status'),
    boughtBytes: counted.describe('Data of the delivered purchases, top-ups included'),
    usedBytes: counted.describe('What these eSIMs have used, as last known'),
    usageAsOf: oldestUsage,
  })
  .meta({ id: 'Statistics' });

const statisticsRoute = defineRoute({
  ...READ,
  path: '/api/esim/statistics',
  query: dayRange(MAX_STATISTICS_DAYS),
  responses: { 200: { description: 'The figures', schema: statisticsSchema } },
  docs: {
    operationId: 'getStatistics',
    tag: TAG,
    summary: 'Read your own figures',
    description: 'About the purchases and eSIMs that your account opened on these days, as they stand now.',
  },
  handle: async ({ cases, principal, query }) =>
    answer(presentStatistics(await cases.getStatistics(principal, query))),
});

function presentStatistics(view: Statistics): Wire<z.output<typeof statisticsSchema>> {
  const { from, to, purchases, spend, esims, boughtBytes, usedBytes, usageAsOf } = view;
  const { byPaymentMethod } = purchases;
  return {
    from,
    to,
    purchases: {
      total: Number(purchases.total),
      byStatus: numbers(purchases.byStatus),
      byPaymentMethod: recordOf(PAYMENT_METHODS, (method) => numbers(byPaymentMethod[method])),
    },
    spend: spend.map(({ currency, amountMinor }) => ({ currency, amount: moneyJson(amountMinor) })),
    esims: { total: Number(esims.total), byStatus: numbers(esims.byStatus) },
    boughtBytes: Number(boughtBytes),
    usedBytes: Number(usedBytes),
    usageAsOf: usageAsOf?.toISOString() ?? '',
  };
}

function numbers<Name extends string>(counts: Readonly<Record<Name, bigint>>): Record<Name, number> {
  return Object.fromEntries(
    Object.entries<bigint>(counts).map(([name, value]) => [name, Number(value)]),
  ) as Record<Name, number>;
}

const figures = {
  purchases: counted.describe('Delivered purchases, top-ups included'),
  failed: counted.describe('Purchases that failed'),
  spent: money('Charged for these purchases and kept'),
  dataBytes: counted.describe('Data of the delivered purchases, in bytes'),
  usedBytes: counted.describe('What the eSIMs that were ordered on this day have used until now, in bytes'),
};

const spendingSchema = z
  .object({
    from: text('First UTC day', '2026-01-02'),
    to: text('Last UTC day', '2026-01-31'),
    currency: z.enum(ACCOUNT_CURRENCIES).describe('Of the account'),
    usageAsOf: oldestUsage,
    total: z.object(figures).meta({ description: 'Of all these days', id: 'SpendingTotal' }),
    days: z
      .array(z.object({ day: text('UTC day', '2026-01-31'), ...figures }).meta({ id: 'SpendingDay' }))
      .describe('Every day, oldest first, also those without a purchase'),
    topDestinations: z
      .array(
        z
          .object({
            regionCode: z.string().meta({ example: 'NG' }),
            regionName: text('The code where the region is no longer sold', 'Nigeria'),
            purchases: counted.describe('Delivered purchases, top-ups included'),
          })
          .meta({ id: 'SpendingDestination' }),
      )
      .describe(
        `At most 10 regions of your own purchases, most purchases first. Counts the newest ${MAX_COUNTED_BY_REGION} delivered purchases of these days`,
      ),
  })
  .meta({ id: 'Spending' });

const spendingRoute = defineRoute({
  ...READ,
  path: '/api/esim/spending',
  query: dayRange(MAX_SPENDING_DAYS),
  responses: { 200: { description: 'The figures', schema: spendingSchema } },
  docs: {
    operationId: 'getSpending',
    tag: 'Statistics',
    summary: 'Read your spending by day, and your top destinations',
    description:
      'A figure belongs to the UTC day on which its purchase or eSIM was ordered, as it stands now: a later refund lowers that day.',
  },
  handle: async ({ cases, principal, query }) =>
    answer(presentSpending(await cases.getSpending(principal, query))),
});

function presentSpending({
  total,
  days,
  usageAsOf,
  topDestinations,
  ...about
}: Spending): Wire<z.output<typeof spendingSchema>> {
  return {
    ...about,
    usageAsOf: usageAsOf?.toISOString() ?? '',
    total: presentFigures(total),
    days: days.map(({ day, ...counted }) => ({ day, ...presentFigures(counted) })),
    topDestinations: topDestinations.map((one) => ({ ...one, purchases: Number(one.purchases) })),
  };
}

function presentFigures({ purchases, failed, spentMinor, dataBytes, usedBytes }: Spending['total']) {
  return {
    purchases: Number(purchases),
    failed: Number(failed),
    spent: moneyJson(spentMinor),
    dataBytes: Number(dataBytes),
    usedBytes: Number(usedBytes),
  };
}

export const figuresRoutes = (cache: RenderCache): readonly Route<FiguresCases>[] => [
  destinationsRoute(cache),
  statisticsRoute,
  spendingRoute,
];
