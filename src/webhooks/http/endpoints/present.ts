/** Endpoints → the documented shape. Pure; a secret goes out only where it was just made. */
import type { z } from 'zod';
import type { EndpointView, EndpointWithSecret } from '../../views.ts';
import type { Wire } from '../../../platform/http/json.ts';
import type { endpointSchema, newEndpointSchema } from './schema.ts';

export function presentEndpoint(view: EndpointView): Wire<z.output<typeof endpointSchema>> {
  return {
    id: view.id,
    url: view.url,
    events: view.events,
    enabled: view.enabled,
    disabledReason: view.disabledReason,
    failingSince: view.failingSince?.toISOString() ?? null,
    createdAt: view.createdAt.toISOString(),
    updatedAt: view.updatedAt.toISOString(),
  };
}

export function presentNewSecret(made: EndpointWithSecret): Wire<z.output<typeof newEndpointSchema>> {
  return { ...presentEndpoint(made.endpoint), secret: made.secret };
}
