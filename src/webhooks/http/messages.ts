/** The feed of events; messages to webhook endpoints, and their attempts. */
import { z } from 'zod';
import { count, dataObject, isoTime, namedObject, text, yesNo } from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { choiceField, idParameter, textField, timeField } from '../../platform/http/fields.ts';
import { parseJson } from '../../platform/http/json.ts';
import { MAX_CURSOR_CHARACTERS } from '../../platform/http/limits.ts';
import { limitField, pageFields, pageSchema, presentPage } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../events.ts';
import { MAX_KEPT_HEADERS, MESSAGE_STATUSES } from '../rules.ts';
import type { WebhookCases } from '../use-cases.ts';

const routes = merchantRoutes<WebhookCases>('Webhooks', {
  messageId: idParameter(
    'message',
    'The `id` of a message',
    'Webhook message not found',
    'WEBHOOK_MESSAGE_NOT_FOUND',
    '1b4e28ba2fa14d2e883f0016d3cca427',
  ),
});

export const events = WEBHOOK_EVENTS as readonly [WebhookEvent, ...WebhookEvent[]];
export const pageQuery = z.object(pageFields);

export const message = {
  id: text('Of this message to this endpoint', 'msg-1b4e28ba2fa14d2e883f0016d3cca427'),
  eventId: text(
    'The event in `GET /api/events`, and the `webhook-id` of every attempt. Null for a sample, whose `webhook-id` is `id`',
    'evt-3f2504e04f8941d39a0c0305e82c3301',
  ).nullable(),
  endpointId: z.string(),
  event: z.enum(events),
  transactionId: text('The purchase or funding; null for events without one').nullable(),
  status: z
    .enum(MESSAGE_STATUSES)
    .describe('PENDING: will be tried again. DELIVERED: answered with 2xx. FAILED: not tried again.'),
  attempts: count('Attempts so far'),
  nextAttemptAt: isoTime('While PENDING: the time of the next attempt').nullable(),
  createdAt: isoTime('ISO 8601'),
  closedAt: isoTime('When it was delivered or failed').nullable(),
};

export const messageSchema = namedObject('WebhookMessage', message);

/** An id that cannot exist matches nothing, as it finds nothing in a path. */
const idFilter = (description: string) => text(description).optional();

const messagesQuery = z.object({
  ...pageFields,
  endpointId: idFilter('Only messages to this endpoint'),
  eventId: idFilter('Only messages about this event: the `webhook-id` that you received'),
  status: choiceField(MESSAGE_STATUSES, { description: 'Only messages with this status' }).optional(),
  event: choiceField(events, { description: 'Only messages about this event' }).optional(),
  transactionId: idFilter('Only messages about this purchase or funding'),
  from: timeField({ description: 'Only messages created at this time or later' }).optional(),
  to: timeField({ description: 'Only messages created before this time' }).optional(),
});

export const messageDetailSchema = namedObject('WebhookMessageDetail', {
  ...message,
  body: text('The body, byte for byte as it is signed and sent'),
});

const header = z.object({
  name: z.string().meta({ example: 'content-type' }),
  value: z.string().meta({ example: 'application/json' }),
});

const attemptSchema = namedObject('WebhookAttempt', {
  attempt: count('Counted from 1'),
  at: isoTime('When it began'),
  milliseconds: count('How long it took'),
  outcome: text(
    '`answered`, or why there was no complete answer, such as `time-limit` or `no-connection`',
    'answered',
  ),
  status: count('HTTP status of the answer; only 2xx counts as delivered').nullable(),
  answer: text('The first kibibyte of the answer, as text'),
  answerHeaders: z
    .array(header)
    .nullable()
    .describe(
      `The answer’s headers: at most ${MAX_KEPT_HEADERS}, long values cut, without cookies; null where none were kept`,
    ),
  request: z
    .object({
      method: z.literal('POST'),
      url: z.string().meta({ example: 'https://shop.example/hooks' }),
      headers: z.array(header).describe('Of the signatures only the beginning'),
      body: text('Byte for byte as it is signed and sent'),
    })
    .describe('What was sent'),
});

export const attemptPageSchema = pageSchema(attemptSchema, 'WebhookAttemptPage');
const MESSAGES = '/api/webhooks/messages';
const MESSAGE = `${MESSAGES}/{messageId}` as const;

export const messageRoutes: readonly Route<WebhookCases>[] = [
  routes.get(MESSAGES, {
    query: messagesQuery,
    answer: [200, 'One page, newest first', pageSchema(messageSchema, 'WebhookMessagePage')],
    operationId: 'listWebhookMessages',
    summary: 'List messages to your webhook endpoints',
    description: 'One page of the messages of this environment, filtered.',
    handle: async ({ cases, principal, query }) => presentPage(await cases.listMessages(principal, query)),
  }),
  routes.get(MESSAGE, {
    answer: [200, 'The message', messageDetailSchema],
    operationId: 'getWebhookMessage',
    summary: 'Read a message',
    description: 'The state of its delivery, and its body.',
    handle: ({ cases, principal, params }) => cases.getMessage(principal, params.messageId),
  }),
  routes.get(`${MESSAGE}/attempts`, {
    query: pageQuery,
    answer: [200, 'One page, oldest first', attemptPageSchema],
    operationId: 'listWebhookAttempts',
    summary: 'List the attempts of a message',
    description: 'When each began, how long it took, and what your endpoint answered.',
    async handle({ cases, principal, params, query }) {
      const found = await cases.listAttempts(principal, params.messageId, query);
      const items = found.items.map((one) => ({ ...one, milliseconds: one.ms, answer: one.answerStart }));
      return presentPage({ ...found, items });
    },
  }),
  routes.post(`${MESSAGE}/resend`, {
    memberPermission: 'resend',
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND', 'WEBHOOK_ENDPOINT_DISABLED'],
    answer: [200, 'The message, being sent again', messageSchema],
    operationId: 'resendWebhookMessage',
    summary: 'Send a message again',
    description:
      'At once, with its own id and in any status; if that fails, on a new schedule. A receiver that has it already ' +
      'recognises its id.',
    handle: ({ cases, principal, params, idempotency }) =>
      cases.resendMessage(principal, params.messageId, idempotency),
  }),
];

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
  data: z
    .record(z.string(), z.union([z.string(), z.number(), z.record(z.string(), z.string())]))
    .describe('As in the webhook of this event'),
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
