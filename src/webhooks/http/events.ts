/** The feed of events. */
import { z } from 'zod';
import { isoTime, text, yesNo, namedObject, dataObject } from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { choiceField, textField } from '../../platform/http/fields.ts';
import { parseJson } from '../../platform/http/json.ts';
import { MAX_CURSOR_CHARACTERS } from '../../platform/http/limits.ts';
import { limitField } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import type { WebhookCases } from '../use-cases.ts';
import { events } from './shared.ts';

const routes = merchantRoutes<WebhookCases>('Webhooks');

const feedQuery = z.object({
  after: textField({
    max: MAX_CURSOR_CHARACTERS,
    description: 'The `nextCursor` of an earlier answer. Without it: from the oldest kept event',
  }).optional(),
  limit: limitField('Events per page'),
  event: choiceField(events, {
    description: 'Only this event. A page may then be short, or empty, while `hasMore` is true',
  }).optional(),
});

const eventSchema = namedObject('Event', {
  id: text(
    'The `webhook-id` of its messages. Recognise repeats by it',
    'evt-3f2504e04f8941d39a0c0305e82c3301',
  ),
  event: z.enum(events),
  data: z.record(z.string(), z.union([z.string(), z.number()])).describe('As in the webhook of this event'),
  timestamp: isoTime('When it happened'),
});

type EventBody = Omit<z.output<typeof eventSchema>, 'id'>;

const feedSchema = dataObject('EventFeed', {
  items: z.array(eventSchema),
  nextCursor: text(
    'Store it once you have processed the page, and send it as `after`. Always present',
    'AAAAAAAAEtYAAAAAAAAAAHrS5k0pWQ4c',
  ),
  hasMore: yesNo('Whether to ask for the next page at once'),
});

export const feedRoutes: readonly Route<WebhookCases>[] = [
  routes.get('/api/events', {
    query: feedQuery,
    errors: ['CURSOR_EXPIRED'],
    answer: [200, 'One page, oldest first', feedSchema],
    operationId: 'listEvents',
    summary: 'Pull your events',
    description:
      'Every event of this environment, whether or not an endpoint asks for it, with the ids of the webhooks, for 30 days. Process a page, ' +
      'store `nextCursor`, ask again with it: no event is left out, also if you stop in between. Events that happen together have an ' +
      'arbitrary order, which stays.',
    async handle({ cases, principal, query }) {
      const { events: found, ...page } = await cases.listEvents(principal, query);
      const items = found.map(({ id, body }) => ({ id, ...(parseJson(body) as EventBody) }));
      return { items, ...page };
    },
  }),
];
