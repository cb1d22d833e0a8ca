/**
 * What a workflow is about, handed to all its steps: the request it began with, its transaction, and the trace it belongs to, if any. Steps put
 * it into their log lines. Only headers are written, never a command, so histories of every release replay with it and without it.
 */
import {
  ContinueAsNew,
  defaultPayloadConverter,
  proxySinks,
  workflowInfo,
  type WorkflowExecuteInput,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import { CONTEXT_HEADER, TRACE_HEADER, type LogContext, type TraceSinks } from './contract.ts';
import { TRANSACTION_ID } from './search-attributes.ts';

type Headers = WorkflowExecuteInput['headers'];

/** Found by the SDK under this name when the workflows are bundled. */
export function interceptors(): WorkflowInterceptors {
  let about: LogContext = {};
  /** The same for every step, so written once. */
  let handed: Headers = {};
  const { trace: traces } = proxySinks<TraceSinks>();
  const handOn = <T extends { readonly headers: Headers }>(input: T): T => ({
    ...input,
    headers: { ...input.headers, ...handed },
  });
  return {
    inbound: [
      {
        execute: (input, next) => {
          const { runId, startTime, memo, typedSearchAttributes } = workflowInfo();
          const given = read(input.headers, CONTEXT_HEADER) as LogContext | undefined;
          about = {
            requestId: given?.requestId ?? (memo?.['requestId'] as string | undefined),
            transactionId: typedSearchAttributes.get(TRANSACTION_ID) ?? given?.transactionId,
          };
          handed = { [CONTEXT_HEADER]: defaultPayloadConverter.toPayload(about) };
          const parent = read(input.headers, TRACE_HEADER) as string | undefined;
          if (parent === undefined) return next(input);
          handed[TRACE_HEADER] = defaultPayloadConverter.toPayload(below(parent, runId));
          const ended = (outcome: string): void =>
            traces.workflowEnded({
              traceparent: parent,
              spanId: spanIdOf(runId),
              startedAtMs: startTime.getTime(),
              endedAtMs: Date.now(),
              outcome,
              about,
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
        scheduleActivity: (input, next) => next(handOn(input)),
        scheduleLocalActivity: (input, next) => next(handOn(input)),
        startChildWorkflowExecution: (input, next) => next(handOn(input)),
        continueAsNew: (input, next) => next(handOn(input)),
        getLogAttributes: (attributes, next) => next({ ...attributes, ...about }),
      },
    ],
  };
}

function read(headers: Headers, name: string): unknown {
  const payload = headers[name];
  return payload && defaultPayloadConverter.fromPayload(payload);
}

/** The random half of the run's id: the same in every replay, and no other run's. */
function spanIdOf(runId: string): string {
  return runId.replaceAll('-', '').slice(-16);
}

/** The same trace, one level down. */
function below(traceparent: string, runId: string): string {
  const [version, traceId, , flags] = traceparent.split('-');
  return [version, traceId, spanIdOf(runId), flags].join('-');
}
