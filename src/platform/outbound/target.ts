import { isIPv4 } from 'node:net';
import { compileAllowed, isPublicAddress } from './addresses.ts';

/**
 * Why a URL is refused. `spelling`: an address not in its plain form. `address`: it is, or resolves to, a
 * non-public address. `name`: not a full host name of the public internet. `unresolved`: the name has no
 * address now. `no-answer`: no web server answers.
 */
export type UrlRefusal =
  | 'not-a-url'
  | 'scheme'
  | 'credentials'
  | 'port'
  | 'spelling'
  | 'address'
  | 'name'
  | 'unresolved'
  | 'no-answer';

export interface UrlPolicy {
  /** True in live. */
  readonly httpsOnly: boolean;
  /**
   * The operator's addresses and ranges, on any port. Only URLs with an address in its plain form match,
   * never names.
   */
  readonly allowedRanges: readonly string[];
  /** For all other addresses. Default: 80 and 443. */
  readonly ports?: readonly number[];
}

export interface Rules {
  readonly httpsOnly: boolean;
  readonly isAllowed: (address: string) => boolean;
  readonly ports: readonly number[];
}

export interface Target {
  readonly url: URL;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
}

export interface Refused {
  readonly ok: false;
  readonly reason: UrlRefusal;
  /** For the person who gave the URL; says nothing about our network. */
  readonly detail: string;
}

/** Fits our columns and every HTTP server. */
const MAX_URL_LENGTH = 2_048;
/** Blanks, backslashes and invisible characters: parsers drop or replace them. */
const AMBIGUOUS = /[\s\\\p{C}]/u;
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
const AUTHORITY = /^https?:\/\/([^/?#]+)/i;
const HOST_AND_PORT = /^(\[[^\]]*\]|[^:]+)(?::\d{1,5})?$/;
/** At least two labels, so that no DNS search list completes it, and no dot at the end. */
const FULL_NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$/;
/** Never on the public internet: RFC 6761, 6762, 7686, 8375, 9476, and ICANN's private-use names. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|onion|alt|home\.arpa)$/;
const WEB_PORTS: readonly number[] = [80, 443];

/** Throws TypeError for an unreadable range: an operator's typing error must not open or close anything. */
export function compilePolicy({ httpsOnly, allowedRanges, ports = WEB_PORTS }: UrlPolicy): Rules {
  return { httpsOnly, isAllowed: compileAllowed(allowedRanges), ports };
}

/**
 * Checks the text of a URL; the addresses of its name are checked by `locate`. URLs that parsers read in
 * different ways are refused, so that the checked host is the host that is connected to.
 */
export function readTarget(
  text: string,
  rules: Rules,
): { readonly ok: true; readonly target: Target } | Refused {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (text.length > MAX_URL_LENGTH || AMBIGUOUS.test(text) || scheme === undefined)
    return refuse(
      'not-a-url',
      `must be a URL of at most ${MAX_URL_LENGTH} characters, without blanks or backslashes`,
    );
  if (scheme !== 'https' && (rules.httpsOnly || scheme !== 'http'))
    return refuse('scheme', `must begin with https://${rules.httpsOnly ? '' : ' or http://'}`);
  const authority = AUTHORITY.exec(text)?.[1] ?? '';
  if (authority.includes('@')) return refuse('credentials', 'must not contain a user name or a password');
  const written = HOST_AND_PORT.exec(authority)?.[1];
  const url = URL.parse(text);
  if (!url || written === undefined) return refuse('not-a-url', 'must be a URL with a host, and no zone id');
  const isAddress = url.hostname.startsWith('[') || isIPv4(url.hostname);
  const target: Target = {
    url,
    host: url.hostname.replaceAll(/[[\]]/g, ''),
    isAddress,
    port: url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port),
  };
  return (
    (isAddress ? checkAddress(target, written, rules) : checkName(target, written, rules)) ?? {
      ok: true,
      target,
    }
  );
}

function checkAddress({ url, host, port }: Target, written: string, rules: Rules): Refused | undefined {
  if (written.toLowerCase() !== url.hostname)
    return refuse(
      'spelling',
      'must write an address in its plain form, such as 203.0.113.7 or [2001:db8::7]',
    );
  if (rules.isAllowed(host)) return port === 0 ? refusePort(rules) : undefined;
  if (!isPublicAddress(host)) return refuse('address', 'must use a public address');
  return rules.ports.includes(port) ? undefined : refusePort(rules);
}

function checkName({ host, port }: Target, written: string, rules: Rules): Refused | undefined {
  if (written.includes('%')) return refuse('spelling', 'must not have percent signs in its host');
  if (!FULL_NAME.test(host) || LOCAL_NAME.test(host))
    return refuse('name', 'must use a public hostname; locally http://127.0.0.1:PORT');
  return rules.ports.includes(port) ? undefined : refusePort(rules);
}

function refusePort({ ports }: Rules): Refused {
  return refuse('port', `must use port ${ports.join(' or ')}`);
}

export function refuse(reason: UrlRefusal, detail: string): Refused {
  return { ok: false, reason, detail };
}
