/** The integration's settings: domains of Apple Pay, and how long a payment session lasts. */
import type { GatewayContext } from '../context.ts';
import { invalid, notFound } from '../errors.ts';
import { requiredText } from '../params.ts';
import type { ApiRequest } from './operation.ts';

const DOMAIN = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;

function domainIn({ body }: ApiRequest): string {
  const name = requiredText(body, 'domainName').toLowerCase();
  if (!DOMAIN.test(name)) throw invalid('domainName must be a domain');
  return name;
}

/** `POST /apple-pay/domain`. */
export function registerDomain(context: GatewayContext, request: ApiRequest) {
  context.domains.put({ name: domainIn(request) });
  return { message: 'Domain successfully registered on Apple Pay' };
}

/** `GET /apple-pay/domain`. */
export function listDomains(context: GatewayContext) {
  return {
    message: 'Apple Pay registered domains retrieved',
    data: { domainNames: context.domains.list({}, { by: 'name' }).map(({ name }) => name) },
  };
}

/** `DELETE /apple-pay/domain`. */
export function unregisterDomain(context: GatewayContext, request: ApiRequest) {
  if (context.domains.remove({ name: domainIn(request) }) === 0) throw notFound('Domain is not registered');
  return { message: 'Domain successfully unregistered on Apple Pay' };
}

/** Seconds from the moment a hosted page was opened until it closes; 0: never. */
export function sessionTimeoutS({ database }: GatewayContext): number {
  return Number(database.meta.read('sessionTimeoutS') ?? 0);
}

/** `GET /integration/payment_session_timeout`. */
export function fetchTimeout(context: GatewayContext) {
  const data = { payment_session_timeout: sessionTimeoutS(context) };
  return { message: 'Payment session timeout retrieved', data };
}

/** `PUT /integration/payment_session_timeout`. */
export function updateTimeout(context: GatewayContext, { body }: ApiRequest) {
  const { timeout } = body;
  if (!Number.isSafeInteger(timeout) || (timeout as number) < 0 || (timeout as number) > 86_400) {
    throw invalid('timeout must be a whole number of seconds');
  }
  context.database.meta.write('sessionTimeoutS', String(timeout));
  return { ...fetchTimeout(context), message: 'Payment session timeout updated' };
}
