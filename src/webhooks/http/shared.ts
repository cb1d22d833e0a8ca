/** What the routes about endpoints, messages and events share. */
import { z } from 'zod';
import { isoTime, text, count, namedObject } from '../../platform/http/answer-fields.ts';
import { pageFields } from '../../platform/http/page.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../events.ts';
import { MESSAGE_STATUSES } from '../rules.ts';

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
