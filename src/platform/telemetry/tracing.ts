/**
 * Traces, as the rest of the program sees them: requests, runs of workflows, their steps and calls to vendors become spans of one trace. Types
 * only. Whoever is handed no Tracing traces nothing and pays nothing; open-telemetry.ts is loaded where somebody wants traces.
 */
export interface Tracing {
  /** Runs a request's handling as the root of a trace; what it starts belongs to it. */
  request(call: TracedRequest, work: () => Promise<RequestFacts>): Promise<void>;
  /** Runs a step under the run of the workflow that asked for it. */
  step<T>(step: TracedStep, work: () => Promise<T>): Promise<T>;
  /** A run of a workflow, told once it has ended. */
  workflowEnded(run: TracedRun): void;
  /** A call to a vendor by the code at hand; undefined where that is not traced. The answer ends it. */
  call(call: TracedCall): ((status: number | undefined) => void) | undefined;
  /** The span that the code at hand belongs to, in the words of W3C's `traceparent`; undefined where nothing is traced. */
  current(): string | undefined;
  /** Sends what is left. */
  stop(): Promise<void>;
}

export interface TracedRequest {
  readonly method: string;
  /** What the caller says it belongs to. Linked, never joined: strangers do not decide what is traced here. */
  readonly traceparent: string | undefined;
}

/** Known once it is answered. */
export interface RequestFacts {
  /** The route's template. */
  readonly route: string;
  readonly status: number;
  readonly ids: TracedIds;
}

export interface TracedIds {
  readonly requestId?: string | undefined;
  readonly transactionId?: string | undefined;
  readonly environment?: string | undefined;
}

export interface TracedStep {
  readonly name: string;
  readonly traceparent: string;
  readonly attempt: number;
  readonly ids: TracedIds;
}

export interface TracedRun {
  readonly workflowType: string;
  readonly workflowId: string;
  /** Where it was started from. */
  readonly traceparent: string;
  /** The span id under which its steps already refer to it. */
  readonly spanId: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: string;
  readonly ids: TracedIds;
}

export interface TracedCall {
  readonly vendor: string;
  readonly environment: string;
  readonly method: string;
}

export interface TracingOptions {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly share: number;
  /** Such as `simway-api`. */
  readonly serviceName: string;
  readonly version: string;
}
