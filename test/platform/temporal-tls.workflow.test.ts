// A Temporal that requires client certificates: all of Simway reaches it with them, and without them gets no
// access and sends nothing in clear.
import { writeFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { runApi } from '../../src/app/processes/api.ts';
import { runWorker } from '../../src/app/processes/worker.ts';
import type { ProcessContext } from '../../src/app/composition/context.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { connectClient, connectionOptions, requireConnection } from '../../src/platform/temporal/connect.ts';
import { EngineUnavailable } from '../../src/domain/outcome.ts';
import { newBuyer } from '../support/people/buyer.ts';
import { runHere } from '../support/world/commands.ts';
import { startStack } from '../support/world/stack.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { startTlsProxy } from '../support/world/tls-proxy.ts';
import { makeCertificate } from './outbound.support.ts';

const admitting = await startTlsProxy(inject('temporalAddress'));
const { proxy } = admitting;
/** Apart from the stack's own clients, which connect when they like. */
const refusing = await startTlsProxy(inject('temporalAddress'));
afterAll(() => Promise.all([proxy.close(), refusing.proxy.close()]));

function temporalAt({ proxy: { address }, files }: typeof admitting) {
  return {
    TEMPORAL_ADDRESS: address,
    SIMWAY_TEMPORAL_TLS_CA_FILE: files.authority,
    SIMWAY_TEMPORAL_TLS_CERT_FILE: files.clientCertificate,
    SIMWAY_TEMPORAL_TLS_KEY_FILE: files.clientKey,
  };
}

const stack = await startStack({
  env: temporalAt(admitting),
});
afterAll(() => stack.close());

describe('with a client certificate', () => {
  it('API and worker connect, and a purchase runs', async () => {
    const buyer = await newBuyer(stack);
    const { body } = await buyer.buy('SIM-OK');
    expect(body.status).toBe('SUCCESS');
    // The API's two clients and the worker's client and native connection; there is no other way to the
    // address.
    expect(proxy.admitted).toBeGreaterThanOrEqual(3);
    const before = proxy.admitted;
    const { code, stdout } = await runHere(['migrate'], { env: stack.env });
    const said = `namespace ${stack.namespace}: up to date`;
    expect([code, stdout]).toEqual([0, expect.stringContaining(said)]);
    expect(proxy.admitted).toBeGreaterThan(before);
  });
});

const NO_CERTIFICATE = { SIMWAY_TEMPORAL_TLS_CERT_FILE: '', SIMWAY_TEMPORAL_TLS_KEY_FILE: '' };

describe.each([
  ['without a client certificate', NO_CERTIFICATE, /^no connection to Temporal: .*certificate required/],
  [
    'with an authority that did not sign the server’s',
    { SIMWAY_TEMPORAL_TLS_CA_FILE: refusing.files.otherAuthority },
    /^no connection to Temporal: .*self-signed certificate/,
  ],
  ['in plaintext', { ...NO_CERTIFICATE, SIMWAY_TEMPORAL_TLS_CA_FILE: '' }, /^no connection to Temporal: ./],
])('%s', (_how, change, why) => {
  const contextOf = (processName: ProcessContext['processName']): ProcessContext => ({
    ...readConfig({
      ...stack.env,
      ...temporalAt(refusing),
      ...change,
      SIMWAY_HTTP_PORT: '0',
      SIMWAY_ADMIN_PORT: '0',
    }),
    logger: stack.context.logger,
    processName,
  });

  it('nothing is sent, and the API is not ready', async () => {
    const { secrets } = contextOf('command');
    const temporal = connectClient({ ...secrets.temporal, namespace: stack.namespace });
    await expect(requireConnection(temporal, 300)).rejects.toBeInstanceOf(EngineUnavailable);
    await temporal.close();
    const api = await runApi(contextOf('api'));
    const ready = await fetch(`${api.adminUrl}/readyz`);
    await api.stop();
    const { checks } = (await ready.json()) as { checks: { name: string; ok: boolean; detail?: string }[] };
    expect(ready.status).toBe(503);
    expect(checks.find(({ name }) => name === 'temporal test')).toEqual({
      name: 'temporal test',
      ok: false,
      detail: expect.stringMatching(why) as unknown,
    });
    expect(refusing.proxy.admitted).toBe(0);
  });

  it('a worker does not start, and says why', async () => {
    const starting = runWorker(contextOf('worker'), ['supplier']);
    await expect(starting).rejects.toBeInstanceOf(EngineUnavailable);
    await expect(starting).rejects.toThrow(`no connection to Temporal at ${refusing.proxy.address}: `);
  });
});

it('an API key is sent with every call of Temporal’s services, to a server of the configured name', async () => {
  const { key, cert } = makeCertificate('temporal.internal');
  const seen: (string | undefined)[] = [];
  // Refuses every call after recording the key.
  const server = createSecureServer({ cert, key: key.export({ type: 'pkcs8', format: 'pem' }) });
  server.on('stream', (stream, { ':path': path, authorization }) => {
    if (path?.startsWith('/temporal.')) seen.push(authorization);
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16', 'grpc-message': 'no' },
      { endStream: true },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = await makeTestFolder();
  const [authority, keyFile] = [join(folder, 'ca.pem'), join(folder, 'api-key')];
  await writeFile(authority, cert);
  await writeFile(keyFile, 'a-key-of-temporal\n');
  const { secrets } = readConfig({
    ...stack.env,
    ...NO_CERTIFICATE,
    TEMPORAL_ADDRESS: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    SIMWAY_TEMPORAL_TLS_CA_FILE: authority,
    SIMWAY_TEMPORAL_TLS_SERVER_NAME: 'temporal.internal',
    SIMWAY_TEMPORAL_API_KEY_FILE: keyFile,
  });
  const client = connectClient({ ...secrets.temporal, namespace: stack.namespace });
  await expect(client.check(2_000)).rejects.toThrow();
  const byClient = seen.splice(0);
  await client.close();
  await expect(NativeConnection.connect(connectionOptions(secrets.temporal))).rejects.toThrow();
  for (const keys of [byClient, seen]) expect(new Set(keys)).toEqual(new Set(['Bearer a-key-of-temporal']));
  await new Promise((resolve) => server.close(resolve));
});
