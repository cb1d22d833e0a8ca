/** Webhook endpoints: what is asked for, and what they look like. */
import { z } from 'zod';
import { DISABLED_REASONS } from '../../views.ts';
import {
  DEFAULT_EVENTS,
  PURCHASE_EVENT,
  PURCHASE_EVENT_STATUSES,
  WEBHOOK_EVENTS,
  type WebhookEvent,
} from '../../rules.ts';
import { isoTime } from '../../../platform/http/answer-fields.ts';
import { choiceField, textField, timeField } from '../../../platform/http/fields.ts';
import { MAX_WEBHOOK_URL_CHARACTERS } from '../../../platform/http/limits.ts';
import { pageFields, pageSchema } from '../../../platform/http/page.ts';

/** One of the events there are. */
export function eventField(description: string) {
  return choiceField(WEBHOOK_EVENTS as readonly [WebhookEvent, ...WebhookEvent[]], {
    description,
    example: PURCHASE_EVENT,
  });
}

const urlField = textField({
  max: MAX_WEBHOOK_URL_CHARACTERS,
  description:
    'Where messages are posted: https, or http in the sandbox, on port 443 or 80 of a public address. Checked now, and ' +
    'again whenever a connection is made.',
  example: 'http://127.0.0.1:4000/hooks',
});

const eventsField = z
  .array(eventField('An event'), 'must be a list of events')
  .min(1, 'must name at least one event')
  .max(WEBHOOK_EVENTS.length, `must name at most ${WEBHOOK_EVENTS.length} events`)
  .transform((events) => WEBHOOK_EVENTS.filter((event) => events.includes(event)))
  .meta({ description: 'What to be told of' });

export const createEndpointBody = z
  .object({
    url: urlField,
    events: eventsField.optional().meta({
      description: `What to be told of; without it ${DEFAULT_EVENTS.join(', ')}`,
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
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
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
    from: timeField({ description: 'Failed messages written at this time or later; at most 14 days ago' }),
    to: timeField({ description: 'And before this one; without it until now' }).optional(),
  })
  .meta({ id: 'WebhookRecoverRequest' });

export const endpointsQuery = z.object(pageFields);

const endpoint = {
  id: z.string().meta({ example: 'ep-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  url: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS as readonly [WebhookEvent, ...WebhookEvent[]])),
  enabled: z.boolean(),
  disabledReason: z.enum(DISABLED_REASONS).nullable().meta({
    description: 'BY_OWNER: you did. GONE: it answered 410. FAILING: nothing but failures for 5 days.',
  }),
  failingSince: isoTime('The first failure since the last success').nullable(),
  createdAt: isoTime('ISO 8601'),
  updatedAt: isoTime('ISO 8601'),
};

const secret = z.string().meta({
  description: 'What its messages are signed with (Standard Webhooks). Shown in this answer only: keep it',
});

export const endpointSchema = z.object(endpoint).meta({ id: 'WebhookEndpoint' });
export const endpointPageSchema = pageSchema(endpointSchema, 'WebhookEndpointPage');
export const newEndpointSchema = z.object({ ...endpoint, secret }).meta({ id: 'NewWebhookEndpoint' });
export const deletedSchema = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedWebhookEndpoint' });
export const recoveredSchema = z
  .object({ recovered: z.number().int().meta({ description: 'Messages that are sent again' }) })
  .meta({ id: 'WebhookRecovery' });
