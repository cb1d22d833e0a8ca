import ipaddr from 'ipaddr.js';
import { isIP, isIPv4, isIPv6 } from 'node:net';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** IANA's IPv6 Global Unicast; NAT64, mapped, local and multicast addresses are outside of it. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Microsoft Azure's platform services: a public address that is served inside the calling host. */
const AZURE_PLATFORM = '168.63.129.16';
/**
 * An IPv6 address whose second half begins like this carries an IPv4 address for a tunnel (RFC 5214, ISATAP).
 */
const ISATAP_MARK = 0x5efe;
const ISATAP_BEFORE_MARK: readonly number[] = [0, 0x200];

/** Reads only the plain form: no zone id, no octal, no short form. */
function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  return isIPv6(text) && !text.includes('%') ? ipaddr.IPv6.parse(text) : undefined;
}

/**
 * False for private, local, shared, reserved and documentation addresses, tunnels to them, and any text that
 * is not plainly an address.
 */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (!address || address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 ? text !== AZURE_PLATFORM : isGlobal(address);
}

function isGlobal(address: ipaddr.IPv6): boolean {
  const [, , , , beforeMark = 0, mark = 0] = address.parts;
  return address.match(GLOBAL_IPV6) && !(mark === ISATAP_MARK && ISATAP_BEFORE_MARK.includes(beforeMark));
}

/**
 * Makes a test whether an address is in any of these addresses and ranges. Throws TypeError for an entry that
 * is neither.
 */
export function compileAllowed(entries: readonly string[]): (address: string) => boolean {
  const ranges = entries.map((entry) => {
    // Stryker disable next-line StringLiteral: split always gives a first part
    const [host = '', bits, more] = entry.split('/');
    const whole = isIPv4(host) ? '32' : '128';
    const text = `${host}/${bits ?? whole}`;
    if (isIP(host) === 0 || host.includes('%') || more !== undefined || !ipaddr.isValidCIDR(text))
      throw new TypeError(`"${entry}" is neither an address nor a range`);
    return ipaddr.parseCIDR(text);
  });
  return (text) => {
    const address = parseAddress(text);
    return ranges.some(
      ([base, bits]) => address !== undefined && base.kind() === address.kind() && address.match(base, bits),
    );
  };
}
