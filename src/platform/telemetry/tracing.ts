/**
 * Traces, as the rest of the program sees them: requests, runs of workflows, their steps and calls to vendors
 * become spans of one trace. Types only: open-telemetry.ts is loaded only where traces are configured.
 */
export interface Tracing {
  /**
   * Runs a request's handling as the root of a trace; what it starts belongs to it. The caller's
   * `traceparent` is linked, never joined.
   */
  request(
    call: { readonly method: string; readonly traceparent: string | undefined },
    work: () => Promise<{ readonly route: string; readonly status: number; readonly ids: TracedIds }>,
  ): Promise<void>;
  /** Runs a step under the workflow run that requested it. */
  step<T>(
    step: {
      readonly name: string;
      readonly traceparent: string;
      readonly attempt: number;
      readonly ids: TracedIds;
    },
    work: () => Promise<T>,
  ): Promise<T>;
  /** A run of a workflow, reported once it has ended. `spanId`: the one that its steps already refer to. */
  workflowEnded(run: {
    readonly workflowType: string;
    readonly workflowId: string;
    readonly traceparent: string;
    readonly spanId: string;
    readonly startedAtMs: number;
    readonly endedAtMs: number;
    readonly outcome: string;
    readonly ids: TracedIds;
  }): void;
  /**
   * A call to a vendor by the running code; undefined where that is not traced. The returned function ends
   * it.
   */
  call(call: {
    readonly vendor: string;
    readonly environment: string;
    readonly method: string;
  }): ((status: number | undefined) => void) | undefined;
  /** The span of the running code as W3C's `traceparent`; undefined where nothing is traced. */
  current(): string | undefined;
  /** Sends what is left. */
  stop(): Promise<void>;
}

export interface TracedIds {
  readonly requestId?: string | undefined;
  readonly transactionId?: string | undefined;
  readonly environment?: string | undefined;
}
