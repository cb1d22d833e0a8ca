/** What was sent to an account's endpoints: every message, every attempt at it, and sending one again. */
import { isId } from '../../../domain/ids.ts';
import { toJson } from '../../../platform/http/json.ts';
import { presentPage } from '../../../platform/http/page.ts';
import { defineRoute, type PathParameter, type Route } from '../../../platform/http/route.ts';
import { presentAttempt, presentMessage, presentMessageDetail } from './present.ts';
import {
  attemptPageSchema,
  attemptsQuery,
  messageDetailSchema,
  messagePageSchema,
  messageSchema,
  messagesQuery,
} from './schema.ts';

const TAG = 'Webhooks';
const PATH = '/api/webhooks/messages';
const ONE = `${PATH}/{messageId}`;

const messageId: PathParameter = {
  description: 'The `id` of a message',
  example: 'msg-1b4e28ba2fa14d2e883f0016d3cca427',
  isPossible: (text) => isId('message', text),
  notFound: { code: 'WEBHOOK_MESSAGE_NOT_FOUND', message: 'Webhook message not found' },
};

/** What all routes about one message have in common. */
const ABOUT_ONE = { key: 'required', shapes: ['general'], params: { messageId } } as const;
const READING = { scope: 'read', errors: ['WEBHOOK_MESSAGE_NOT_FOUND'] } as const;

export function webhookMessageRoutes(): Route[] {
  return [listRoute(), readRoute(), attemptsRoute(), resendRoute()];
}

function listRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: PATH,
    key: 'required',
    scope: 'read',
    shapes: ['general'],
    query: messagesQuery,
    errors: [],
    responses: { 200: { description: 'One page, newest first', schema: messagePageSchema } },
    docs: {
      operationId: 'listWebhookMessages',
      tag: TAG,
      summary: 'List messages to your webhook endpoints',
      description: 'One page of the messages of this environment, filtered as asked.',
    },
    async handle({ world, principal, query }) {
      const { page, limit, ...filters } = query;
      const asked = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
      const found = await world.listMessages(principal, { page, limit, ...asked });
      return { status: 200, body: toJson(presentPage(found, presentMessage)) };
    },
  });
}

function readRoute(): Route {
  return defineRoute({
    ...ABOUT_ONE,
    ...READING,
    method: 'GET',
    path: ONE,
    responses: { 200: { description: 'The message', schema: messageDetailSchema } },
    docs: {
      operationId: 'getWebhookMessage',
      tag: TAG,
      summary: 'Read a message',
      description: 'How its delivery stands, and the body that is sent.',
    },
    async handle({ world, principal, params }) {
      const message = await world.getMessage(principal, params['messageId'] ?? '');
      return { status: 200, body: toJson(presentMessageDetail(message)) };
    },
  });
}

function attemptsRoute(): Route {
  return defineRoute({
    ...ABOUT_ONE,
    ...READING,
    method: 'GET',
    path: `${ONE}/attempts`,
    query: attemptsQuery,
    responses: { 200: { description: 'One page, oldest first', schema: attemptPageSchema } },
    docs: {
      operationId: 'listWebhookAttempts',
      tag: TAG,
      summary: 'List the attempts at a message',
      description: 'When each began, how long it took, and what your endpoint answered.',
    },
    async handle({ world, principal, params, query }) {
      const found = await world.listAttempts(principal, params['messageId'] ?? '', query);
      return { status: 200, body: toJson(presentPage(found, presentAttempt)) };
    },
  });
}

function resendRoute(): Route {
  return defineRoute({
    ...ABOUT_ONE,
    method: 'POST',
    path: `${ONE}/resend`,
    scope: 'purchase',
    errors: ['WEBHOOK_MESSAGE_NOT_FOUND', 'WEBHOOK_ENDPOINT_NOT_FOUND', 'WEBHOOK_ENDPOINT_DISABLED'],
    responses: { 200: { description: 'The message, on its way again', schema: messageSchema } },
    docs: {
      operationId: 'resendWebhookMessage',
      tag: TAG,
      summary: 'Send a message again',
      description:
        'At once and under the id that it had, whatever became of it before or is still to come; then on the whole schedule, ' +
        'from its beginning, if need be. A receiver ' +
        'that has taken it already knows it by its id.',
    },
    async handle({ world, principal, params, idempotency }) {
      const message = await world.resendMessage(principal, params['messageId'] ?? '', idempotency);
      return { status: 200, body: toJson(presentMessage(message)) };
    },
  });
}
