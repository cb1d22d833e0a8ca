/** Puts the verbs about webhooks of one world together; nothing else happens here. */
import { getLowBalance, setLowBalance } from '../ledger/low-balance.ts';
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
import type { WebhookUseCases } from './use-cases.ts';
import type { WorldDeps } from '../platform/composition/world-deps.ts';

export function webhookVerbs(deps: WorldDeps): WebhookUseCases {
  return {
    createEndpoint: (principal, command) => createEndpoint(deps, principal, command),
    listEndpoints: (principal, query) => listEndpoints(deps, principal, query),
    getEndpoint: (principal, endpointId) => getEndpoint(deps, principal, endpointId),
    updateEndpoint: (principal, endpointId, change) => updateEndpoint(deps, principal, endpointId, change),
    deleteEndpoint: (principal, endpointId) => deleteEndpoint(deps, principal, endpointId),
    rotateEndpointSecret: (principal, endpointId, tag) =>
      rotateEndpointSecret(deps, principal, endpointId, tag),
    sendSample: (principal, endpointId, command) => sendSample(deps, principal, endpointId, command),
    recoverMessages: (principal, endpointId, command) =>
      recoverMessages(deps, principal, endpointId, command),
    listMessages: (principal, query) => listMessages(deps, principal, query),
    getMessage: (principal, messageId) => getMessage(deps, principal, messageId),
    listAttempts: (principal, messageId, query) => listAttempts(deps, principal, messageId, query),
    resendMessage: (principal, messageId, tag) => resendMessage(deps, principal, messageId, tag),
    getLowBalance: (principal) => getLowBalance(deps, principal),
    setLowBalance: (principal, thresholdMinor) => setLowBalance(deps, principal, thresholdMinor),
  };
}
