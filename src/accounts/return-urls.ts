/**
 * Where a shop's buyers may be sent back to: https addresses whose host is on the account's list. In the
 * sandbox also http on the developer's own machine.
 */
import type { Environment } from '../domain/account.ts';

/** Stands in a return address for the id of the purchase or funding. */
const ID_PLACEHOLDER = '{transactionId}';

const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/;
/** A public name, whose last part begins with a letter: an IP address tells a buyer nothing. */
const PUBLIC_HOST =
  /^(?=.{4,259}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9](?::\d{1,5})?$/;

/** The host as addresses are compared by it, or undefined where no buyer may be sent there. */
export function returnHostOf(text: string, environment: Environment): string | undefined {
  const url = URL.parse(`https://${text}/`);
  // Nothing but a host: no path, no user, no query.
  if (!url || url.href !== `https://${url.host}/`) return undefined;
  const { host } = url;
  const isAllowed = PUBLIC_HOST.test(host) || (environment === 'test' && LOCAL_HOST.test(host));
  return isAllowed ? host : undefined;
}

/** With the id in place. A text that is no address, has a user in it, or another scheme: undefined. */
export function parseReturnUrl(
  text: string,
  transactionId: string,
  environment: Environment,
): URL | undefined {
  const url = URL.parse(text.replaceAll(ID_PLACEHOLDER, transactionId));
  if (!url || url.username !== '' || url.password !== '') return undefined;
  const isLocal = environment === 'test' && url.protocol === 'http:' && LOCAL_HOST.test(url.host);
  return url.protocol === 'https:' || isLocal ? url : undefined;
}

/** The address as buyers are sent there; undefined: they must not be. */
export function allowedReturnUrl(
  text: string | null | undefined,
  {
    transactionId,
    environment,
    hosts,
  }: { readonly transactionId: string; readonly environment: Environment; readonly hosts: readonly string[] },
): string | undefined {
  const url = parseReturnUrl(text ?? '', transactionId, environment);
  return url && hosts.includes(url.host) ? url.href : undefined;
}
