// The conformance suite of the Model Context Protocol, whole, for each version that is spoken. What it lists
// below needs what this server does not have; everything else must pass, and a line here that passes is an
// error of the suite's own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../support/http/api.ts';
import { keyOf } from '../support/http/shop.ts';

/** Tools of the suite's own example server. */
const EXAMPLE_TOOLS = [
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
];

/** We have tools only. */
const OTHER_CAPABILITIES = [
  'completion-complete',
  'resources-list',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
];

/** `scenario:check`, or a scenario of one check. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = {
  '2026-07-28': [
    ...EXAMPLE_TOOLS,
    ...OTHER_CAPABILITIES,
    // Tools of its example server that need input, a capability of the client, or log.
    'server-stateless:sep-2575-server-rejects-undeclared-capability',
    'server-stateless:sep-2575-missing-capability-http-400',
    'server-stateless:sep-2575-http-server-no-independent-requests-on-stream',
    'server-stateless:sep-2575-server-no-log-without-loglevel',
    'input-required-result-basic-elicitation',
    'input-required-result-basic-sampling',
    'input-required-result-basic-list-roots',
    'input-required-result-request-state',
    'input-required-result-multiple-input-requests',
    'input-required-result-multi-round',
    'input-required-result-non-tool-request',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'input-required-result-capability-check',
    'input-required-result-missing-input-response',
    'input-required-result-ignore-extra-params',
    // Nothing that can be listened to changes, so no stream is opened.
    'server-stateless:sep-2575-server-sends-subscription-ack',
    'server-stateless:sep-2575-server-tags-subscription-id',
    // Resources and prompts.
    'sep-2164-resource-not-found',
    'caching:sep-2549-prompts-list-caching-hints',
    'caching:sep-2549-resources-list-caching-hints',
    'caching:sep-2549-resources-templates-list-caching-hints',
  ],
  '2025-11-25': [
    ...EXAMPLE_TOOLS,
    ...OTHER_CAPABILITIES,
    // Streams of a session: there are no sessions.
    'server-sse-multiple-streams',
    'logging-set-level',
    'tools-call-with-logging',
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'resources-subscribe',
    'resources-unsubscribe',
  ],
};

const SUITE = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';

let api: TestApi;
const folder = mkdtempSync(join(tmpdir(), 'simway-mcp-'));
/** The suite sends no key. */
const withKey = createServer((asked, answered) => {
  const { method, url: path, headers } = asked;
  const onward = request(
    {
      host: '127.0.0.1',
      port: api.server.port,
      method,
      path,
      headers: { ...headers, 'x-api-key': keyOf('test', 'usd') },
    },
    (reply) => {
      answered.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answered);
    },
  );
  onward.on('error', () => answered.destroy());
  asked.pipe(onward);
});

beforeAll(async () => {
  api = await startApi();
  withKey.listen(0, '127.0.0.1');
  await once(withKey, 'listening');
});
afterAll(async () => {
  withKey.closeAllConnections();
  withKey.close();
  await api.close();
  rmSync(folder, { recursive: true });
});

async function runSuite(version: string): Promise<{ code: number | null; said: string }> {
  const expected = join(folder, `${version}.yml`);
  writeFileSync(expected, JSON.stringify({ server: WITHOUT[version] }));
  const url = `http://127.0.0.1:${(withKey.address() as AddressInfo).port}/mcp`;
  const given = ['--requirements', version, '--expected-failures', expected, '-o', folder];
  const suite = spawn(process.execPath, [SUITE, 'server', '--url', url, ...given]);
  let said = '';
  for (const stream of [suite.stdout, suite.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const [code] = (await once(suite, 'close')) as [number | null];
  return { code, said };
}

describe('The conformance suite', () => {
  it.each(Object.keys(WITHOUT))(
    'passes for %s, but for what needs other capabilities',
    async (version) => {
      const { code, said } = await runSuite(version);
      expect(code, said).toBe(0);
      for (const scenario of ['tools-list', 'dns-rebinding-protection'])
        expect(said).toMatch(new RegExp(`✓ ${scenario}: [1-9]\\d* passed, 0 failed`));
    },
    120_000,
  );
});
