/** How Postgres is reached: TLS, and whether what goes over the wire can be read on the way. */
import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { isPublicAddress } from '../../platform/outbound/addresses.ts';
import { ConfigError, text, withPassword } from './fields.ts';

const MODES = ['off', 'require', 'verify'] as const;
type Mode = (typeof MODES)[number];

/** Variables of the environment. */
export const databaseSettings = {
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//),
  SIMWAY_DATABASE_PASSWORD: text,
  SIMWAY_DATABASE_TLS: z.enum(MODES).optional(),
  SIMWAY_DATABASE_CA_FILE: text,
};

type Settings = Omit<z.output<z.ZodObject<typeof databaseSettings>>, 'DATABASE_URL'>;

/**
 * What `sslmode` in the address means, by what Postgres' own programs do. The driver reads most of these
 * words differently, and will change that. `prefer` and `allow` continue in plain text with a server that
 * offers no TLS, or with an attacker in between who says so: they are refused.
 */
const MODE_OF: Readonly<Record<string, Mode>> = {
  disable: 'off',
  'no-verify': 'require',
  require: 'require',
  'verify-ca': 'verify',
  'verify-full': 'verify',
};

const CERTIFICATE_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** The same in words that the driver understands in one way only. */
const SSLMODE_OF: Readonly<Record<Mode, string>> = {
  off: 'disable',
  require: 'no-verify',
  verify: 'verify-full',
};

/**
 * The address with its password, and with its TLS settled: the setting and `sslmode` must agree where both
 * are given. The result, read again with the same settings, is the same. Throws ConfigError, which names no
 * address.
 */
export function settleTls(url: string, settings: Settings): string {
  const { SIMWAY_DATABASE_PASSWORD: password } = settings;
  const settled = parse(withPassword(url, 'SIMWAY_DATABASE_PASSWORD', password));
  const { searchParams } = settled;
  const ofUrl = modeOf(searchParams);
  const { SIMWAY_DATABASE_TLS: set, SIMWAY_DATABASE_CA_FILE: caFile } = settings;
  const mode = set ?? ofUrl ?? impliedMode(searchParams);
  if (ofUrl !== undefined && ofUrl !== mode)
    throw new ConfigError([`SIMWAY_DATABASE_TLS: is ${mode}, but sslmode in DATABASE_URL says ${ofUrl}`]);
  if (caFile !== undefined && mode !== 'verify')
    throw new ConfigError(['SIMWAY_DATABASE_CA_FILE: only has an effect with SIMWAY_DATABASE_TLS=verify']);
  // With these the driver reads sslmode differently again.
  for (const name of ['ssl', 'uselibpqcompat']) searchParams.delete(name);
  searchParams.set('sslmode', SSLMODE_OF[mode]);
  if (caFile !== undefined) searchParams.set('sslrootcert', caFile);
  requireReadable(searchParams, caFile);
  return settled.href;
}

/** What `sslmode` says. */
function modeOf(searchParams: URLSearchParams): Mode | undefined {
  const sslmode = searchParams.get('sslmode');
  if (sslmode === null) return undefined;
  const mode = MODE_OF[sslmode];
  if (mode === undefined)
    throw new ConfigError([`DATABASE_URL: sslmode must be one of ${Object.keys(MODE_OF).join(', ')}`]);
  return mode === 'require' && searchParams.has('sslrootcert') ? 'verify' : mode;
}

/** Where nothing says otherwise: a certificate, or `ssl=true`, has always meant a checked connection. */
function impliedMode(searchParams: URLSearchParams): Mode {
  const isChecked =
    ['true', '1'].includes(searchParams.get('ssl') ?? '') ||
    CERTIFICATE_FILES.some((name) => searchParams.has(name));
  return isChecked ? 'verify' : 'off';
}

function requireReadable(searchParams: URLSearchParams, caFile: string | undefined): void {
  for (const name of CERTIFICATE_FILES) {
    const file = searchParams.get(name);
    if (file === null) continue;
    try {
      accessSync(file, constants.R_OK);
    } catch {
      const where = caFile === file ? 'SIMWAY_DATABASE_CA_FILE' : `DATABASE_URL: ${name}`;
      throw new ConfigError([`${where}: this file cannot be read`]);
    }
  }
}

function parse(url: string): URL {
  try {
    return new URL(url);
  } catch {
    throw new ConfigError(['DATABASE_URL: is no address']);
  }
}

/** Names that only mean something inside a network, such as those of compose and Kubernetes. */
const PRIVATE_NAME = /^[^.]+$|(^|\.)(localhost|local|internal|lan|home\.arpa|svc|cluster\.local)$/i;

/**
 * Whether a settled address goes to a public host without TLS, so that passwords and personal data can be
 * read on the way.
 */
export function isReadableOnTheWay(settledUrl: string): boolean {
  const { hostname, searchParams } = parse(settledUrl);
  if (searchParams.get('sslmode') !== 'disable') return false;
  const host = (searchParams.get('host') ?? decodeURIComponent(hostname)).replace(/^\[(.*)\]$/, '$1');
  // No host, and a path: a socket of this machine.
  if (host === '' || host.startsWith('/')) return false;
  return isIP(host) === 0 ? !PRIVATE_NAME.test(host) : isPublicAddress(host);
}
