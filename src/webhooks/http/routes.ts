import { isId } from '../../domain/ids.ts';
import { MAX_PREVIOUS_SECRETS } from '../rules.ts';
import { toJson } from '../../platform/http/json.ts';
import { presentPage } from '../../platform/http/page.ts';
import { routesFor, type PathParameter, type Route } from '../../platform/http/route.ts';
import {
  attemptPageSchema,
  createEndpointBody,
  deletedSchema,
  endpointPageSchema,
  endpointSchema,
  messageDetailSchema,
  messagePageSchema,
  messageSchema,
  messagesQuery,
  newEndpointSchema,
  pageQuery,
  presentAttempt,
  presentEndpoint,
  presentMessage,
  presentMessageDetail,
  presentNewSecret,
  recoverBody,
  recoveredSchema,
  sampleBody,
  updateEndpointBody,
} from './schema.ts';
import type { WebhookCases } from '../use-cases.ts';

const defineRoute = routesFor<WebhookCases>();

const TAG = 'Webhooks';
const ENDPOINTS = '/api/webhooks/endpoints';
const ENDPOINT = `${ENDPOINTS}/{endpointId}`;
const MESSAGES = '/api/webhooks/messages';
const MESSAGE = `${MESSAGES}/{messageId}`;

const endpointId: PathParameter = {
  description: 'The `id` of an endpoint',
  example: 'ep-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('endpoint', text),
  notFound: { code: 'WEBHOOK_ENDPOINT_NOT_FOUND', message: 'Webhook endpoint not found' },
};

const OWN = { key: 'required', shapes: ['general'] } as const;
const LISTING = { ...OWN, scope: 'read', method: 'GET', errors: [] } as const;
const ENDPOINT_ERRORS = ['WEBHOOK_ENDPOINT_NOT_FOUND'] as const;
const READING = { ...OWN, params: { endpointId }, scope: 'read', errors: ENDPOINT_ERRORS } as const;
const CHANGING = { ...READING, scope: 'purchase', memberPermission: 'webhooks' } as const;
const SENDING = {
  ...CHANGING,
  memberPermission: 'resend',
  errors: [...ENDPOINT_ERRORS, 'WEBHOOK_ENDPOINT_DISABLED'],
} as const;

const messageId: PathParameter = {
  description: 'The `id` of a message',
  example: 'msg-1b4e28ba2fa14d2e883f0016d3cca427',
  isPossible: (text) => isId('message', text),
  notFound: { code: 'WEBHOOK_MESSAGE_NOT_FOUND', message: 'Webhook message not found' },
};

const READING_MESSAGE = {
  ...OWN,
  params: { messageId },
  scope: 'read',
  errors: ['WEBHOOK_MESSAGE_NOT_FOUND'],
} as const;

const createEndpointRoute = defineRoute({
  ...OWN,
  method: 'POST',
  path: ENDPOINTS,
  scope: 'purchase',
  memberPermission: 'webhooks',
  body: createEndpointBody,
  errors: ['WEBHOOK_ENDPOINT_LIMIT'],
  responses: { 201: { description: 'The endpoint, with its secret', schema: newEndpointSchema } },
  docs: {
    operationId: 'createWebhookEndpoint',
    tag: TAG,
    summary: 'Add a webhook endpoint',
    description:
      'Messages about these events are sent there from now on, signed with `secret`, which is shown only here. Creating an ' +
      'endpoint sends nothing; send a sample to try it. A URL without a public address is refused with the reason.',
  },
  async handle({ cases, principal, body, idempotency }) {
    const made = await cases.createEndpoint(principal, { ...body, idempotency });
    return { status: 201, body: toJson(presentNewSecret(made)) };
  },
});

const listEndpointsRoute = defineRoute({
  ...LISTING,
  path: ENDPOINTS,
  query: pageQuery,
  responses: { 200: { description: 'One page, oldest first', schema: endpointPageSchema } },
  docs: {
    operationId: 'listWebhookEndpoints',
    tag: TAG,
    summary: 'List your webhook endpoints',
    description: 'Endpoints of this environment, including disabled ones. Secrets are not shown again.',
  },
  async handle({ cases, principal, query }) {
    const page = await cases.listEndpoints(principal, query);
    return { status: 200, body: toJson(presentPage(page, presentEndpoint)) };
  },
});

const endpointRoute = defineRoute({
  ...READING,
  method: 'GET',
  path: ENDPOINT,
  responses: { 200: { description: 'The endpoint', schema: endpointSchema } },
  docs: {
    operationId: 'getWebhookEndpoint',
    tag: TAG,
    summary: 'Read a webhook endpoint',
    description: 'Whether it is enabled, why not, and since when messages to it fail.',
  },
  async handle({ cases, principal, params }) {
    const endpoint = await cases.getEndpoint(principal, params['endpointId'] ?? '');
    return { status: 200, body: toJson(presentEndpoint(endpoint)) };
  },
});

const updateEndpointRoute = defineRoute({
  ...CHANGING,
  method: 'PATCH',
  path: ENDPOINT,
  body: updateEndpointBody,
  responses: { 200: { description: 'The changed endpoint', schema: endpointSchema } },
  docs: {
    operationId: 'updateWebhookEndpoint',
    tag: TAG,
    summary: 'Change a webhook endpoint',
    description:
      'Changes only the given fields. `enabled: true` also enables an endpoint that was disabled for failing; `recover` resends ' +
      'what failed meanwhile. Pending messages go to the new URL.',
  },
  async handle({ cases, principal, params, body }) {
    const endpoint = await cases.updateEndpoint(principal, params['endpointId'] ?? '', body);
    return { status: 200, body: toJson(presentEndpoint(endpoint)) };
  },
});

const deleteEndpointRoute = defineRoute({
  ...CHANGING,
  method: 'DELETE',
  path: ENDPOINT,
  responses: { 200: { description: 'Deleted', schema: deletedSchema } },
  docs: {
    operationId: 'deleteWebhookEndpoint',
    tag: TAG,
    summary: 'Delete a webhook endpoint',
    description: 'Its pending messages are not sent. Its messages and attempts can still be read.',
  },
  async handle({ cases, principal, params }) {
    const id = params['endpointId'] ?? '';
    await cases.deleteEndpoint(principal, id);
    return { status: 200, body: toJson({ id, deleted: true }) };
  },
});

const rotateSecretRoute = defineRoute({
  ...CHANGING,
  method: 'POST',
  path: `${ENDPOINT}/rotate-secret`,
  errors: [...CHANGING.errors, 'WEBHOOK_SECRET_LIMIT'],
  responses: { 200: { description: 'The endpoint, with its new secret', schema: newEndpointSchema } },
  docs: {
    operationId: 'rotateWebhookSecret',
    tag: TAG,
    summary: 'Change the secret of a webhook endpoint',
    description:
      'The previous secret also signs for 24 hours: every message carries a signature of each, so that receivers need not ' +
      `change at the same moment. The new one is shown only here. At most ${MAX_PREVIOUS_SECRETS} earlier ones sign at a time.`,
  },
  async handle({ cases, principal, params, idempotency }) {
    const made = await cases.rotateEndpointSecret(principal, params['endpointId'] ?? '', idempotency);
    return { status: 200, body: toJson(presentNewSecret(made)) };
  },
});

const sendSampleRoute = defineRoute({
  ...SENDING,
  method: 'POST',
  path: `${ENDPOINT}/sample`,
  body: sampleBody,
  responses: { 201: { description: 'The message, being sent', schema: messageSchema } },
  docs: {
    operationId: 'sendWebhookSample',
    tag: TAG,
    summary: 'Send a sample of an event',
    description:
      'A body of the real shape with invented ids, signed and delivered like any other message, also for an event that the ' +
      'endpoint does not ask for. Read the message and its attempts for the result.',
  },
  async handle({ cases, principal, params, body, idempotency }) {
    const command = { ...body, idempotency };
    const message = await cases.sendSample(principal, params['endpointId'] ?? '', command);
    return { status: 201, body: toJson(presentMessage(message)) };
  },
});

const recoverRoute = defineRoute({
  ...SENDING,
  method: 'POST',
  path: `${ENDPOINT}/recover`,
  body: recoverBody,
  responses: { 200: { description: 'How many messages are resent', schema: recoveredSchema } },
  docs: {
    operationId: 'recoverWebhookMessages',
    tag: TAG,
    summary: 'Resend the messages that failed in a time range',
    description:
      'Every failed message of this endpoint that was created in that range, once and with its own id. At most 14 days back. ' +
      'Samples are left out; pending messages keep their schedule.',
  },
  async handle({ cases, principal, params, body, idempotency }) {
    const command = { ...body, idempotency };
    const recovered = await cases.recoverMessages(principal, params['endpointId'] ?? '', command);
    return { status: 200, body: toJson({ recovered }) };
  },
});

const listMessagesRoute = defineRoute({
  ...LISTING,
  path: MESSAGES,
  query: messagesQuery,
  responses: { 200: { description: 'One page, newest first', schema: messagePageSchema } },
  docs: {
    operationId: 'listWebhookMessages',
    tag: TAG,
    summary: 'List messages to your webhook endpoints',
    description: 'One page of the messages of this environment, filtered.',
  },
  async handle({ cases, principal, query }) {
    const found = await cases.listMessages(principal, query);
    return { status: 200, body: toJson(presentPage(found, presentMessage)) };
  },
});

const messageRoute = defineRoute({
  ...READING_MESSAGE,
  method: 'GET',
  path: MESSAGE,
  responses: { 200: { description: 'The message', schema: messageDetailSchema } },
  docs: {
    operationId: 'getWebhookMessage',
    tag: TAG,
    summary: 'Read a message',
    description: 'The state of its delivery, and its body.',
  },
  async handle({ cases, principal, params }) {
    const message = await cases.getMessage(principal, params['messageId'] ?? '');
    return { status: 200, body: toJson(presentMessageDetail(message)) };
  },
});

const attemptsRoute = defineRoute({
  ...READING_MESSAGE,
  method: 'GET',
  path: `${MESSAGE}/attempts`,
  query: pageQuery,
  responses: { 200: { description: 'One page, oldest first', schema: attemptPageSchema } },
  docs: {
    operationId: 'listWebhookAttempts',
    tag: TAG,
    summary: 'List the attempts of a message',
    description: 'When each began, how long it took, and what your endpoint answered.',
  },
  async handle({ cases, principal, params, query }) {
    const found = await cases.listAttempts(principal, params['messageId'] ?? '', query);
    return { status: 200, body: toJson(presentPage(found, presentAttempt)) };
  },
});

const resendRoute = defineRoute({
  ...READING_MESSAGE,
  method: 'POST',
  path: `${MESSAGE}/resend`,
  scope: 'purchase',
  memberPermission: 'resend',
  errors: ['WEBHOOK_MESSAGE_NOT_FOUND', 'WEBHOOK_ENDPOINT_NOT_FOUND', 'WEBHOOK_ENDPOINT_DISABLED'],
  responses: { 200: { description: 'The message, being sent again', schema: messageSchema } },
  docs: {
    operationId: 'resendWebhookMessage',
    tag: TAG,
    summary: 'Send a message again',
    description:
      'At once, with its own id and in any status; if that fails, on a new schedule. A receiver that has it already ' +
      'recognises its id.',
  },
  async handle({ cases, principal, params, idempotency }) {
    const message = await cases.resendMessage(principal, params['messageId'] ?? '', idempotency);
    return { status: 200, body: toJson(presentMessage(message)) };
  },
});

export const webhookRoutes: readonly Route<WebhookCases>[] = [
  createEndpointRoute,
  listEndpointsRoute,
  endpointRoute,
  updateEndpointRoute,
  deleteEndpointRoute,
  rotateSecretRoute,
  sendSampleRoute,
  recoverRoute,
  listMessagesRoute,
  messageRoute,
  attemptsRoute,
  resendRoute,
];
