/**
 * The doors that vendors' servers call: the payment gateway's events, one path for each world. Their bytes go on unparsed, since a signature
 * is about bytes. Answers 200 only for what is kept: for anything else the gateway sends it again.
 */
import { z } from 'zod';
import { ENVIRONMENTS, type Environment } from '../../domain/account.ts';
import { DomainError } from '../../domain/errors.ts';
import { toJson } from '../../platform/http/json.ts';
import { MAX_EVENT_BYTES } from '../../platform/http/limits.ts';
import { defineRoute, type Route } from '../../platform/http/route.ts';

const RECEIVED = toJson({ received: true });

export function webhookRoutes(): Route[] {
  return ENVIRONMENTS.map(gatewayRoute);
}

function gatewayRoute(environment: Environment): Route {
  return defineRoute({
    method: 'POST',
    path: `/webhooks/paystack/${environment}`,
    key: 'vendor',
    world: environment,
    scope: undefined,
    shapes: ['general'],
    body: { kind: 'bytes', maxBytes: MAX_EVENT_BYTES },
    errors: ['UNAUTHORIZED'],
    faultCode: 'SERVICE_UNAVAILABLE',
    responses: { 200: { description: 'Kept', schema: z.object({ received: z.literal(true) }) } },
    docs: undefined,
    async handle({ world, body }) {
      const outcome = await world.takeGatewayEvent(body.bytes, body.headers);
      if (outcome === 'refused') {
        throw new DomainError(
          'UNAUTHORIZED',
          'This is not signed by the payment gateway for this environment',
        );
      }
      return { status: 200, body: RECEIVED };
    },
  });
}
