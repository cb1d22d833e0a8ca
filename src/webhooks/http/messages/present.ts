/** Messages and attempts → the documented shapes. Pure. */
import type { z } from 'zod';
import type { AttemptView, MessageDetailView, MessageView } from '../../views.ts';
import type { Wire } from '../../../platform/http/json.ts';
import type { AttemptJson, messageDetailSchema, messageSchema } from './schema.ts';

export function presentMessage(view: MessageView): Wire<z.output<typeof messageSchema>> {
  return {
    id: view.id,
    endpointId: view.endpointId,
    event: view.event,
    transactionId: view.transactionId,
    status: view.status,
    attempts: view.attempts,
    nextAttemptAt: view.nextAttemptAt?.toISOString() ?? null,
    createdAt: view.createdAt.toISOString(),
    closedAt: view.closedAt?.toISOString() ?? null,
  };
}

export function presentMessageDetail(view: MessageDetailView): Wire<z.output<typeof messageDetailSchema>> {
  return { ...presentMessage(view), body: view.body };
}

export function presentAttempt(view: AttemptView): Wire<AttemptJson> {
  return {
    attempt: view.attempt,
    at: view.at.toISOString(),
    milliseconds: view.ms,
    outcome: view.outcome,
    status: view.status,
    answer: view.answerStart,
  };
}
