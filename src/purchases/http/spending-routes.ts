/** What an account bought and spent, day by day. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { money, oldestUsage } from '../../platform/http/answer-fields.ts';
import { dayField } from '../../platform/http/fields.ts';
import { moneyJson, toJson, type Wire } from '../../platform/http/json.ts';
import { READ, routesFor, type Route } from '../../platform/http/route.ts';
import { MAX_SPENDING_DAYS, type Spending } from '../figures/spending.ts';
import { MAX_COUNTED_BY_REGION } from '../store/spending.ts';
import type { FiguresCases } from '../use-cases.ts';

const defineRoute = routesFor<FiguresCases>();

const spendingQuery = z.object({
  from: dayField({ description: 'First UTC day, included; without it, 30 days end with `to`' }).optional(),
  to: dayField({
    description: `Last UTC day, included; today without it. At most ${MAX_SPENDING_DAYS} days`,
  }).optional(),
});

const count = z.number().int().min(0);

const figures = {
  purchases: count.meta({ description: 'Delivered purchases, top-ups included' }),
  failed: count.meta({ description: 'Purchases that failed' }),
  spent: money('Charged for these purchases and kept'),
  dataBytes: count.meta({ description: 'Data of the delivered purchases, in bytes' }),
  usedBytes: count.meta({
    description: 'What the eSIMs that were ordered on this day have used until now, in bytes',
  }),
};

const spendingSchema = z
  .object({
    from: z.string().meta({ description: 'First UTC day', example: '2026-01-02' }),
    to: z.string().meta({ description: 'Last UTC day', example: '2026-01-31' }),
    currency: z.enum(ACCOUNT_CURRENCIES).meta({ description: 'Of the account' }),
    usageAsOf: oldestUsage,
    total: z.object(figures).meta({ description: 'Of all these days', id: 'SpendingTotal' }),
    days: z
      .array(
        z
          .object({ day: z.string().meta({ description: 'UTC day', example: '2026-01-31' }), ...figures })
          .meta({ id: 'SpendingDay' }),
      )
      .meta({ description: 'Every day, oldest first, also those without a purchase' }),
    topDestinations: z
      .array(
        z
          .object({
            regionCode: z.string().meta({ example: 'NG' }),
            regionName: z.string().meta({
              description: 'The code where the region is no longer sold',
              example: 'Nigeria',
            }),
            purchases: count.meta({ description: 'Delivered purchases, top-ups included' }),
          })
          .meta({ id: 'SpendingDestination' }),
      )
      .meta({
        description: `At most 10 regions of your own purchases, most purchases first. Counts the newest ${MAX_COUNTED_BY_REGION} delivered purchases of these days`,
      }),
  })
  .meta({ id: 'Spending' });

const spendingRoute = defineRoute({
  ...READ,
  path: '/api/esim/spending',
  query: spendingQuery,
  responses: { 200: { description: 'The figures', schema: spendingSchema } },
  docs: {
    operationId: 'getSpending',
    tag: 'Statistics',
    summary: 'Read your spending by day, and your top destinations',
    description:
      'A figure belongs to the UTC day on which its purchase or eSIM was ordered, as it stands now: a later refund lowers that day.',
  },
  async handle({ cases, principal, query }) {
    return { status: 200, body: toJson(presentSpending(await cases.getSpending(principal, query))) };
  },
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

export const spendingRoutes: readonly Route<FiguresCases>[] = [spendingRoute];
