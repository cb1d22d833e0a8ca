/** What needs attention now, in figures. */
import { z } from 'zod';
import { STUCK_CLASSES, type StuckClass } from '../../operations/stuck-rules.ts';
import { isoTime, money, count, yesNo, dataObject } from '../../platform/http/answer-fields.ts';
import { operatorRoutes } from '../../platform/http/ops-route.ts';
import type { Route } from '../../platform/http/route.ts';
import type { ReconciliationCases } from '../operator-use-cases.ts';
import { WAITS_FOR } from '../store/ledger.ts';

const routes = operatorRoutes<ReconciliationCases>('Purchases');

const figure = {
  count: z.number().int().meta({ example: 12 }),
  oldestAgeSeconds: count('How old the oldest is; null: there are none', 4_000).nullable(),
};

const classes = STUCK_CLASSES as readonly [StuckClass, ...StuckClass[]];

const overviewSchema = dataObject('Overview', {
  stuck: z.object({
    ...figure,
    classes: z
      .array(z.object({ class: z.enum(classes), ...figure }))
      .describe('Those that have any, the one with the oldest first'),
    isCut: yesNo('There are more than 10,000, and no more were counted'),
    temporalAsked: yesNo('false: Temporal did not answer; `workflow-gone` items are missing'),
  }),
  approvals: z
    .object(figure)
    .describe('Actions, batch repairs and wallet adjustments that await a second person'),
  rates: z
    .object(figure)
    .nullable()
    .describe(
      'Exchange rates, markups and prices of the supplier that await confirmation; null: not for your role',
    ),
  differences: z.object(figure).nullable().describe('Open ones; null: not for your role'),
  waiting: z
    .object({
      asOf: isoTime('Up to a minute ago'),
      lines: z.array(
        z.object({
          waitsFor: z.enum(WAITS_FOR),
          currency: z.string().meta({ example: 'NGN' }),
          amount: money('In `currency`'),
          ...figure,
        }),
      ),
    })
    .nullable()
    .describe('Money that waits, as in `getWaitingMoney`; null: not for your role'),
});

export const overviewRoutes: readonly Route<ReconciliationCases>[] = [
  routes.get('/ops/overview', {
    permission: 'see',
    answer: [200, 'Figures', overviewSchema],
    operationId: 'getOverview',
    summary: 'Read what needs attention now',
    description:
      'How much is stuck by class, which money waits, how many differences are open, how many actions and rates await approval, each ' +
      'with the age of the oldest.',
    handle: ({ cases, session }) => cases.readOverview(session),
  }),
];
