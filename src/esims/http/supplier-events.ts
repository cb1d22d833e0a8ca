/** The supplier's events. They are unsigned: they are kept, bounded, and then the supplier is asked. */
import { z } from 'zod';
import { ENVIRONMENTS, type Environment } from '../../domain/account.ts';
import { toJson } from '../../platform/http/json.ts';
import { MAX_SUPPLIER_EVENT_BYTES } from '../../platform/http/limits.ts';
import { routesFor, type BytesBody, type Route } from '../../platform/http/route.ts';
import { SUPPLIER_NAMES } from '../rules.ts';
import type { EsimCases } from '../use-cases.ts';

const defineRoute = routesFor<EsimCases>();
const RECEIVED = toJson({ received: true });

const EVENT: BytesBody<EsimCases> = {
  kind: 'bytes',
  maxBytes: MAX_SUPPLIER_EVENT_BYTES,
  admit: (cases, _headers, clientAddress) => cases.admitSupplierEvent(clientAddress),
};

/** Where a supplier sends the events of an environment. */
export const supplierEventsPath = (supplier: string, environment: Environment): string =>
  `/webhooks/${supplier}/${environment}`;

export const supplierEventRoutes: readonly Route<EsimCases>[] = SUPPLIER_NAMES.flatMap((supplier) =>
  ENVIRONMENTS.map((environment) =>
    defineRoute({
      method: 'POST',
      path: supplierEventsPath(supplier, environment),
      key: 'vendor',
      environment,
      scope: undefined,
      body: EVENT,
      errors: ['VALIDATION_ERROR', 'SERVICE_UNAVAILABLE'],
      faultCode: 'SERVICE_UNAVAILABLE',
      responses: { 200: { description: 'Kept', schema: z.object({ received: z.literal(true) }) } },
      docs: undefined,
      async handle({ cases, body }) {
        await cases.takeSupplierEvent(body.bytes, body.clientAddress);
        return { status: 200, body: RECEIVED };
      },
    }),
  ),
);
