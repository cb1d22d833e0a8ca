// A collector of traces: accepts OTLP as JSON over HTTP on loopback and keeps every span, and every byte
// unchanged.
import { startAnsweringServer } from '../vendors/answering-server.ts';

export type CollectedSpan = ReturnType<typeof spansOf>[number];

export type TraceCollector = Awaited<ReturnType<typeof startTraceCollector>>;

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
}

interface Wire {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

export async function startTraceCollector() {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const server = await startAnsweringServer();
  server.answerWith((response, { path, headers, body }) => {
    texts.push(JSON.stringify(headers), body);
    if (path === '/v1/traces') spans.push(...spansOf(JSON.parse(body) as Wire));
    response.setHeader('Content-Type', 'application/json').end('{}');
  });
  return {
    url: server.baseUrl,
    spans,
    /** Everything received, headers included. */
    received: () => texts.join('\n'),
    close: server.close,
  };
}

function spansOf({ resourceSpans }: Wire) {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        attributes: valuesOf(span.attributes),
        links: span.links ?? [],
        startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
        endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
        /** 2 is an error. */
        statusCode: span.status?.code ?? 0,
      })),
    );
  });
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
