/**
 * Client addresses: where a request comes from, and whether a key may be used from there. Everything here
 * fails closed: a text that is not plainly an address is none, and a list entry that cannot be read matches
 * nothing.
 */
import ipaddr from 'ipaddr.js';
import { isIP, isIPv4, isIPv6 } from 'node:net';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

const BRACKETED = /^\[([^\]]+)\](?::\d{1,5})?$/;
const WITH_PORT = /^([^:]+):\d{1,5}$/;
const MAPPED_PREFIX_BITS = 96;
/** What one customer of an IPv6 network usually holds. */
const IPV6_BUCKET_BITS = 64;

/**
 * An address in one spelling (IPv4-mapped IPv6 becomes IPv4), or undefined when the text is not an address.
 * No zone ids, octal or short forms.
 */
export function normaliseAddress(text: string): string | undefined {
  return parseAddress(text)?.toString();
}

function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/**
 * A socket's peer. A link-local one carries a zone id (`fe80::1%eth0`), which says something about us, not
 * about the peer.
 */
export function peerAddress(peer: string | undefined): string | undefined {
  return normaliseAddress(peer?.split('%', 1)[0] ?? '');
}

/** One element of X-Forwarded-For: an address, perhaps with a port (`1.2.3.4:80`, `[2001:db8::1]:80`). */
function parseForwardedElement(element: string): string | undefined {
  if (isIP(element) !== 0) return normaliseAddress(element);
  const inner = BRACKETED.exec(element)?.[1];
  if (inner !== undefined) return isIPv6(inner) ? normaliseAddress(inner) : undefined;
  const host = WITH_PORT.exec(element)?.[1];
  return host !== undefined && isIPv4(host) ? normaliseAddress(host) : undefined;
}

/**
 * A single address or a CIDR range; undefined when it is neither. Ranges inside ::ffff:0:0/96 become IPv4
 * ranges.
 */
export function parseRange(text: string): Range | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) {
    const address = parseAddress(text);
    return address && [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  const host = text.slice(0, slash);
  const bitsText = text.slice(slash + 1);
  if (isIP(host) === 0 || host.includes('%') || !/^\d{1,3}$/.test(bitsText)) return undefined;
  const bits = Number(bitsText);
  const address = ipaddr.parse(host);
  if (bits > (address.kind() === 'ipv4' ? 32 : 128)) return undefined;
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= MAPPED_PREFIX_BITS) {
    return [address.toIPv4Address(), bits - MAPPED_PREFIX_BITS];
  }
  return [address, bits];
}

/** At least so many bits: wider ranges are no list of places, but almost everybody. */
export const MIN_KEY_RANGE_BITS = { ipv4: 16, ipv6: 32 } as const;
const OWN_RANGES: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal']);

/** Whether a range lets in too many to protect a key. One's own machine or network may be wide. */
export function isTooWide(text: string): boolean {
  const range = parseRange(text);
  if (!range) return false;
  const [address, bits] = range;
  const isOwn = OWN_RANGES.has(address.range()) && bits >= 7;
  return !isOwn && bits < MIN_KEY_RANGE_BITS[address.kind()];
}

/**
 * Answers whether a normalised address lies in any of the ranges. Entries that cannot be read match nothing.
 */
export function compileRanges(entries: readonly string[]): (address: string) => boolean {
  const ranges = entries.map(parseRange).filter((range) => range !== undefined);
  return (text) => {
    const address = parseAddress(text);
    if (!address) return false;
    return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
  };
}

/**
 * The same for settings: throws RangeError on an entry that is neither address nor range, so that a typing
 * error shows at start.
 */
export function requireRanges(entries: readonly string[]): (address: string) => boolean {
  for (const entry of entries)
    if (!parseRange(entry)) throw new RangeError(`"${entry}" is no address and no CIDR range`);
  return compileRanges(entries);
}

/**
 * The client's address: the socket's peer, unless that is a trusted proxy; then the first address from the
 * right of X-Forwarded-For that is none (all trusted: the leftmost). Undefined when the header, as far as it
 * has to be read, is malformed.
 */
export function resolveClientAddress(
  peer: string,
  forwardedFor: string | undefined,
  isTrusted: (address: string) => boolean,
): string | undefined {
  let client = peerAddress(peer);
  if (client === undefined || !isTrusted(client) || forwardedFor === undefined) return client;
  for (const element of forwardedFor.split(',').reverse()) {
    client = parseForwardedElement(element.trim());
    if (client === undefined || !isTrusted(client)) return client;
  }
  return client;
}

/**
 * What requests without a key are counted by: the address, or for IPv6 its /64, which one customer can change
 * within at will.
 */
export function addressBucket(address: string): string {
  if (!address.includes(':')) return address;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${IPV6_BUCKET_BITS}`).toString()}/${IPV6_BUCKET_BITS}`;
}
