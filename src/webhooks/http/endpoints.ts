/** Webhook endpoints of an account. */
import { z } from 'zod';
import { count, isoTime, text, namedObject } from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { changesBody, choiceField, idParameter, textField, timeField } from '../../platform/http/fields.ts';
import { MAX_URL_CHARACTERS } from '../../platform/http/limits.ts';
import { pageSchema, presentPage } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import { PURCHASE_EVENT_STATUSES } from '../event-rules.ts';
import { DEFAULT_EVENTS, PURCHASE_EVENT, WEBHOOK_EVENTS } from '../events.ts';
import { DISABLED_REASONS, MAX_PREVIOUS_SECRETS } from '../rules.ts';
import type { WebhookCases } from '../use-cases.ts';
import { events, messageSchema, pageQuery } from './messages.ts';

const routes = merchantRoutes<WebhookCases>('Webhooks', {
  endpointId: idParameter(
    'endpoint',
    'The `id` of an endpoint',
    'Webhook endpoint not found',
    'WEBHOOK_ENDPOINT_NOT_FOUND',
  ),
});

const eventField = (description: string) => choiceField(events, { description, example: PURCHASE_EVENT });

const urlField = textField({
  max: MAX_URL_CHARACTERS,
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
  .describe('The events to send');

const createEndpointBody = namedObject('CreateWebhookEndpointRequest', {
  url: urlField,
  events: eventsField.optional().describe(`The events to send; default: ${DEFAULT_EVENTS.join(', ')}`),
});

const updateEndpointBody = changesBody('UpdateWebhookEndpointRequest', {
  url: urlField.optional(),
  events: eventsField.optional(),
  enabled: z
    .boolean('must be true or false')
    .optional()
    .describe('false: nothing is sent until it is enabled again. true: also enables one that we disabled'),
});

const sampleBody = z
  .object({
    event: eventField('Which event to send a sample of'),
    status: choiceField(PURCHASE_EVENT_STATUSES, { description: `Of ${PURCHASE_EVENT}` }).optional(),
  })
  .refine((body) => body.status === undefined || body.event === PURCHASE_EVENT, {
    path: ['status'],
    message: `is only for ${PURCHASE_EVENT}`,
  })
  .meta({ id: 'WebhookSampleRequest' });

const recoverBody = namedObject('WebhookRecoverRequest', {
  from: timeField({ description: 'Failed messages created at this time or later; at most 14 days ago' }),
  to: timeField({ description: 'Created before this time; default: now' }).optional(),
});

const endpoint = {
  id: z.string().meta({ example: 'ep-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  url: z.string(),
  events: z.array(z.enum(events)),
  enabled: z.boolean(),
  disabledReason: z
    .enum(DISABLED_REASONS)
    .nullable()
    .describe('BY_OWNER: you did. GONE: it answered 410. FAILING: nothing but failures for 5 days.'),
  failingSince: isoTime('The first failure since the last success').nullable(),
  createdAt: isoTime('ISO 8601'),
  updatedAt: isoTime('ISO 8601'),
  createdBy: text(
    'Who made it, or the key that did: a member, or an operator; empty where nobody said',
    'ada@merchant.example',
  ),
};

const secret = text(
  'The signing secret of its messages (Standard Webhooks). Shown only in this answer: store it',
);

export const endpointSchema = namedObject('WebhookEndpoint', endpoint);
export const newEndpointSchema = namedObject('NewWebhookEndpoint', { ...endpoint, secret });

const deletedSchema = namedObject('DeletedWebhookEndpoint', { id: z.string(), deleted: z.literal(true) });

const recoveredSchema = namedObject('WebhookRecovery', { recovered: count('Resent messages') });

const ENDPOINTS = '/api/webhooks/endpoints';
const ENDPOINT = `${ENDPOINTS}/{endpointId}` as const;

const SENDING = { memberPermission: 'resend', errors: ['WEBHOOK_ENDPOINT_DISABLED'] } as const;

export const endpointRoutes: readonly Route<WebhookCases>[] = [
  routes.post(ENDPOINTS, {
    memberPermission: 'webhooks',
    body: createEndpointBody,
    errors: ['WEBHOOK_ENDPOINT_LIMIT'],
    answer: [201, 'The endpoint, with its secret', newEndpointSchema],
    operationId: 'createWebhookEndpoint',
    summary: 'Add a webhook endpoint',
    description:
      'Messages about these events are sent there from now on, signed with `secret`, which is shown only here. Creating an ' +
      'endpoint sends nothing; send a sample to try it. A URL without a public address is refused with the reason.',
    handle: ({ cases, principal, body, idempotency }) =>
      cases.createEndpoint(principal, { ...body, idempotency }),
  }),
  routes.get(ENDPOINTS, {
    query: pageQuery,
    answer: [200, 'One page, oldest first', pageSchema(endpointSchema, 'WebhookEndpointPage')],
    operationId: 'listWebhookEndpoints',
    summary: 'List your webhook endpoints',
    description: 'Endpoints of this environment, including disabled ones. Secrets are not shown again.',
    handle: async ({ cases, principal, query }) => presentPage(await cases.listEndpoints(principal, query)),
  }),
  routes.get(ENDPOINT, {
    answer: [200, 'The endpoint', endpointSchema],
    operationId: 'getWebhookEndpoint',
    summary: 'Read a webhook endpoint',
    description: 'Whether it is enabled, why not, and since when messages to it fail.',
    handle: ({ cases, principal, params }) => cases.getEndpoint(principal, params.endpointId),
  }),
  routes.patch(ENDPOINT, {
    memberPermission: 'webhooks',
    body: updateEndpointBody,
    answer: [200, 'The changed endpoint', endpointSchema],
    operationId: 'updateWebhookEndpoint',
    summary: 'Change a webhook endpoint',
    description:
      'Changes only the given fields. `enabled: true` also enables an endpoint that was disabled for failing; `recover` resends ' +
      'what failed meanwhile. Pending messages go to the new URL.',
    handle: ({ cases, principal, params, body }) => cases.updateEndpoint(principal, params.endpointId, body),
  }),
  routes.delete(ENDPOINT, {
    memberPermission: 'webhooks',
    answer: [200, 'Deleted', deletedSchema],
    operationId: 'deleteWebhookEndpoint',
    summary: 'Delete a webhook endpoint',
    description: 'Its pending messages are not sent. Its messages and attempts can still be read.',
    async handle({ cases, principal, params }) {
      await cases.deleteEndpoint(principal, params.endpointId);
      return { id: params.endpointId, deleted: true } as const;
    },
  }),
  routes.post(`${ENDPOINT}/rotate-secret`, {
    memberPermission: 'webhooks',
    errors: ['WEBHOOK_SECRET_LIMIT'],
    answer: [200, 'The endpoint, with its new secret', newEndpointSchema],
    operationId: 'rotateWebhookSecret',
    summary: 'Change the secret of a webhook endpoint',
    description:
      'The previous secret also signs for 24 hours: every message carries a signature of each, so that receivers need not ' +
      `change at the same moment. The new one is shown only here. At most ${MAX_PREVIOUS_SECRETS} earlier ones sign at a time.`,
    handle: ({ cases, principal, params, idempotency }) =>
      cases.rotateEndpointSecret(principal, params.endpointId, idempotency),
  }),
  routes.post(`${ENDPOINT}/sample`, {
    ...SENDING,
    body: sampleBody,
    answer: [201, 'The message, being sent', messageSchema],
    operationId: 'sendWebhookSample',
    summary: 'Send a sample of an event',
    description:
      'A body of the real shape with invented ids, signed and delivered like any other message, also for an event that the ' +
      'endpoint does not ask for. Read the message and its attempts for the result.',
    handle: ({ cases, principal, params, body, idempotency }) =>
      cases.sendSample(principal, params.endpointId, { ...body, idempotency }),
  }),
  routes.post(`${ENDPOINT}/recover`, {
    ...SENDING,
    body: recoverBody,
    answer: [200, 'How many messages are resent', recoveredSchema],
    operationId: 'recoverWebhookMessages',
    summary: 'Resend the messages that failed in a time range',
    description:
      'Every failed message of this endpoint that was created in that range, once and with its own id. At most 14 days back. ' +
      'Samples are left out; pending messages keep their schedule.',
    handle: async ({ cases, principal, params, body, idempotency }) => ({
      recovered: await cases.recoverMessages(principal, params.endpointId, { ...body, idempotency }),
    }),
  }),
];
