// One purchase as operators see it: a trace from the request through its workflow to every step and call, log
// lines that all have its ids, and no secret in either.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnsweringServer, type AnsweringServer } from '../support/vendors/answering-server.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { installOf } from '../support/vendors/install-data.ts';
import { atGateway, buyThroughGateway, untilStatus } from '../support/money/payments.ts';
import {
  data,
  mailOf,
  openBrowser,
  signedUp,
  signIn,
  tokenOf,
  totp,
  USER_PASSWORD,
} from '../support/people/dashboard.ts';
import { SIGN_IN_ENV } from '../support/people/people.ts';
import { givesAway } from '../support/world/secrets.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import {
  startTraceCollector,
  type CollectedSpan,
  type TraceCollector,
} from '../support/world/trace-collector.ts';
import { until } from '../support/time/until.ts';

const SERVER = 2;
const CLIENT = 3;
const CONSUMER = 5;
const COLLECTOR_KEY = 'the-collectors-own-key';
const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

let collector: TraceCollector;
let stack: Stack;
let folder: string;
let buyer: Buyer;
let bought: Answer;
let transactionId: string;
/** The secrets that may appear nowhere. */
const planted: string[] = [];
let merchant: AnsweringServer;

beforeAll(async () => {
  collector = await startTraceCollector();
  folder = await makeTestFolder();
  stack = await startStack({
    processes: 'own',
    logFolder: folder,
    timings: { pollFirstMs: 300 },
    env: {
      ...SIGN_IN_ENV,
      SIMWAY_LOG_LEVEL: 'debug',
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${COLLECTOR_KEY}`,
    },
  });
  buyer = await newBuyer(stack);
  merchant = await startAnsweringServer();
  merchant.answerWith((response) => response.writeHead(200).end());
  const endpoint = await stack.call('POST', '/api/webhooks/endpoints', {
    key: buyer.account.apiKey,
    body: { url: `${merchant.baseUrl}/hooks` },
  });
  const { secret } = endpoint.body as unknown as { secret: string };
  planted.push(secret, secret.replace('whsec_', ''));
  bought = await stack.call('POST', '/api/esim/buy', {
    key: buyer.account.apiKey,
    body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
    headers: { 'X-Request-Id': 'traced-1', traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` },
  });
  ({ transactionId } = bought.body);
});
afterAll(async () => {
  await stack.close();
  await collector.close();
  await merchant.close();
  await rm(folder, { recursive: true, force: true });
});

const spansOf = (id: string): readonly CollectedSpan[] =>
  collector.spans.filter(({ attributes }) => attributes['simway.transaction_id'] === id);

/** API and worker send theirs at different times. */
const untilSpans = (id: string, names: readonly string[]): Promise<readonly CollectedSpan[]> =>
  until(
    () => spansOf(id),
    (found) => names.every((name) => found.some((span) => span.name === name)),
    { what: `the spans of ${id}` },
  );

const only = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.filter((span) => span.name === name);
  // On a busy machine a run's end may be reported again, as the same span.
  const ids = new Set(found.map(({ spanId }) => spanId));
  expect([...ids], name).toHaveLength(1);
  return found[0]!;
};

/** The log lines of both processes about something. */
async function linesAbout(text: string): Promise<Record<string, unknown>[]> {
  const logs = await Promise.all(
    ['api.log', 'worker.log'].map((file) => readFile(join(folder, file), 'utf8')),
  );
  return logs
    .join('\n')
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(text))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the trace of a purchase from the wallet', () => {
  it('runs from the request through the workflow to its steps and the call to the supplier', async () => {
    expect(bought.status).toBe(201);
    const spans = await untilSpans(transactionId, [
      'POST /api/esim/buy',
      'purchase',
      'openPurchase',
      'tryDelivering',
    ]);
    const request = only(spans, 'POST /api/esim/buy');
    expect(request).toMatchObject({ kind: SERVER, parentSpanId: '', service: 'simway-api', statusCode: 0 });
    expect(request.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/api/esim/buy',
      'http.response.status_code': 201,
      'simway.request_id': 'traced-1',
      'simway.environment': 'test',
    });
    const run = only(spans, 'purchase');
    expect(run).toMatchObject({ kind: CONSUMER, service: 'simway-worker', parentSpanId: request.spanId });
    expect(run.attributes).toMatchObject({
      'simway.workflow_id': transactionId,
      'simway.outcome': 'completed',
    });
    for (const step of ['openPurchase', 'tryDelivering']) {
      const span = only(spans, step);
      expect(span, step).toMatchObject({
        kind: CONSUMER,
        service: 'simway-worker',
        parentSpanId: run.spanId,
      });
      expect(span.attributes).toMatchObject({ 'simway.request_id': 'traced-1', 'simway.attempt': 1 });
    }
    const calls = collector.spans.filter(
      (span) => span.kind === CLIENT && span.parentSpanId === only(spans, 'tryDelivering').spanId,
    );
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.every(({ name }) => name === 'POST supplier')).toBe(true);
    const traces = new Set([...spans, ...calls].map((span) => span.traceId));
    expect([...traces]).toEqual([request.traceId]);
    for (const span of spans) expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
  });

  it('is linked to the caller’s trace, and not part of it', () => {
    const request = only(spansOf(transactionId), 'POST /api/esim/buy');
    expect(request.traceId).not.toBe(CALLER.traceId);
    expect(request.links).toMatchObject([CALLER]);
  });

  it('continues with the gateway’s event, over everything that the payment leads to', async () => {
    const paid = await buyThroughGateway(stack, buyer.account, { headers: { 'X-Request-Id': 'traced-2' } });
    await atGateway(stack, paid.reference, 'pay');
    await untilStatus(stack, paid.transactionId, 'SUCCESS');
    const spans = await untilSpans(paid.transactionId, ['POST /api/esim/buy', 'purchase', 'checkPayment']);
    const { traceId } = only(spans, 'POST /api/esim/buy');
    const names = new Set(spans.filter((span) => span.traceId === traceId).map(({ name }) => name));
    expect([...names]).toEqual(expect.arrayContaining(['collectPayment', 'checkPayment', 'purchase']));
  });
});

describe('the log', () => {
  it('has the ids of the request and of the transaction on every line about a purchase, of either process', async () => {
    const lines = await until(
      () => linesAbout(transactionId),
      (found) =>
        ['request answered', 'purchase answered', 'purchase delivered'].every((message) =>
          found.some(({ msg }) => msg === message),
        ),
      { what: 'the lines of the purchase' },
    );
    for (const line of lines) expect(line).toMatchObject({ requestId: 'traced-1', transactionId });
    expect(lines.filter(({ msg }) => msg === 'purchase delivered')).toMatchObject([{ environment: 'test' }]);
  });

  it('has them on the line about the webhook, too', async () => {
    const [line] = await until(
      () => linesAbout('"webhook attempted"'),
      (found) => found.length > 0,
      { what: 'the line of the delivery' },
    );
    expect(line).toMatchObject({ requestId: 'traced-1', transactionId, outcome: 'delivered', status: 200 });
    expect(merchant.calls.map(({ path }) => path)).toContain('/hooks');
  });

  it('names the purchase on the line of a later read', async () => {
    const read = await buyer.read(`/api/esim/transactions/${transactionId}`);
    const requestId = read.headers.get('X-Request-Id') ?? '';
    const [line] = await until(
      () => linesAbout(requestId),
      (found) => found.length > 0,
      { what: 'the line of the read' },
    );
    expect(line).toMatchObject({ msg: 'request answered', transactionId, requestId });
  });
});

/** A user's secrets in the dashboard: password, cookies, links in mails, a second factor and a key. */
async function secretsOfAUser(): Promise<string[]> {
  const owner = await signedUp(stack);
  const { browser, email } = owner;
  const reset = await browser.call('POST', '/auth/password-resets', { body: { email } });
  const invited = await owner.ask('POST', '/account/invitations', {
    body: { email: 'colleague@merchant.example', role: 'SUPPORT' },
  });
  const factor = data<{ otpauthUri: string; recoveryCodes: string[] }>(
    await browser.call('POST', '/auth/me/second-factor', { body: { password: USER_PASSWORD } }),
  );
  const secret = new URL(factor.otpauthUri).searchParams.get('secret') ?? '';
  const body = { code: totp(secret) };
  expect((await browser.call('POST', '/auth/me/second-factor/confirm', { body })).status).toBe(200);
  await signIn(openBrowser(stack), email, 'a wrong one, typed by mistake');
  const made = await owner.ask('POST', '/account/keys', {
    body: {
      ...{ companyName: 'Ada Ltd', websiteUrl: merchant.baseUrl },
      ...{ allowedAddresses: ['127.0.0.1'], scopes: ['read'] },
    },
  });
  expect(made.status, made.text).toBe(201);
  return [
    ...[USER_PASSWORD, 'a wrong one, typed by mistake', secret, ...factor.recoveryCodes],
    ...[...browser.cookies.values()].map(decodeURIComponent),
    ...[reset, invited].map((answer) => tokenOf(mailOf(answer))),
    data<{ apiKey: string }>(made).apiKey,
  ];
}

describe('a secret', () => {
  it('is in no log line and no span', async () => {
    planted.push(...(await secretsOfAUser()));
    const { id } = await stack.owner
      .selectFrom('esims')
      .select('id')
      .where('transaction_id', '=', transactionId)
      .executeTakeFirstOrThrow();
    const esim = await installOf(stack, id);
    const transfer = await buyThroughGateway(stack, await stack.account({ currency: 'NGN' }), {
      method: 'BANK_TRANSFER',
    });
    const { accountNumber } = (
      transfer.answer.body as unknown as { bankAccounts: { accountNumber: string }[] }
    ).bankAccounts[0]!;
    planted.push(
      buyer.account.apiKey,
      stack.env['SIMWAY_ID_SECRET']!,
      stack.env['SIMWAY_SECRETS_KEY']!,
      stack.env['SIMWAY_TEST_SUPPLIER_ACCESS_CODE']!,
      stack.env['SIMWAY_TEST_GATEWAY_SECRET_KEY']!,
      COLLECTOR_KEY,
      accountNumber,
      // A self-hosted server may have no password.
      ...[new URL(stack.databaseUrl).password, ...Object.values(esim)].filter(
        (text): text is string => typeof text === 'string' && text !== '',
      ),
    );
    expect(planted.length).toBeGreaterThan(26);
    expect(planted.every((text) => text.length > 3)).toBe(true);
    const logs = (
      await Promise.all(['api.log', 'worker.log'].map((file) => readFile(join(folder, file), 'utf8')))
    ).join('\n');
    expect(logs).toContain(transactionId);
    expect(planted.filter((secret) => givesAway(logs, secret))).toEqual([]);
    const spans = JSON.stringify(collector.spans);
    expect(spans).toContain(transactionId);
    expect(planted.filter((secret) => givesAway(spans, secret))).toEqual([]);
    // The collector was given its own key, so a leak would have arrived.
    expect(collector.received()).toContain(COLLECTOR_KEY);
  });
});
