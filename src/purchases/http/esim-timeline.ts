/** What happened to one eSIM. */
import { z } from 'zod';
import { esimId } from '../../esims/http/shared.ts';
import { isoTime, text, yesNo, namedObject, dataObject } from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import type { Route } from '../../platform/http/route.ts';
import { TIMELINE_SOURCES } from '../esim-timeline-rules.ts';
import type { PurchaseCases } from '../use-cases.ts';

const routes = merchantRoutes<PurchaseCases>('eSIMs', { esimId });

const timelineSchema = dataObject('EsimTimeline', {
  esimId: z.string().meta({ example: 'esim-0f8fad5bd9cb469fa16570867728950e' }),
  items: z
    .array(
      namedObject('EsimTimelineItem', {
        at: isoTime('When it happened'),
        source: z.enum(TIMELINE_SOURCES),
        what: text('Machine-readable event name', 'usage-threshold'),
        description: z.string().meta({ example: '80% of the data is used' }),
        transactionId: text('Of the purchase or top-up it is about').nullable(),
        messageId: text('Of the webhook message').nullable(),
      }),
    )
    .describe('Oldest first'),
  isComplete: yesNo('false: the eSIM is older than what is kept about usage, expiry and webhooks (30 days)'),
});

export const esimTimelineRoutes: readonly Route<PurchaseCases>[] = [
  routes.get('/api/esim/{esimId}/timeline', {
    errors: ['NOT_YOUR_ESIM'],
    answer: [200, 'The timeline', timelineSchema],
    operationId: 'getEsimTimeline',
    summary: 'Read what happened to an eSIM',
    description:
      'Its purchase and top-ups, delivery, install link, use, usage thresholds, expiry, and the webhooks that were sent about it.',
    async handle({ cases, principal, params }) {
      const { lines, ...found } = await cases.getEsimTimeline(principal, params.esimId);
      return { ...found, items: lines };
    },
  }),
];
