/** Where an account wants to be told: making endpoints, changing them, their secrets, samples, and sending again what failed. */
import { isId } from '../../../domain/ids.ts';
import { MAX_PREVIOUS_SECRETS } from '../../rules.ts';
import { toJson } from '../../../platform/http/json.ts';
import { presentPage } from '../../../platform/http/page.ts';
import { defineRoute, type PathParameter, type Route } from '../../../platform/http/route.ts';
import { presentMessage } from '../messages/present.ts';
import { messageSchema } from '../messages/schema.ts';
import { presentEndpoint, presentNewSecret } from './present.ts';
import {
  createEndpointBody,
  deletedSchema,
  endpointPageSchema,
  endpointSchema,
  endpointsQuery,
  newEndpointSchema,
  recoverBody,
  recoveredSchema,
  sampleBody,
  updateEndpointBody,
} from './schema.ts';

const TAG = 'Webhooks';
const PATH = '/api/webhooks/endpoints';
const ONE = `${PATH}/{endpointId}`;

const endpointId: PathParameter = {
  description: 'The `id` of an endpoint',
  example: 'ep-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('endpoint', text),
  notFound: { code: 'WEBHOOK_ENDPOINT_NOT_FOUND', message: 'Webhook endpoint not found' },
};

/** What all routes about one endpoint have in common. */
const ABOUT_ONE = { key: 'required', shapes: ['general'], params: { endpointId } } as const;
const READING = { scope: 'read', errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'] } as const;
const CHANGING = { scope: 'purchase', errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'] } as const;
const SENDING = {
  scope: 'purchase',
  errors: ['WEBHOOK_ENDPOINT_NOT_FOUND', 'WEBHOOK_ENDPOINT_DISABLED'],
} as const;

export function webhookEndpointRoutes(): Route[] {
  return [
    createRoute(),
    listRoute(),
    readRoute(),
    updateRoute(),
    deleteRoute(),
    rotateRoute(),
    sampleRoute(),
    recoverRoute(),
  ];
}

function createRoute(): Route {
  return defineRoute({
    method: 'POST',
    path: PATH,
    key: 'required',
    scope: 'purchase',
    shapes: ['general'],
    body: createEndpointBody,
    errors: ['WEBHOOK_ENDPOINT_LIMIT'],
    responses: { 201: { description: 'The endpoint, with its secret', schema: newEndpointSchema } },
    docs: {
      operationId: 'createWebhookEndpoint',
      tag: TAG,
      summary: 'Add a webhook endpoint',
      description:
        'From now on messages about these events are posted there, signed with `secret`, which is shown this once. Nothing is ' +
        'sent for saving it: ask for a sample. A URL that leads to no public address is refused with the reason.',
    },
    async handle({ world, principal, body, idempotency }) {
      const { url, events } = body;
      const made = await world.createEndpoint(principal, {
        url,
        ...(events ? { events } : {}),
        ...(idempotency ? { idempotency } : {}),
      });
      return { status: 201, body: toJson(presentNewSecret(made)) };
    },
  });
}

function listRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: PATH,
    key: 'required',
    scope: 'read',
    shapes: ['general'],
    query: endpointsQuery,
    errors: [],
    responses: { 200: { description: 'One page, oldest first', schema: endpointPageSchema } },
    docs: {
      operationId: 'listWebhookEndpoints',
      tag: TAG,
      summary: 'List your webhook endpoints',
      description:
        'Endpoints of this environment, those that are disabled included. Secrets are not shown again.',
    },
    async handle({ world, principal, query }) {
      const page = await world.listEndpoints(principal, query);
      return { status: 200, body: toJson(presentPage(page, presentEndpoint)) };
    },
  });
}

function readRoute(): Route {
  return defineRoute({
    ...ABOUT_ONE,
    ...READING,
    method: 'GET',
    path: ONE,
    responses: { 200: { description: 'The endpoint', schema: endpointSchema } },
    docs: {
      operationId: 'getWebhookEndpoint',
      tag: TAG,
      summary: 'Read a webhook endpoint',
      description: 'Whether it is enabled, why not, and since when messages to it have failed.',
    },
    async handle({ world, principal, params }) {
      const endpoint = await world.getEndpoint(principal, params['endpointId'] ?? '');
      return { status: 200, body: toJson(presentEndpoint(endpoint)) };
    },
  });
}

function updateRoute(): Route {
  return defineRoute({
    ...ABOUT_ONE,
    ...CHANGING,
    method: 'PATCH',
    path: ONE,
    body: updateEndpointBody,
    responses: { 200: { description: 'The endpoint as it now is', schema: endpointSchema } },
    docs: {
      operationId: 'updateWebhookEndpoint',
      tag: TAG,
      summary: 'Change a webhook endpoint',
      description:
        'Changes what is given and leaves the rest. `enabled: true` also enables one that had been disabled for failing; what ' +
        'failed meanwhile is sent by `recover`. Messages that are on their way go to the new URL.',
    },
    async handle({ world, principal, params, body }) {
      const { url, events, enabled } = body;
      const endpoint = await world.updateEndpoint(principal, params['endpointId'] ?? '', {
        ...(url === undefined ? {} : { url }),
        ...(events ? { events } : {}),
        ...(enabled === undefined ? {} : { enabled }),
      });
      return { status: 200, body: toJson(presentEndpoint(endpoint)) };
    },
  });
}

function deleteRoute(): Route {
  return defineRoute({
    ...ABOUT_ONE,
    ...CHANGING,
    method: 'DELETE',
    path: ONE,
    responses: { 200: { description: 'It is gone', schema: deletedSchema } },
    docs: {
      operationId: 'deleteWebhookEndpoint',
      tag: TAG,
      summary: 'Delete a webhook endpoint',
      description:
        'What was still to be sent there is not sent any more. Its messages and attempts can still be read.',
    },
    async handle({ world, principal, params }) {
      const id = params['endpointId'] ?? '';
      await world.deleteEndpoint(principal, id);
      return { status: 200, body: toJson({ id, deleted: true }) };
    },
  });
}

function rotateRoute(): Route {
  return defineRoute({
    ...ABOUT_ONE,
    ...CHANGING,
    method: 'POST',
    path: `${ONE}/rotate-secret`,
    errors: [...CHANGING.errors, 'WEBHOOK_SECRET_LIMIT'],
    responses: { 200: { description: 'The endpoint, with its new secret', schema: newEndpointSchema } },
    docs: {
      operationId: 'rotateWebhookSecret',
      tag: TAG,
      summary: 'Change the secret of a webhook endpoint',
      description:
        'The secret before goes on signing for 24 hours: every message carries a signature of each, so that no receiver has to be ' +
        `changed at the same moment. The new one is shown this once. At most ${MAX_PREVIOUS_SECRETS} earlier ones sign at a time.`,
    },
    async handle({ world, principal, params, idempotency }) {
      const made = await world.rotateEndpointSecret(principal, params['endpointId'] ?? '', idempotency);
      return { status: 200, body: toJson(presentNewSecret(made)) };
    },
  });
}

function sampleRoute(): Route {
  return defineRoute({
    ...ABOUT_ONE,
    ...SENDING,
    method: 'POST',
    path: `${ONE}/sample`,
    body: sampleBody,
    responses: { 201: { description: 'The message, on its way', schema: messageSchema } },
    docs: {
      operationId: 'sendWebhookSample',
      tag: TAG,
      summary: 'Send a sample of an event',
      description:
        'A body of the real shape with made-up ids, signed and delivered as any other message, also of an event that the endpoint ' +
        'does not ask for. Read the message and its attempts for what came of it.',
    },
    async handle({ world, principal, params, body, idempotency }) {
      const { event, status } = body;
      const message = await world.sendSample(principal, params['endpointId'] ?? '', {
        event,
        ...(status === undefined ? {} : { status }),
        ...(idempotency ? { idempotency } : {}),
      });
      return { status: 201, body: toJson(presentMessage(message)) };
    },
  });
}

function recoverRoute(): Route {
  return defineRoute({
    ...ABOUT_ONE,
    ...SENDING,
    method: 'POST',
    path: `${ONE}/recover`,
    body: recoverBody,
    responses: { 200: { description: 'How many messages are sent again', schema: recoveredSchema } },
    docs: {
      operationId: 'recoverWebhookMessages',
      tag: TAG,
      summary: 'Send again what failed in a range of time',
      description:
        'Every message of this endpoint that failed for good and was written in that range, each once, under the id that it had. ' +
        'At most 14 days back. Samples are left out, and what is still being tried goes on as planned.',
    },
    async handle({ world, principal, params, body, idempotency }) {
      const { from, to } = body;
      const recovered = await world.recoverMessages(principal, params['endpointId'] ?? '', {
        from,
        ...(to === undefined ? {} : { to }),
        ...(idempotency ? { idempotency } : {}),
      });
      return { status: 200, body: toJson({ recovered }) };
    },
  });
}
