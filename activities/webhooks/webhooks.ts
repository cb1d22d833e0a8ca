import { Context } from '@temporalio/activity';
import { completeBody } from '../../src/esims/message-bodies.ts';
import {
  keptAnswer,
  keptAnswerHeaders,
  keptRequestHeaders,
  nextAttempt,
  shouldDisable,
} from '../../src/webhooks/rules.ts';
import type { RequestOutcome } from '../../src/platform/outbound/request.ts';
import {
  leaseDelivery,
  failUnsent,
  postpone,
  recordAttempt,
  type AttemptMade,
  type Recorded,
  type Verdict,
  type WebhookDelivery,
} from '../../src/webhooks/store/deliveries.ts';
import type { DisablingReason } from '../../src/webhooks/store/endpoints.ts';
import { messagesOf, newPendingMessages } from '../../src/webhooks/store/messages.ts';
import { MAX_INLINE_ATTEMPTS, type DeliveryStep, type WebhookActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import { createEndpointLimiter, type Ending, type EndpointLimiter, type Permit } from './endpoint-limiter.ts';

const GONE = 410;

export function createWebhookActivities(deps: ActivityDeps): WebhookActivities {
  const limiter = createEndpointLimiter(deps.webhooks.limits);
  let inTasks = 0;
  return {
    attemptDelivery: (messageId, lease) =>
      withPermit(deps, limiter, { messageId, lease }, (delivery, permit) => attempt(deps, delivery, permit)),
    attemptInline: (messageId) =>
      withPermit(deps, limiter, { messageId }, async (delivery, permit) => {
        if (!permit.isQuick || inTasks >= MAX_INLINE_ATTEMPTS) {
          permit.release('unused');
          return { state: 'use-queue', lease: delivery.lease };
        }
        inTasks += 1;
        try {
          return await attempt(deps, delivery, permit);
        } finally {
          inTasks -= 1;
        }
      }),
  };
}

type Leased = WebhookDelivery & { readonly lease: string };

/** Leases the message and gets a permit for `act`, which must release it. */
async function withPermit<Step>(
  deps: ActivityDeps,
  limiter: EndpointLimiter,
  message: { readonly messageId: string; readonly lease?: string | undefined },
  act: (delivery: Leased, permit: Permit) => Promise<Step>,
): Promise<Step | DeliveryStep> {
  const delivery = await leaseDelivery(deps.db, message.messageId, message.lease);
  if (!delivery) return { state: 'closed', status: 'FORGOTTEN' };
  if (delivery.status !== 'PENDING') return { state: 'closed', status: delivery.status };
  const { endpoint, accountId, lease } = delivery;
  if (!endpoint.isOpen) {
    await failUnsent(deps.db, delivery.messageId);
    return { state: 'closed', status: 'FAILED' };
  }
  if (lease === null) return waiting(delivery.dueInMs, 'until the next attempt');
  const permit = limiter.acquire({
    endpointId: endpoint.id,
    accountId,
    isFailing: endpoint.failingSince !== null,
    random: deps.webhooks.random(),
  });
  if (permit.isGranted) return act({ ...delivery, lease }, permit);
  await postpone(deps.db, delivery, permit.waitMs);
  return waiting(permit.waitMs, 'until the endpoint limit allows another attempt');
}

async function attempt(deps: ActivityDeps, delivery: WebhookDelivery, permit: Permit): Promise<DeliveryStep> {
  let ending: Ending = 'unused';
  try {
    const sent = { ...delivery, body: await completeBody(deps, delivery.body) };
    ending = 'unanswered';
    const outcome = await send(deps, sent);
    if (outcome.outcome === 'answered') ending = 'answered';
    return await record(deps, sent, outcome);
  } finally {
    permit.release(ending);
  }
}

function send({ webhooks }: ActivityDeps, delivery: WebhookDelivery): Promise<RequestOutcome> {
  const { webhookId, endpoint, body } = delivery;
  const sending = webhooks.sender.send({
    url: endpoint.url,
    messageId: webhookId,
    body,
    secrets: endpoint.secretsSealed.map((sealed) => webhooks.secretBox.open(sealed, endpoint.id)),
  });
  // A stopping worker gives up an attempt that hangs; another worker repeats it.
  return Promise.race([sending, Context.current().cancelled]);
}

async function record(
  deps: ActivityDeps,
  delivery: WebhookDelivery,
  outcome: RequestOutcome,
): Promise<DeliveryStep> {
  const made = toAttempt(outcome, delivery, deps.clock.now());
  const pending = newPendingMessages();
  const reason = disablingReason(deps, delivery, outcome, made.endedAt);
  const recorded = await recordAttempt(
    deps.db,
    delivery,
    made,
    judge(deps, delivery, outcome, made.endedAt),
    reason && { reason, pending },
  );
  emitEvents(deps, delivery, made, recorded, reason);
  const messages = messagesOf(pending);
  const { verdict } = recorded;
  if (verdict.status !== 'PENDING') return { state: 'closed', status: verdict.status, ...messages };
  const why = `until attempt ${delivery.attemptsInSeries + 2}: ${resultOf(made)}`;
  return { ...waiting(verdict.waitMs, why), ...messages };
}

function isTaken(outcome: RequestOutcome): boolean {
  return outcome.outcome === 'answered' && outcome.status >= 200 && outcome.status < 300;
}

function judge(
  { webhooks }: ActivityDeps,
  { attemptsInSeries }: WebhookDelivery,
  outcome: RequestOutcome,
  endedAt: Date,
): Verdict {
  if (isTaken(outcome)) return { status: 'DELIVERED' };
  const nowMs = endedAt.getTime();
  const retryAfterMs = outcome.outcome === 'answered' ? outcome.retryAfterMs : undefined;
  const nextMs = nextAttempt(attemptsInSeries + 1, nowMs, webhooks.random(), retryAfterMs, webhooks.waitsMs);
  return nextMs === undefined ? { status: 'FAILED' } : { status: 'PENDING', waitMs: nextMs - nowMs };
}

function disablingReason(
  { webhooks }: ActivityDeps,
  { attemptsInSeries, endpoint }: WebhookDelivery,
  outcome: RequestOutcome,
  endedAt: Date,
): DisablingReason | undefined {
  if (isTaken(outcome)) return undefined;
  if (outcome.outcome === 'answered' && outcome.status === GONE) return 'GONE';
  if (endpoint.failingSince === null) return undefined;
  const failures = { failingSinceMs: endpoint.failingSince.getTime(), attempts: attemptsInSeries + 1 };
  return shouldDisable(failures, endedAt.getTime(), webhooks.failingLimitMs) ? 'FAILING' : undefined;
}

function toAttempt(outcome: RequestOutcome, { body, endpoint }: WebhookDelivery, endedAt: Date): AttemptMade {
  return {
    at: new Date(endedAt.getTime() - outcome.ms),
    endedAt,
    ms: outcome.ms,
    outcome: outcome.outcome === 'answered' ? 'answered' : outcome.reason,
    status: outcome.status ?? null,
    answerStart: keptAnswer(outcome.bodyStart, body),
    url: endpoint.url,
    requestHeaders: outcome.sentHeaders ? keptRequestHeaders(outcome.sentHeaders) : null,
    answerHeaders: outcome.answerHeaders ? keptAnswerHeaders(outcome.answerHeaders, body) : null,
  };
}

const resultOf = ({ outcome, status }: AttemptMade): string =>
  outcome === 'answered' ? `the last got status ${status}` : `the last ended as ${outcome}`;

function emitEvents(
  { events }: ActivityDeps,
  { messageId, accountId, endpoint, attempts }: WebhookDelivery,
  made: AttemptMade,
  { isNew, isDisabled, verdict }: Recorded,
  reason: DisablingReason | undefined,
): void {
  if (!isNew) return;
  events.webhookAttempted({
    messageId,
    endpointId: endpoint.id,
    attempt: attempts + 1,
    outcome: verdict.status === 'DELIVERED' ? 'delivered' : made.outcome,
    status: made.status,
    ms: made.ms,
  });
  if (isDisabled)
    events.webhookEndpointDisabled({ endpointId: endpoint.id, accountId, reason: reason ?? '' });
}

function waiting(waitMs: number, why: string): DeliveryStep {
  return { state: 'waiting', waitMs: Math.trunc(waitMs) + 1, why };
}
