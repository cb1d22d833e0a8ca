/** The stuck list. */
import { z } from 'zod';
import { yesNo, dataObject } from '../../platform/http/answer-fields.ts';
import { wholeNumberField } from '../../platform/http/fields.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { pageFields, paginationSchema, presentPage } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { currencyCode, MAX_OLDER_SECONDS, stuckClassField, stuckItem } from './shared.ts';

const routes = operatorRoutes<OperatorCases>('Purchases');

const stuckQuery = z.object({
  ...environmentField,
  ...pageFields,
  class: stuckClassField.optional(),
  olderThanSeconds: wholeNumberField({
    min: 0,
    max: MAX_OLDER_SECONDS,
    fallback: 0,
    description: 'Only items unchanged for at least this long',
  }),
  currency: currencyCode('Only money of this currency'),
});

const stuckPageSchema = dataObject('StuckPage', {
  items: z.array(stuckItem),
  pagination: paginationSchema,
  isCut: yesNo('true: the list is truncated'),
  temporalAsked: yesNo('false: Temporal did not answer; `workflow-gone` items are missing'),
});

export const stuckRoutes: readonly Route<OperatorCases>[] = [
  routes.get('/ops/stuck', {
    permission: 'see',
    query: stuckQuery,
    answer: [200, 'One page, the longest stuck first', stuckPageSchema],
    operationId: 'listStuck',
    summary: 'List stuck purchases and payments',
    description:
      'One line for each cause, with what to do next. Items within their time limit are not listed.',
    async handle({ cases, query }) {
      const { page, limit, class: wanted, olderThanSeconds, currency } = query;
      const classes = wanted === undefined ? undefined : [wanted];
      const stuck = await cases.listStuck({ page, limit, olderThanSeconds, classes, currency });
      return { ...stuck, ...presentPage(stuck) };
    },
  }),
];
