/**
 * Tracing by OpenTelemetry, sent as OTLP over HTTP in batches in the background. A slow or missing collector
 * costs spans, never a request. Spans hold ids, templates and outcomes: no body, header, query or error text,
 * and anything that looks like a key is blanked.
 */
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type IdGenerator,
} from '@opentelemetry/sdk-trace';
import { redactText } from './redact.ts';
import type { TracedIds, Tracing } from './tracing.ts';

/** Short, so that an open purchase can be watched. */
const SEND_EVERY_MS = 2_000;
const SEND_WITHIN_MS = 5_000;
const FAULTS_FROM = 500;

interface TracingOptions {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly share: number;
  /** Such as `simway-api`. */
  readonly serviceName: string;
  readonly version: string;
}

/** The collector need not be running yet. */
export function createOpenTelemetry(options: TracingOptions): Tracing {
  const ids = createIds();
  const provider = createProvider(options, ids.generator);
  const contexts = new AsyncLocalStorageContextManager().enable();
  const spans: Spans = {
    tracer: provider.getTracer('simway', options.version),
    active: () => contexts.active(),
    within: (span, parent, work) => contexts.with(trace.setSpan(parent, span), work),
  };
  return {
    request: traceRequest(spans),
    step: traceStep(spans),
    workflowEnded: traceRun(spans, ids),
    call: traceCall(spans),
    current: () => {
      const span = trace.getSpan(spans.active());
      if (!span?.isRecording()) return undefined;
      const { traceId, spanId } = span.spanContext();
      return `00-${traceId}-${spanId}-01`;
    },
    stop: async () => {
      // Spans that cannot be sent are lost: nothing waits for a collector.
      await provider.shutdown().catch(() => undefined);
      contexts.disable();
    },
  };
}

interface Spans {
  readonly tracer: Tracer;
  readonly active: () => Context;
  readonly within: <T>(span: Span, parent: Context, work: () => T) => T;
}

const traceRequest =
  ({ tracer, within }: Spans): Tracing['request'] =>
  async ({ method, traceparent }, work) => {
    const caller = parse(traceparent);
    const links = caller ? [{ context: caller }] : [];
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER, links }, ROOT_CONTEXT);
    try {
      const { route, status, ids } = await within(span, ROOT_CONTEXT, work);
      span.updateName(`${method} ${route}`);
      span.setAttributes({
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        ...named(ids),
      });
      if (status >= FAULTS_FROM) span.setStatus({ code: SpanStatusCode.ERROR });
    } finally {
      span.end();
    }
  };

const traceStep =
  ({ tracer, within }: Spans): Tracing['step'] =>
  async ({ name, traceparent, attempt, ids }, work) => {
    const parent = under(traceparent);
    const attributes = { 'simway.attempt': attempt, ...named(ids) };
    const span = tracer.startSpan(name, { kind: SpanKind.CONSUMER, attributes }, parent);
    try {
      return await within(span, parent, work);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'thrown' });
      throw error;
    } finally {
      span.end();
    }
  };

const traceRun =
  ({ tracer }: Spans, ids: ReturnType<typeof createIds>): Tracing['workflowEnded'] =>
  (run) => {
    const { workflowType, workflowId, outcome, startedAtMs: startTime } = run;
    const attributes = { 'simway.workflow_id': workflowId, 'simway.outcome': outcome, ...named(run.ids) };
    ids.next(run.spanId);
    const options = { kind: SpanKind.CONSUMER, startTime, attributes };
    tracer.startSpan(workflowType, options, under(run.traceparent)).end(run.endedAtMs);
  };

const traceCall =
  ({ tracer, active }: Spans): Tracing['call'] =>
  ({ vendor, environment, method }) => {
    const parent = active();
    if (!trace.getSpan(parent)) return undefined;
    const attributes = { 'http.request.method': method, 'simway.environment': environment };
    const span = tracer.startSpan(`${method} ${vendor}`, { kind: SpanKind.CLIENT, attributes }, parent);
    return (status) => {
      if (status === undefined || status >= FAULTS_FROM) span.setStatus({ code: SpanStatusCode.ERROR });
      if (status !== undefined) span.setAttribute('http.response.status_code', status);
      span.end();
    };
  };

function createProvider(options: TracingOptions, idGenerator: IdGenerator): TracerProvider {
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint}/v1/traces`,
    headers: { ...options.headers },
    timeoutMillis: SEND_WITHIN_MS,
  });
  return new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.serviceName,
      'service.version': options.version,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.share) }),
    idGenerator,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: SEND_WITHIN_MS,
      }),
    ],
  });
}

/** Random ids, except for a workflow's span: its steps have referred to it already. */
function createIds() {
  const random = new RandomIdGenerator();
  let wanted: string | undefined;
  return {
    /** Sets the id of the span that starts next. */
    next: (spanId: string) => void (wanted = spanId),
    generator: {
      generateTraceId: () => random.generateTraceId(),
      generateSpanId: () => {
        const spanId = wanted ?? random.generateSpanId();
        wanted = undefined;
        return spanId;
      },
    },
  };
}

/** OpenTelemetry leaves out attributes that are undefined. */
const named = ({ requestId, transactionId, environment }: TracedIds) => ({
  'simway.request_id': requestId === undefined ? undefined : redactText(requestId),
  'simway.transaction_id': transactionId,
  'simway.environment': environment,
});

const TRACEPARENT = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/;

function parse(traceparent: string | undefined) {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags ?? '00', 16) & 1, isRemote: true };
}

function under(traceparent: string): Context {
  const parent = parse(traceparent);
  return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}
