// The settings for Temporal: nothing leaves this machine in clear unless that is allowed explicitly, and
// mistakes are named.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readMigrateSettings } from '../../src/app/config/config.ts';
import { makeCertificate } from './outbound.support.ts';
import { problemOf as problemOfSettings, read as readSettings } from './settings.support.ts';

const folder = mkdtempSync(join(tmpdir(), 'simway-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const { key, cert } = makeCertificate('temporal.example');
const keyText = key.export({ type: 'pkcs8', format: 'pem' }).toString();
const certFile = write('client.pem', cert);
const keyFile = write('client.key', keyText);
const otherKeyFile = write(
  'other.key',
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString(),
);
const apiKeyFile = write('api-key', 'a-key-of-temporal\n');
const noPem = write('notes.txt', 'sesame');
const absent = join(folder, 'absent.pem');

type Given = Readonly<Record<string, string>>;

const AWAY = { TEMPORAL_ADDRESS: 'temporal.example:7233' };
const read = (given: Given = {}) => readSettings({ ...AWAY, ...given }).secrets.temporal;
const problemOf = (given: Given): string => problemOfSettings({ ...AWAY, ...given });

describe('plaintext', () => {
  it.each(['127.0.0.1:7233', '127.8.9.1:7233', 'localhost:7233'])('needs no permission for %s', (address) => {
    expect(read({ TEMPORAL_ADDRESS: address }).tls).toBeUndefined();
  });

  it.each(['temporal:7233', '10.0.0.5:7233', 'localhost.example:7233', '128.0.0.1:7233'])(
    'is refused for %s until it is allowed',
    (address) => {
      const problem = problemOf({ TEMPORAL_ADDRESS: address });
      for (const name of [
        'TEMPORAL_ADDRESS',
        'SIMWAY_TEMPORAL_TLS=on',
        'SIMWAY_TEMPORAL_TLS_CA_FILE',
        'SIMWAY_TEMPORAL_TLS_CERT_FILE',
        'SIMWAY_TEMPORAL_TLS_KEY_FILE',
        'SIMWAY_TEMPORAL_API_KEY',
        'SIMWAY_TEMPORAL_TLS=off',
      ])
        expect(problem).toContain(name);
      expect(read({ TEMPORAL_ADDRESS: address, SIMWAY_TEMPORAL_TLS: 'off' }).tls).toBeUndefined();
    },
  );

  it('is refused in every command that reads an address', () => {
    const database = { DATABASE_URL: 'postgres://127.0.0.1/simway' };
    const env = { ...database, ...AWAY };
    expect(problemOfSettings(env, readMigrateSettings)).toContain('SIMWAY_TEMPORAL_TLS');
    expect(readMigrateSettings({ ...env, SIMWAY_TEMPORAL_TLS: 'on' }).temporal).toMatchObject({ tls: {} });
    expect(readMigrateSettings(database).temporal).toBeUndefined();
  });

  it.each([
    ['SIMWAY_TEMPORAL_TLS_CA_FILE', certFile],
    ['SIMWAY_TEMPORAL_TLS_SERVER_NAME', 'temporal.example'],
    ['SIMWAY_TEMPORAL_API_KEY', 'a-key-of-temporal'],
    ['SIMWAY_TEMPORAL_API_KEY_FILE', apiKeyFile],
  ])('cannot be combined with %s', (name, value) => {
    const problem = problemOf({ SIMWAY_TEMPORAL_TLS: 'off', [name]: value });
    expect(problem).toContain(name.replace('KEY_FILE', 'KEY'));
  });
});

describe('TLS', () => {
  it('takes a CA, a client certificate with its key, and a server name', () => {
    const { tls, apiKey } = read({
      SIMWAY_TEMPORAL_TLS_CA_FILE: certFile,
      SIMWAY_TEMPORAL_TLS_CERT_FILE: certFile,
      SIMWAY_TEMPORAL_TLS_KEY_FILE: keyFile,
      SIMWAY_TEMPORAL_TLS_SERVER_NAME: 'temporal.internal',
    });
    expect(tls).toEqual({
      serverNameOverride: 'temporal.internal',
      serverRootCACertificate: Buffer.from(cert),
      clientCertPair: { crt: Buffer.from(cert), key: Buffer.from(keyText) },
    });
    expect(apiKey).toBeUndefined();
  });

  it('is on, with the system’s authorities, when set or when an API key needs it', () => {
    expect(read({ SIMWAY_TEMPORAL_TLS: 'on' }).tls).toEqual({});
    expect(read({ TEMPORAL_ADDRESS: '127.0.0.1:7233', SIMWAY_TEMPORAL_TLS: 'on' }).tls).toEqual({});
    for (const [name, value] of [
      ['SIMWAY_TEMPORAL_API_KEY', 'a-key-of-temporal'],
      ['SIMWAY_TEMPORAL_API_KEY_FILE', apiKeyFile],
    ] as const)
      expect(read({ [name]: value })).toMatchObject({ tls: {}, apiKey: 'a-key-of-temporal' });
  });

  it.each([
    ['SIMWAY_TEMPORAL_TLS_CA_FILE', absent, {}],
    ['SIMWAY_TEMPORAL_TLS_CA_FILE', noPem, {}],
    ['SIMWAY_TEMPORAL_TLS_CA_FILE', folder, {}],
    ['SIMWAY_TEMPORAL_TLS_CERT_FILE', absent, { SIMWAY_TEMPORAL_TLS_KEY_FILE: keyFile }],
    ['SIMWAY_TEMPORAL_TLS_CERT_FILE', noPem, { SIMWAY_TEMPORAL_TLS_KEY_FILE: keyFile }],
    ['SIMWAY_TEMPORAL_TLS_KEY_FILE', absent, { SIMWAY_TEMPORAL_TLS_CERT_FILE: certFile }],
    ['SIMWAY_TEMPORAL_TLS_KEY_FILE', noPem, { SIMWAY_TEMPORAL_TLS_CERT_FILE: certFile }],
    ['SIMWAY_TEMPORAL_TLS_KEY_FILE', otherKeyFile, { SIMWAY_TEMPORAL_TLS_CERT_FILE: certFile }],
    ['SIMWAY_TEMPORAL_API_KEY_FILE', absent, {}],
    ['SIMWAY_TEMPORAL_API_KEY_FILE', certFile, {}],
  ] satisfies [string, string, Given][])('a wrong %s (%s) is named, and not shown', (name, file, more) => {
    const problem = problemOf({ [name]: file, ...more });
    expect(problem).toContain(`${name}: ${file} `);
    for (const held of ['sesame', 'BEGIN', keyText.split('\n')[1] ?? '']) expect(problem).not.toContain(held);
  });

  it('does not start with half of a client certificate, or with two API keys', () => {
    expect(problemOf({ SIMWAY_TEMPORAL_TLS_CERT_FILE: certFile })).toContain('SIMWAY_TEMPORAL_TLS_KEY_FILE');
    expect(problemOf({ SIMWAY_TEMPORAL_TLS_KEY_FILE: keyFile })).toContain('SIMWAY_TEMPORAL_TLS_CERT_FILE');
    const both = { SIMWAY_TEMPORAL_API_KEY: 'sesame', SIMWAY_TEMPORAL_API_KEY_FILE: apiKeyFile };
    expect(problemOf(both)).toContain('not both');
    expect(problemOf(both)).not.toContain('sesame');
  });
});

describe('the keys that encrypt payloads', () => {
  const codecKey = randomBytes(32).toString('hex');

  it('are off unless they are set', () => {
    const local = { TEMPORAL_ADDRESS: '127.0.0.1:7233' };
    expect(read(local).codecKeys).toEqual({ key: undefined, previousKeys: [] });
    const given = { SIMWAY_TEMPORAL_CODEC_KEY: codecKey, SIMWAY_TEMPORAL_CODEC_PREVIOUS_KEYS: codecKey };
    expect(read({ ...local, ...given }).codecKeys).toEqual({ key: codecKey, previousKeys: [codecKey] });
  });

  it.each(['SIMWAY_TEMPORAL_CODEC_KEY', 'SIMWAY_TEMPORAL_CODEC_PREVIOUS_KEYS'])(
    'are named when wrong, and not shown: %s',
    (name) => {
      const problem = problemOf({ TEMPORAL_ADDRESS: '127.0.0.1:7233', [name]: 'sesame' });
      expect(problem).toContain(name);
      expect(problem).toContain('64 hexadecimal digits');
      expect(problem).not.toContain('sesame');
    },
  );

  it('may be used by the UI at one origin', () => {
    const origin = (value: string) =>
      readSettings({ SIMWAY_TEMPORAL_UI_ORIGIN: value }).config.temporalUiOrigin;
    expect(origin('')).toBeUndefined();
    expect(origin('https://temporal.example/')).toBe('https://temporal.example');
    expect(() => origin('*')).toThrow('SIMWAY_TEMPORAL_UI_ORIGIN');
    expect(() => origin('javascript:1')).toThrow('SIMWAY_TEMPORAL_UI_ORIGIN');
  });
});

describe('names of packages as search attributes, which no key encrypts', () => {
  const KEY = { SIMWAY_TEMPORAL_TLS: 'on', SIMWAY_TEMPORAL_CODEC_KEY: 'ab'.repeat(32) };
  it.each([
    [{ SIMWAY_TEMPORAL_TLS: 'on' }, true],
    [KEY, false],
    [{ ...KEY, SIMWAY_TEMPORAL_TITLES: 'on' }, true],
    [{ SIMWAY_TEMPORAL_TLS: 'on', SIMWAY_TEMPORAL_TITLES: 'off' }, false],
  ])('with %j: %s', (given, shown) => {
    expect(read(given).showsTitles).toBe(shown);
  });
});
