/**
 * Settings for every connection to Temporal: its address, TLS, an API key, and the keys that encrypt what it
 * keeps.
 */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { normaliseAddress, requireRanges } from '../../platform/client-addresses.ts';
import type { TemporalServer } from '../../platform/temporal/connect.ts';
import { ConfigError, encryptionKey, list, readNamed, text } from './fields.ts';

/** Variables of the environment. */
export const temporalSettings = {
  TEMPORAL_ADDRESS: z.string().regex(/^[^:]+:\d+$/),
  SIMWAY_TEMPORAL_TLS: z.enum(['on', 'off']).optional(),
  SIMWAY_TEMPORAL_TLS_CA_FILE: text,
  SIMWAY_TEMPORAL_TLS_CERT_FILE: text,
  SIMWAY_TEMPORAL_TLS_KEY_FILE: text,
  SIMWAY_TEMPORAL_TLS_SERVER_NAME: text,
  /** It goes into a header. */
  SIMWAY_TEMPORAL_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'takes one API key')
    .optional(),
  SIMWAY_TEMPORAL_CODEC_KEY: encryptionKey.optional(),
  SIMWAY_TEMPORAL_CODEC_PREVIOUS_KEYS: list.pipe(z.array(encryptionKey)),
  /** Search attributes are never encrypted. */
  SIMWAY_TEMPORAL_TITLES: z.enum(['on', 'off']).optional(),
  /** Where browsers reach the Temporal UI. */
  TEMPORAL_UI_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  SIMWAY_TEMPORAL_UI_ORIGIN: z
    .url({ protocol: /^https?$/ })
    .transform((url) => new URL(url).origin)
    .optional(),
};

type Settings = z.output<z.ZodObject<typeof temporalSettings>>;

const NEEDS_TLS = [
  'SIMWAY_TEMPORAL_TLS_CA_FILE',
  'SIMWAY_TEMPORAL_TLS_CERT_FILE',
  'SIMWAY_TEMPORAL_TLS_KEY_FILE',
  'SIMWAY_TEMPORAL_TLS_SERVER_NAME',
  'SIMWAY_TEMPORAL_API_KEY',
] as const;

/** Reads the files. Throws ConfigError with the names of variables and files, never what they hold. */
export function temporalOf(s: Settings): TemporalServer {
  return {
    address: s.TEMPORAL_ADDRESS,
    tls: tlsOf(s),
    apiKey: s.SIMWAY_TEMPORAL_API_KEY,
    codecKeys: {
      key: s.SIMWAY_TEMPORAL_CODEC_KEY,
      previousKeys: s.SIMWAY_TEMPORAL_CODEC_PREVIOUS_KEYS,
    },
    showsTitles: (s.SIMWAY_TEMPORAL_TITLES ?? (s.SIMWAY_TEMPORAL_CODEC_KEY ? 'off' : 'on')) === 'on',
  };
}

/** Undefined: plaintext. */
function tlsOf(s: Settings): TemporalServer['tls'] {
  const asking = NEEDS_TLS.filter((name) => s[name] !== undefined);
  if (s.SIMWAY_TEMPORAL_TLS === 'off') {
    if (asking.length > 0) refuse(`SIMWAY_TEMPORAL_TLS: is off, but ${asking.join(' and ')} need TLS`);
    return undefined;
  }
  if (s.SIMWAY_TEMPORAL_TLS === undefined && asking.length === 0) {
    if (!isLoopback(s.TEMPORAL_ADDRESS))
      refuse(
        'TEMPORAL_ADDRESS: is not on this machine, so it needs TLS: set SIMWAY_TEMPORAL_TLS=on, SIMWAY_TEMPORAL_TLS_CA_FILE, ' +
          'SIMWAY_TEMPORAL_TLS_CERT_FILE with SIMWAY_TEMPORAL_TLS_KEY_FILE, or SIMWAY_TEMPORAL_API_KEY; or SIMWAY_TEMPORAL_TLS=off ' +
          'for a network that only Simway and Temporal reach',
      );
    return undefined;
  }
  return {
    serverNameOverride: s.SIMWAY_TEMPORAL_TLS_SERVER_NAME,
    serverRootCACertificate: authoritiesOf(s.SIMWAY_TEMPORAL_TLS_CA_FILE),
    clientCertPair: clientCertificateOf(s),
  };
}

const isLoopbackAddress = requireRanges(['127.0.0.0/8', '::1']);

function isLoopback(hostAndPort: string): boolean {
  const host = hostAndPort.slice(0, hostAndPort.lastIndexOf(':'));
  return host === 'localhost' || isLoopbackAddress(normaliseAddress(host) ?? '');
}

function authoritiesOf(file: string | undefined): Buffer | undefined {
  if (file === undefined) return undefined;
  const name = 'SIMWAY_TEMPORAL_TLS_CA_FILE';
  const bytes = readNamed(name, file);
  certificatesIn(name, file, bytes);
  return bytes;
}

function clientCertificateOf(s: Settings) {
  const { SIMWAY_TEMPORAL_TLS_CERT_FILE: certFile, SIMWAY_TEMPORAL_TLS_KEY_FILE: keyFile } = s;
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined)
    return refuse('SIMWAY_TEMPORAL_TLS_CERT_FILE: is needed with SIMWAY_TEMPORAL_TLS_KEY_FILE');
  if (keyFile === undefined)
    return refuse('SIMWAY_TEMPORAL_TLS_KEY_FILE: is needed with SIMWAY_TEMPORAL_TLS_CERT_FILE');
  const crt = readNamed('SIMWAY_TEMPORAL_TLS_CERT_FILE', certFile);
  const key = readNamed('SIMWAY_TEMPORAL_TLS_KEY_FILE', keyFile);
  const [own] = certificatesIn('SIMWAY_TEMPORAL_TLS_CERT_FILE', certFile, crt);
  if (own?.checkPrivateKey(privateKeyIn('SIMWAY_TEMPORAL_TLS_KEY_FILE', keyFile, key)) !== true)
    refuse(`SIMWAY_TEMPORAL_TLS_KEY_FILE: ${keyFile} is not the key of the certificate in ${certFile}`);
  return { crt, key };
}

/** At least one. */
function certificatesIn(name: string, file: string, bytes: Buffer): X509Certificate[] {
  const blocks =
    bytes.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? [];
  try {
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block));
  } catch {
    // Refused below.
  }
  return refuse(`${name}: ${file} holds no certificate in PEM`);
}

function privateKeyIn(name: string, file: string, bytes: Buffer): KeyObject {
  try {
    return createPrivateKey(bytes);
  } catch {
    return refuse(`${name}: ${file} holds no private key in PEM, or one with a passphrase`);
  }
}

function refuse(problem: string): never {
  throw new ConfigError([problem]);
}
