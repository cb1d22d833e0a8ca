// Observability, part by part: the subject of a log line, the operator's settings, spans with ids only, and
// that OpenTelemetry is not loaded unless traces are on.
import { globSync, readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { createMetrics } from '../../src/platform/telemetry/metrics.ts';
import { createOpenTelemetry } from '../../src/platform/telemetry/open-telemetry.ts';
import { currentRequestId, noteTransaction, withSubject } from '../../src/platform/telemetry/subject.ts';
import { startTraceCollector } from '../support/world/trace-collector.ts';
import { until } from '../support/time/until.ts';
import { problemOf, read } from './settings.support.ts';

describe('settings for traces', () => {
  it('are off by default', () => {
    const { config, secrets } = read();
    expect(config.tracing).toBeUndefined();
    expect(config.deployment).toBeUndefined();
    expect(config.admin).toEqual({ host: '127.0.0.1', apiPort: 3001, workerPort: 3002 });
    expect(secrets.tracingHeaders).toEqual({});
  });

  it('take a collector, its headers and a sampling ratio', () => {
    const { config, secrets } = read({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-tenant=me',
      SIMWAY_TRACE_SHARE: '0.25',
    });
    expect(config.tracing).toEqual({ endpoint: 'http://collector:4318', share: 0.25 });
    expect(secrets.tracingHeaders).toEqual({ authorization: 'Bearer abc', 'x-tenant': 'me' });
    expect(inspect(config, { depth: null })).not.toContain('abc');
  });

  it('take a build, with the name of its deployment', () => {
    const { config } = read({ SIMWAY_DEPLOYMENT_BUILD_ID: '1.4.0+3f2a' });
    expect(config.deployment).toEqual({ name: 'simway', buildId: '1.4.0+3f2a' });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'no pair'],
    ['SIMWAY_TRACE_SHARE', '1.5'],
    ['SIMWAY_DEPLOYMENT_BUILD_ID', 'a build'],
    ['SIMWAY_WORKER_ADMIN_PORT', '70000'],
  ])('refuse %s=%s, and name it without its value', (name, value) => {
    const problem = problemOf({ [name]: value });
    expect(problem).toContain(name);
    expect(problem).not.toContain(value);
  });
});

describe('the subject of a log line', () => {
  const written = (log: (logger: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] => {
    const lines: string[] = [];
    log(createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } }));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };

  it('is the request and, once known, the transaction, at any depth and time', async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
    await withSubject({ requestId: 'r-1' }, async () => {
      logger.info({}, 'before');
      await Promise.resolve();
      noteTransaction('txn-1');
      await new Promise((resolve) => setImmediate(resolve));
      logger.child({ part: 'x' }).info({ more: 1 }, 'after');
      expect(currentRequestId()).toBe('r-1');
    });
    logger.info({}, 'outside');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { msg: 'before', requestId: 'r-1' },
      { msg: 'after', requestId: 'r-1', transactionId: 'txn-1', part: 'x', more: 1 },
      { msg: 'outside' },
    ]);
    expect(lines[0]).not.toContain('transactionId');
    expect(lines[2]).not.toContain('requestId');
    expect(currentRequestId()).toBeUndefined();
  });

  it('is separate for two requests at the same time', async () => {
    const about = (requestId: string, transactionId: string) =>
      withSubject({ requestId }, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        noteTransaction(transactionId);
        await new Promise((resolve) => setImmediate(resolve));
        return written((logger) => logger.info({}, 'x'))[0];
      });
    expect(await Promise.all([about('r-1', 'txn-1'), about('r-2', 'txn-2')])).toMatchObject([
      { requestId: 'r-1', transactionId: 'txn-1' },
      { requestId: 'r-2', transactionId: 'txn-2' },
    ]);
  });

  it('is not hidden by a field without a value, of the line or its logger', () => {
    const [line] = withSubject({ requestId: 'r-1', transactionId: 'txn-1' }, () =>
      written((logger) => {
        logger.child({ requestId: undefined }).info({ transactionId: undefined }, 'x');
      }),
    );
    expect(line).toMatchObject({ requestId: 'r-1', transactionId: 'txn-1' });
  });

  it('is overridden by the line’s own fields, and redacted like them', () => {
    const key = `simway_live_${'A'.repeat(38)}`;
    const [line] = withSubject({ requestId: key }, () =>
      written((logger) => logger.info({ transactionId: 'its own' }, 'x')),
    );
    expect(line).toMatchObject({ transactionId: 'its own', requestId: '[redacted]' });
  });
});

describe('events', () => {
  it('are logged and counted; without metrics only logged', async () => {
    const lines: string[] = [];
    const record = (_fields: object, message: string): void => void lines.push(message);
    const log = { info: record, warn: record, error: record };
    const metrics = createMetrics({ processMetrics: false });
    const counted = createEvents(log, metrics.world('live'));
    const attempt = { messageId: 'm', endpointId: 'e', attempt: 1, status: null, ms: 1 };
    counted.purchaseFailed({ transactionId: 't', reason: 'PACKAGE_WITHDRAWN', detail: '' });
    counted.webhookAttempted({ ...attempt, outcome: 'timed-out' });
    createEvents(log).purchaseDelivered({ transactionId: 't' });
    expect(lines).toEqual(['purchase failed, money given back', 'webhook attempted', 'purchase delivered']);
    const text = await metrics.registry.metrics();
    expect(text).toContain(
      'simway_purchases_closed_total{environment="live",status="FAILED",reason="PACKAGE_WITHDRAWN"} 1',
    );
    expect(text).toContain('simway_webhook_attempts_total{environment="live",outcome="timed-out"} 1');
    expect(text).not.toContain('status="SUCCESS"');
  });
});

describe('traces', () => {
  it('contain ids and outcomes, never the text of an error, and redact what looks like a key', async () => {
    const collector = await startTraceCollector();
    const tracing = createOpenTelemetry({
      endpoint: collector.url,
      headers: {},
      share: 1,
      serviceName: 'a-test',
      version: '1',
    });
    const key = `simway_live_${'A'.repeat(38)}`;
    const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const failing = tracing.step(
      { name: 'step', traceparent: parent, attempt: 3, ids: { requestId: key } },
      () => Promise.reject(new RangeError(`the password is ${key}`)),
    );
    await expect(failing).rejects.toThrow(RangeError);
    await tracing.stop();
    const [span] = await until(
      () => collector.spans,
      (spans) => spans.length > 0,
    );
    expect(span).toMatchObject({
      traceId: parent.split('-')[1],
      parentSpanId: parent.split('-')[2],
      statusCode: 2,
    });
    expect(collector.received()).toContain('RangeError');
    expect(collector.received()).not.toContain(key);
    await collector.close();
  });

  it('follow the sampling ratio: none when it is zero', async () => {
    const collector = await startTraceCollector();
    const options = { endpoint: collector.url, headers: {}, serviceName: 'a-test', version: '1' };
    const none = createOpenTelemetry({ ...options, share: 0 });
    await none.request({ method: 'GET', traceparent: undefined }, () => {
      expect(none.current()).toBeUndefined();
      return Promise.resolve({ route: '/', status: 200, ids: {} });
    });
    await none.stop();
    expect(collector.spans).toEqual([]);
    await collector.close();
  });

  it('do not stop the service when the collector is down', async () => {
    const tracing = createOpenTelemetry({
      endpoint: 'http://127.0.0.1:1',
      headers: {},
      share: 1,
      serviceName: 'a-test',
      version: '1',
    });
    let calls = 0;
    const request = tracing.request({ method: 'GET', traceparent: 'nonsense' }, () => {
      calls += 1;
      return Promise.resolve({ route: '/', status: 200, ids: {} });
    });
    await expect(request).resolves.toBeUndefined();
    expect(calls).toBe(1);
    await expect(tracing.stop()).resolves.toBeUndefined();
  });

  it('are loaded by one file, and only if traces are on', () => {
    const files = globSync(['src/**/*.ts', 'workflows/**/*.ts', 'activities/**/*.ts']);
    const naming = (text: string) => files.filter((file) => readFileSync(file, 'utf8').includes(text));
    expect(naming("'@opentelemetry/")).toEqual(['src/platform/telemetry/open-telemetry.ts']);
    const loaders = naming('/open-telemetry.ts');
    const asked =
      /if \(!config\.tracing\) return undefined;\n\s+const \{ createOpenTelemetry \} = await import\('[./\w-]+\/open-telemetry\.ts'\);/;
    expect(loaders).toEqual(['src/app/processes/observing.ts']);
    expect(readFileSync('src/app/processes/observing.ts', 'utf8')).toMatch(asked);
  });
});
