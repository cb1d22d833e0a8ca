import {
  CancellationScope,
  ContinueAsNew,
  defaultPayloadConverter,
  proxySinks,
  workflowInfo,
  type WorkflowExecuteInput,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import { CONTEXT_HEADER, TRACE_HEADER, type LogContext, type TraceSinks } from './contract.ts';
import { TRANSACTION_ID } from './search-attributes.ts';

type Headers = WorkflowExecuteInput['headers'];

/** Found by the SDK under this name when the workflows are bundled. */
export function interceptors(): WorkflowInterceptors {
  const { inbound = [], outbound = [] } = contextPropagation();
  return { inbound: [uncancellable, ...inbound], outbound };
}

/**
 * "Request cancellation" in the Temporal UI changes nothing: money may be held or on its way. Every workflow
 * runs in a scope that cannot be cancelled. So does every handler of a signal or an update: it would
 * otherwise run in the cancelled root scope.
 */
const uncancellable: WorkflowInboundCallsInterceptor = {
  execute: (input, next) => CancellationScope.nonCancellable(() => next(input)),
  handleSignal: (input, next) => CancellationScope.nonCancellable(() => next(input)),
  handleUpdate: (input, next) => CancellationScope.nonCancellable(() => next(input)),
};

/**
 * Passes request id, transaction id and trace from a workflow to all its steps, for their log lines. It
 * writes headers only and no commands, so histories of every release replay with it and without it.
 */
function contextPropagation(): WorkflowInterceptors {
  let logContext: LogContext = {};
  /** The same for every step, so written once. */
  let propagated: Headers = {};
  const { trace: traces } = proxySinks<TraceSinks>();
  const withHeaders = <T extends { readonly headers: Headers }>(input: T): T => ({
    ...input,
    headers: { ...input.headers, ...propagated },
  });
  return {
    inbound: [
      {
        execute: (input, next) => {
          const { runId, startTime, memo, typedSearchAttributes } = workflowInfo();
          const given = read(input.headers, CONTEXT_HEADER) as LogContext | undefined;
          logContext = {
            requestId: given?.requestId ?? (memo?.['requestId'] as string | undefined),
            transactionId: typedSearchAttributes.get(TRANSACTION_ID) ?? given?.transactionId,
          };
          propagated = { [CONTEXT_HEADER]: defaultPayloadConverter.toPayload(logContext) };
          const parent = read(input.headers, TRACE_HEADER) as string | undefined;
          if (parent === undefined) return next(input);
          propagated[TRACE_HEADER] = defaultPayloadConverter.toPayload(childOf(parent, runId));
          const ended = (outcome: string): void =>
            traces.workflowEnded({
              traceparent: parent,
              spanId: spanIdOf(runId),
              startedAtMs: startTime.getTime(),
              endedAtMs: Date.now(),
              outcome,
              logContext,
            });
          return next(input).then(
            (result) => {
              ended('completed');
              return result;
            },
            (error: unknown) => {
              ended(error instanceof ContinueAsNew ? 'continued' : 'failed');
              throw error;
            },
          );
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withHeaders(input)),
        scheduleLocalActivity: (input, next) => next(withHeaders(input)),
        startChildWorkflowExecution: (input, next) => next(withHeaders(input)),
        continueAsNew: (input, next) => next(withHeaders(input)),
        getLogAttributes: (attributes, next) => next({ ...attributes, ...logContext }),
      },
    ],
  };
}

function read(headers: Headers, name: string): unknown {
  const payload = headers[name];
  return payload && defaultPayloadConverter.fromPayload(payload);
}

/** The random half of the run id: unique, and the same in every replay. */
function spanIdOf(runId: string): string {
  return runId.replaceAll('-', '').slice(-16);
}

/** A child span in the same trace. */
function childOf(traceparent: string, runId: string): string {
  const [version, traceId, , flags] = traceparent.split('-');
  return [version, traceId, spanIdOf(runId), flags].join('-');
}
