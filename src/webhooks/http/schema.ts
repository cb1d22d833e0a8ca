import { z } from 'zod';
import { DISABLED_REASONS, MESSAGE_STATUSES, MAX_KEPT_HEADERS } from '../rules.ts';
import { PURCHASE_EVENT_STATUSES } from '../event-rules.ts';
import { DEFAULT_EVENTS, PURCHASE_EVENT, WEBHOOK_EVENTS, type WebhookEvent } from '../events.ts';
import type { EndpointWithSecret } from '../endpoints.ts';
import type { Attempt } from '../messages.ts';
import { isoTime, presenter } from '../../platform/http/answer-fields.ts';
import { choiceField, textField, timeField } from '../../platform/http/fields.ts';
import { MAX_WEBHOOK_URL_CHARACTERS } from '../../platform/http/limits.ts';
import { pageFields, pageSchema } from '../../platform/http/page.ts';

const events = WEBHOOK_EVENTS as readonly [WebhookEvent, ...WebhookEvent[]];

function eventField(description: string) {
  return choiceField(events, { description, example: PURCHASE_EVENT });
}

const urlField = textField({
  max: MAX_WEBHOOK_URL_CHARACTERS,
  description:
    'Where messages are sent: https, or http in the sandbox, on port 443 or 80 of a public address. Checked now and at ' +
    'every connection.',
  example: 'http://127.0.0.1:4000/hooks',
});

const eventsField = z
  .array(eventField('An event'), 'must be a list of events')
  .min(1, 'must name at least one event')
  .max(WEBHOOK_EVENTS.length, `must name at most ${WEBHOOK_EVENTS.length} events`)
  .transform((named) => WEBHOOK_EVENTS.filter((event) => named.includes(event)))
  .meta({ description: 'The events to send' });

export const createEndpointBody = z
  .object({
    url: urlField,
    events: eventsField.optional().meta({
      description: `The events to send; default: ${DEFAULT_EVENTS.join(', ')}`,
    }),
  })
  .meta({ id: 'CreateWebhookEndpointRequest' });

export const updateEndpointBody = z
  .object({
    url: urlField.optional(),
    events: eventsField.optional(),
    enabled: z.boolean('must be true or false').optional().meta({
      description:
        'false: nothing is sent until it is enabled again. true: also enables one that we disabled',
    }),
  })
  .refine((body) => Object.values<unknown>(body).some((value) => value !== undefined), {
    message: 'must hold url, events or enabled',
  })
  .meta({ id: 'UpdateWebhookEndpointRequest' });

export const sampleBody = z
  .object({
    event: eventField('Which event to send a sample of'),
    status: choiceField(PURCHASE_EVENT_STATUSES, { description: `Of ${PURCHASE_EVENT}` }).optional(),
  })
  .refine((body) => body.status === undefined || body.event === PURCHASE_EVENT, {
    path: ['status'],
    message: `is only for ${PURCHASE_EVENT}`,
  })
  .meta({ id: 'WebhookSampleRequest' });

export const recoverBody = z
  .object({
    from: timeField({ description: 'Failed messages created at this time or later; at most 14 days ago' }),
    to: timeField({ description: 'Created before this time; default: now' }).optional(),
  })
  .meta({ id: 'WebhookRecoverRequest' });

export const pageQuery = z.object(pageFields);

const endpoint = {
  id: z.string().meta({ example: 'ep-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  url: z.string(),
  events: z.array(z.enum(events)),
  enabled: z.boolean(),
  disabledReason: z.enum(DISABLED_REASONS).nullable().meta({
    description: 'BY_OWNER: you did. GONE: it answered 410. FAILING: nothing but failures for 5 days.',
  }),
  failingSince: isoTime('The first failure since the last success').nullable(),
  createdAt: isoTime('ISO 8601'),
  updatedAt: isoTime('ISO 8601'),
};

const secret = z.string().meta({
  description: 'The signing secret of its messages (Standard Webhooks). Shown only in this answer: store it',
});

export const endpointSchema = z.object(endpoint).meta({ id: 'WebhookEndpoint' });
export const endpointPageSchema = pageSchema(endpointSchema, 'WebhookEndpointPage');
export const newEndpointSchema = z.object({ ...endpoint, secret }).meta({ id: 'NewWebhookEndpoint' });
export const deletedSchema = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedWebhookEndpoint' });
export const recoveredSchema = z
  .object({ recovered: z.number().int().meta({ description: 'Resent messages' }) })
  .meta({ id: 'WebhookRecovery' });

/** An id that cannot exist matches nothing, as it finds nothing in a path. */
const idFilter = (description: string) => z.string().optional().meta({ description });

export const messagesQuery = z.object({
  ...pageFields,
  endpointId: idFilter('Only messages to this endpoint'),
  eventId: idFilter('Only messages about this event: the `webhook-id` that you received'),
  status: choiceField(MESSAGE_STATUSES, { description: 'Only messages with this status' }).optional(),
  event: choiceField(events, { description: 'Only messages about this event' }).optional(),
  transactionId: idFilter('Only messages about this purchase or funding'),
  from: timeField({ description: 'Only messages created at this time or later' }).optional(),
  to: timeField({ description: 'Only messages created before this time' }).optional(),
});

const message = {
  id: z.string().meta({
    description: 'Of this message to this endpoint',
    example: 'msg-1b4e28ba2fa14d2e883f0016d3cca427',
  }),
  eventId: z.string().nullable().meta({
    description:
      'The event in `GET /api/events`, and the `webhook-id` of every attempt. Null for a sample, whose `webhook-id` is `id`',
    example: 'evt-3f2504e04f8941d39a0c0305e82c3301',
  }),
  endpointId: z.string(),
  event: z.enum(events),
  transactionId: z
    .string()
    .nullable()
    .meta({ description: 'The purchase or funding; null for events without one' }),
  status: z.enum(MESSAGE_STATUSES).meta({
    description: 'PENDING: will be tried again. DELIVERED: answered with 2xx. FAILED: not tried again.',
  }),
  attempts: z.number().int().meta({ description: 'Attempts so far' }),
  nextAttemptAt: isoTime('While PENDING: the time of the next attempt').nullable(),
  createdAt: isoTime('ISO 8601'),
  closedAt: isoTime('When it was delivered or failed').nullable(),
};

export const messageSchema = z.object(message).meta({ id: 'WebhookMessage' });
export const messagePageSchema = pageSchema(messageSchema, 'WebhookMessagePage');
export const messageDetailSchema = z
  .object({
    ...message,
    body: z.string().meta({ description: 'The body, byte for byte as it is signed and sent' }),
  })
  .meta({ id: 'WebhookMessageDetail' });

const header = z.object({
  name: z.string().meta({ example: 'content-type' }),
  value: z.string().meta({ example: 'application/json' }),
});

const attemptSchema = z
  .object({
    attempt: z.number().int().meta({ description: 'Counted from 1' }),
    at: isoTime('When it began'),
    milliseconds: z.number().int().meta({ description: 'How long it took' }),
    outcome: z.string().meta({
      description: '`answered`, or why there was no complete answer, such as `time-limit` or `no-connection`',
      example: 'answered',
    }),
    status: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'HTTP status of the answer; only 2xx counts as delivered' }),
    answer: z.string().meta({ description: 'The first kibibyte of the answer, as text' }),
    answerHeaders: z
      .array(header)
      .nullable()
      .meta({
        description: `The answer’s headers: at most ${MAX_KEPT_HEADERS}, long values cut, without cookies; null where none were kept`,
      }),
    request: z
      .object({
        method: z.literal('POST'),
        url: z.string().meta({ example: 'https://shop.example/hooks' }),
        headers: z.array(header).meta({ description: 'Of the signatures only the beginning' }),
        body: z.string().meta({ description: 'Byte for byte as it is signed and sent' }),
      })
      .meta({ description: 'What was sent' }),
  })
  .meta({ id: 'WebhookAttempt' });

export const attemptPageSchema = pageSchema(attemptSchema, 'WebhookAttemptPage');

export const presentEndpoint = presenter(endpointSchema);
export const presentMessage = presenter(messageSchema);
export const presentMessageDetail = presenter(messageDetailSchema);
const presentSecret = presenter(newEndpointSchema);
const presentAttemptFields = presenter(attemptSchema);

export function presentNewSecret({ endpoint, secret }: EndpointWithSecret): object {
  return presentSecret({ ...endpoint, secret });
}

export function presentAttempt(attempt: Attempt): object {
  const { ms: milliseconds, answerStart: answer, request } = attempt;
  return presentAttemptFields({
    ...attempt,
    milliseconds,
    answer,
    request: { method: 'POST', ...request },
  });
}
