/** Messages to webhook endpoints, and each attempt at delivering them. */
import { z } from 'zod';
import { MESSAGE_STATUSES } from '../../views.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../rules.ts';
import { isoTime } from '../../../platform/http/answer-fields.ts';
import { choiceField, timeField } from '../../../platform/http/fields.ts';
import { pageFields, pageSchema } from '../../../platform/http/page.ts';

const events = WEBHOOK_EVENTS as readonly [WebhookEvent, ...WebhookEvent[]];

/** An id to filter by: one that cannot be ours matches nothing, as it would name nothing in a path. */
const idFilter = (description: string) => z.string().optional().meta({ description });

export const messagesQuery = z.object({
  ...pageFields,
  endpointId: idFilter('Only messages to this endpoint'),
  status: choiceField(MESSAGE_STATUSES, { description: 'Only messages that stand so' }).optional(),
  event: choiceField(events, { description: 'Only messages about this event' }).optional(),
  transactionId: idFilter('Only messages about this purchase or funding'),
  from: timeField({ description: 'Only messages written at this time or later' }).optional(),
  to: timeField({ description: 'Only messages written before this time' }).optional(),
});

export const attemptsQuery = z.object(pageFields);

const message = {
  id: z.string().meta({
    description: 'The `webhook-id` of every attempt',
    example: 'msg-1b4e28ba2fa14d2e883f0016d3cca427',
  }),
  endpointId: z.string(),
  event: z.enum(events),
  transactionId: z
    .string()
    .nullable()
    .meta({ description: 'What it is about; null where it is about no transaction' }),
  status: z.enum(MESSAGE_STATUSES).meta({
    description:
      'PENDING: is tried, or tried again. DELIVERED: answered with 2xx. FAILED: not tried any more.',
  }),
  attempts: z.number().int().meta({ description: 'How often it was tried' }),
  nextAttemptAt: isoTime('While PENDING: when it is tried next').nullable(),
  createdAt: isoTime('ISO 8601'),
  closedAt: isoTime('When it was delivered or given up').nullable(),
};

export const messageSchema = z.object(message).meta({ id: 'WebhookMessage' });
export const messagePageSchema = pageSchema(messageSchema, 'WebhookMessagePage');
export const messageDetailSchema = z
  .object({
    ...message,
    body: z.string().meta({ description: 'The body, byte for byte as it is signed and sent' }),
  })
  .meta({ id: 'WebhookMessageDetail' });

const attemptSchema = z
  .object({
    attempt: z.number().int().meta({ description: 'Counted from 1' }),
    at: isoTime('When it began'),
    milliseconds: z.number().int().meta({ description: 'How long it took' }),
    outcome: z.string().meta({
      description: '`answered`, or why there was no whole answer, such as `time-limit` or `no-connection`',
      example: 'answered',
    }),
    status: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'HTTP status of the answer; only 2xx counts as delivered' }),
    answer: z.string().meta({ description: 'The first kibibyte of the answer, as text' }),
  })
  .meta({ id: 'WebhookAttempt' });

export const attemptPageSchema = pageSchema(attemptSchema, 'WebhookAttemptPage');
export type AttemptJson = z.output<typeof attemptSchema>;
