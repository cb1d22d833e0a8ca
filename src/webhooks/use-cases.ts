import * as endpoints from './endpoints.ts';
import * as feed from './feed.ts';
import * as messages from './messages.ts';

/** All throw WEBHOOK_ENDPOINT_NOT_FOUND or WEBHOOK_MESSAGE_NOT_FOUND for an id of another account. */
export const webhookUseCases = { ...endpoints, ...feed, ...messages };
