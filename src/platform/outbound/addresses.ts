/**
 * Which IP addresses belong to the public internet. Guarantee: fails closed; a text that is not plainly an address is not public, and
 * IPv6 counts only inside the range that is given out for global use. Pure.
 */
import ipaddr from 'ipaddr.js';
import { isIP, isIPv4, isIPv6 } from 'node:net';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** All that is given out of IPv6; NAT64, mapped, local and multicast addresses are outside of it (IANA, IPv6 Global Unicast). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** A public address that leads into the host it is asked from: Microsoft Azure's platform services. */
const AZURE_PLATFORM = '168.63.129.16';
/** An IPv6 address whose last half begins like this carries an IPv4 address for a tunnel (RFC 5214, ISATAP). */
const ISATAP_MARK = 0x5efe;
const ISATAP_BEFORE_MARK: readonly number[] = [0, 0x200];

/** An address in a spelling without doubt: no zone id, no octal, no short form. */
function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  return isIPv6(text) && !text.includes('%') ? ipaddr.IPv6.parse(text) : undefined;
}

/** Whether anybody on the internet may be reached there: not private, local, shared, reserved, documented, or a tunnel to such. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (!address || address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 ? text !== AZURE_PLATFORM : isGlobal(address);
}

function isGlobal(address: ipaddr.IPv6): boolean {
  const [, , , , beforeMark = 0, mark = 0] = address.parts;
  return address.match(GLOBAL_IPV6) && !(mark === ISATAP_MARK && ISATAP_BEFORE_MARK.includes(beforeMark));
}

/** Answers whether an address lies in any of these ranges or is one of these addresses. Throws TypeError for an entry that is neither. */
export function compileAllowed(entries: readonly string[]): (address: string) => boolean {
  const ranges = entries.map((entry) => {
    // Stryker disable next-line StringLiteral: every text has a first part
    const [host = '', bits, more] = entry.split('/');
    const whole = isIPv4(host) ? '32' : '128';
    const text = `${host}/${bits ?? whole}`;
    if (isIP(host) === 0 || host.includes('%') || more !== undefined || !ipaddr.isValidCIDR(text))
      throw new TypeError(`"${entry}" is no address and no range`);
    return ipaddr.parseCIDR(text);
  });
  return (text) => {
    const address = parseAddress(text);
    return ranges.some(
      ([base, bits]) => address !== undefined && base.kind() === address.kind() && address.match(base, bits),
    );
  };
}
