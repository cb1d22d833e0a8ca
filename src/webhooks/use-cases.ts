import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  rotateEndpointSecret,
  updateEndpoint,
} from './endpoints.ts';
import {
  getMessage,
  listAttempts,
  listMessages,
  recoverMessages,
  resendMessage,
  sendSample,
} from './messages.ts';

/** All throw WEBHOOK_ENDPOINT_NOT_FOUND or WEBHOOK_MESSAGE_NOT_FOUND for an id of another account. */
export const webhookUseCases = {
  createEndpoint,
  listEndpoints,
  getEndpoint,
  updateEndpoint,
  deleteEndpoint,
  rotateEndpointSecret,
  sendSample,
  recoverMessages,
  listMessages,
  getMessage,
  listAttempts,
  resendMessage,
};
