/**
 * The events of payment gateways. The body stays unparsed: its signature is over the bytes. The gateway
 * repeats events that were not answered with 200.
 */
import { z } from 'zod';
import { ENVIRONMENTS } from '../../domain/account.ts';
import { DomainError } from '../../domain/errors.ts';
import { GATEWAY_NAMES, type GatewayName } from '../rules.ts';
import { toJson } from '../../platform/http/json.ts';
import { MAX_EVENT_BYTES } from '../../platform/http/limits.ts';
import { routesFor, type BytesBody, type Route } from '../../platform/http/route.ts';
import type { PaymentCases } from '../use-cases.ts';

const defineRoute = routesFor<PaymentCases>();
const RECEIVED = toJson({ received: true });

const eventOf = (gateway: GatewayName): BytesBody<PaymentCases> => ({
  kind: 'bytes',
  maxBytes: MAX_EVENT_BYTES,
  async admit(cases, headers) {
    if (!(await cases.mayBeGatewayEvent(gateway, headers))) throw notSigned();
  },
});

function notSigned(): DomainError {
  return new DomainError('UNAUTHORIZED', 'This is not signed by the payment gateway for this environment');
}

/** One path for each gateway and environment: `/webhooks/{gateway}/{environment}`. */
export const gatewayEventRoutes: readonly Route<PaymentCases>[] = GATEWAY_NAMES.flatMap((gateway) =>
  ENVIRONMENTS.map((environment) =>
    defineRoute({
      method: 'POST',
      path: `/webhooks/${gateway}/${environment}`,
      key: 'vendor',
      environment,
      scope: undefined,
      body: eventOf(gateway),
      errors: ['UNAUTHORIZED'],
      faultCode: 'SERVICE_UNAVAILABLE',
      responses: { 200: { description: 'Kept', schema: z.object({ received: z.literal(true) }) } },
      docs: undefined,
      async handle({ cases, body }) {
        if ((await cases.takeGatewayEvent(gateway, body.bytes, body.headers)) === 'kept')
          return { status: 200, body: RECEIVED };
        throw notSigned();
      },
    }),
  ),
);
