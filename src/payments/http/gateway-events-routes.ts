/** The payment gateway's events. The body stays unparsed: its signature is over the bytes. The gateway repeats events that were not answered with 200. */
import { z } from 'zod';
import { ENVIRONMENTS } from '../../domain/account.ts';
import { DomainError } from '../../domain/errors.ts';
import { toJson } from '../../platform/http/json.ts';
import { MAX_EVENT_BYTES } from '../../platform/http/limits.ts';
import { defineRoute, type BytesBody, type Route } from '../../platform/http/route.ts';

const RECEIVED = toJson({ received: true });

const EVENT: BytesBody = {
  kind: 'bytes',
  maxBytes: MAX_EVENT_BYTES,
  async admit(world, headers) {
    if (!(await world.mayBeGatewayEvent(headers))) throw notSigned();
  },
};

function notSigned(): DomainError {
  return new DomainError('UNAUTHORIZED', 'This is not signed by the payment gateway for this environment');
}

export const gatewayEventRoutes: readonly Route[] = ENVIRONMENTS.map((environment) =>
  defineRoute({
    method: 'POST',
    path: `/webhooks/paystack/${environment}`,
    key: 'vendor',
    world: environment,
    scope: undefined,
    shapes: ['general'],
    body: EVENT,
    errors: ['UNAUTHORIZED'],
    faultCode: 'SERVICE_UNAVAILABLE',
    responses: { 200: { description: 'Kept', schema: z.object({ received: z.literal(true) }) } },
    docs: undefined,
    async handle({ world, body }) {
      if ((await world.takeGatewayEvent(body.bytes, body.headers)) === 'kept')
        return { status: 200, body: RECEIVED };
      throw notSigned();
    },
  }),
);
