/**
 * The log context of a step, from the headers of its workflow: every log line written while it runs carries
 * the ids, and it is a span of the workflow's trace where there is one. Also the other end: what the code at
 * hand is traced under goes along with every workflow it starts.
 */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { withSubject } from '../../platform/telemetry/subject.ts';
import type { Tracing } from '../../platform/telemetry/tracing.ts';
import {
  CONTEXT_HEADER,
  TRACE_HEADER,
  type LogContext,
  type TraceSinks,
} from '../../../workflows/contract.ts';

type Headers = Readonly<Record<string, Payload>>;

/** For the workers of one environment. */
export function contextPropagation(
  environment: string,
  tracing: Tracing | undefined,
): { readonly activity: ActivityInterceptorsFactory; readonly sinks: InjectedSinks<TraceSinks> } {
  return {
    activity: ({ info }) => {
      let logContext: LogContext = {};
      return {
        inbound: {
          execute: ({ args, headers }, next) => {
            logContext = (read(headers, CONTEXT_HEADER) as LogContext | undefined) ?? {};
            const work = () => withSubject({ ...logContext }, () => next({ args, headers }));
            const traceparent = read(headers, TRACE_HEADER) as string | undefined;
            if (!tracing || traceparent === undefined) return work();
            const { activityType: name, attempt } = info;
            return tracing.step({ name, traceparent, attempt, ids: { ...logContext, environment } }, work);
          },
        },
        outbound: { getLogAttributes: (attributes, next) => next({ ...attributes, ...logContext }) },
      };
    },
    sinks: {
      trace: {
        workflowEnded: {
          fn: ({ workflowType, workflowId }, { logContext: ids, ...run }) =>
            tracing?.workflowEnded({ ...run, workflowType, workflowId, ids: { ...ids, environment } }),
        },
      },
    },
  };
}

/** Hands the trace on to workflows that the code at hand starts. */
export function traceStarts(tracing: Tracing): WorkflowClientInterceptor {
  const handOn = (headers: Headers): Record<string, Payload> => {
    const traceparent = tracing.current();
    return traceparent === undefined
      ? headers
      : { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(traceparent) };
  };
  return {
    startWithDetails: (input, next) => next({ ...input, headers: handOn(input.headers) }),
    signalWithStart: (input, next) => next({ ...input, headers: handOn(input.headers) }),
    startUpdateWithStart: (input, next) =>
      next({ ...input, workflowStartHeaders: handOn(input.workflowStartHeaders) }),
  };
}

function read(headers: Headers, name: string): unknown {
  const payload = headers[name];
  return payload && defaultPayloadConverter.fromPayload(payload);
}
