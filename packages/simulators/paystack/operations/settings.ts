/** The integration's settings: domains of Apple Pay, and how long a payment session lasts. */
import type { GatewayContext } from '../context.ts';
import { invalid, notFound, requiredText } from '../errors.ts';
import type { ApiRequest, Operations } from './operation.ts';

const DOMAIN = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;

function domainIn({ body }: ApiRequest): string {
  const name = requiredText(body, 'domainName').toLowerCase();
  if (!DOMAIN.test(name)) throw invalid('domainName must be a domain');
  return name;
}

/** Seconds from the moment a hosted page was opened until it closes; 0: never. */
export function sessionTimeoutS({ database }: GatewayContext): number {
  return Number(database.meta.read('sessionTimeoutS') ?? 0);
}

const timeoutData = (context: GatewayContext) => ({ payment_session_timeout: sessionTimeoutS(context) });

export const settings = {
  'apple-pay/register': (context, request) => {
    context.domains.put({ name: domainIn(request) });
    return { message: 'Domain successfully registered on Apple Pay' };
  },
  'apple-pay/list': (context) => ({
    message: 'Apple Pay registered domains retrieved',
    data: { domainNames: context.domains.list({}, { by: 'name' }).map(({ name }) => name) },
  }),
  'apple-pay/unregister': (context, request) => {
    if (context.domains.remove({ name: domainIn(request) }) === 0) throw notFound('Domain is not registered');
    return { message: 'Domain successfully unregistered on Apple Pay' };
  },
  'timeout/fetch': (context) => ({
    message: 'Payment session timeout retrieved',
    data: timeoutData(context),
  }),
  'timeout/update': (context, { body: { timeout } }) => {
    if (!Number.isSafeInteger(timeout) || (timeout as number) < 0 || (timeout as number) > 86_400) {
      throw invalid('timeout must be a whole number of seconds');
    }
    context.database.meta.write('sessionTimeoutS', String(timeout));
    return { message: 'Payment session timeout updated', data: timeoutData(context) };
  },
} satisfies Operations;
