/**
 * One attempt at a message. The row says whether it is due and what it was given, and is claimed for the attempt, so that nothing is sent
 * that cannot be recorded, nor twice at once; what became of it is recorded with what it means for message and endpoint. Sent and not
 * recorded, because the worker died in between, it is sent again under the same number once the claim is over: the receiver tells by the
 * id. Secrets and bodies are never logged, and never leave for a workflow.
 */
import { Context } from '@temporalio/activity';
import { isFailingForGood, nextAttempt } from '../../src/webhooks/rules.ts';
import type { RequestOutcome } from '../../src/platform/outbound/request.ts';
import {
  claimDelivery,
  closeUnsent,
  postpone,
  recordAttempt,
  type AttemptMade,
  type Recorded,
  type Verdict,
  type WebhookDelivery,
} from '../../src/webhooks/store/deliveries.ts';
import type { Disabling } from '../../src/webhooks/store/disabling.ts';
import { messagesOf, newPendingMessages } from '../../src/webhooks/store/messages.ts';
import { ATTEMPTS_IN_TASKS, type DeliveryStep, type WebhookActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import { createEndpointLimiter, type Ending, type EndpointLimiter, type Place } from './endpoint-limiter.ts';

const GONE = 410;

export function createWebhookActivities(deps: ActivityDeps): WebhookActivities {
  const lanes = createEndpointLimiter(deps.webhooks.limits);
  let inTasks = 0;
  return {
    attemptDelivery: (messageId, claim) =>
      attemptIfRoom(deps, lanes, { messageId, claim }, (delivery, place) => attempt(deps, delivery, place)),
    attemptInTask: (messageId) =>
      attemptIfRoom(deps, lanes, { messageId }, async (delivery, place) => {
        if (!place.isQuick || inTasks >= ATTEMPTS_IN_TASKS) {
          place.leave('unused');
          return { state: 'over-the-queue', claim: delivery.claim };
        }
        inTasks += 1;
        try {
          return await attempt(deps, delivery, place);
        } finally {
          inTasks -= 1;
        }
      }),
  };
}

type Claimed = WebhookDelivery & { readonly claim: string };

/** Whoever gets the place leaves it. */
async function attemptIfRoom<Step>(
  deps: ActivityDeps,
  lanes: EndpointLimiter,
  message: { readonly messageId: string; readonly claim?: string | undefined },
  withPlace: (delivery: Claimed, place: Place) => Promise<Step>,
): Promise<Step | DeliveryStep> {
  const delivery = await claimDelivery(deps.db, message.messageId, message.claim);
  if (!delivery) return { state: 'closed', status: 'FORGOTTEN' };
  if (delivery.status !== 'PENDING') return { state: 'closed', status: delivery.status };
  const { endpoint, accountId, claim } = delivery;
  if (!endpoint.isOpen) {
    await closeUnsent(deps.db, delivery.messageId);
    return { state: 'closed', status: 'FAILED' };
  }
  if (claim === null) return waiting(delivery.dueInMs, 'until the next attempt');
  const entered = lanes.enter({
    endpointId: endpoint.id,
    accountId,
    isFailing: endpoint.failingSince !== null,
    random: deps.webhooks.random(),
  });
  if (entered.hasRoom) return withPlace({ ...delivery, claim }, entered);
  await postpone(deps.db, delivery, entered.waitMs);
  return waiting(entered.waitMs, 'until the endpoint has room for another attempt');
}

async function attempt(deps: ActivityDeps, delivery: WebhookDelivery, place: Place): Promise<DeliveryStep> {
  let ending: Ending = 'unanswered';
  try {
    const outcome = await send(deps, delivery);
    if (outcome.outcome === 'answered') ending = 'answered';
    return await record(deps, delivery, outcome);
  } finally {
    place.leave(ending);
  }
}

function send({ webhooks }: ActivityDeps, delivery: WebhookDelivery): Promise<RequestOutcome> {
  const { messageId, endpoint } = delivery;
  const sending = webhooks.sender.send({
    url: endpoint.url,
    messageId,
    body: delivery.body,
    secrets: endpoint.secretsSealed.map((sealed) => webhooks.secretBox.open(sealed, endpoint.id)),
  });
  // A worker that has to stop gives up what hangs: another one sends it again.
  return Promise.race([sending, Context.current().cancelled]);
}

async function record(
  deps: ActivityDeps,
  delivery: WebhookDelivery,
  outcome: RequestOutcome,
): Promise<DeliveryStep> {
  const made = toAttempt(outcome, deps.clock.now());
  const written = newPendingMessages();
  const reason = disablingOf(deps, delivery, outcome, made.endedAt);
  const recorded = await recordAttempt(
    deps.db,
    delivery,
    made,
    judge(deps, delivery, outcome, made.endedAt),
    reason && { reason, written },
  );
  tellEvents(deps, delivery, made, recorded, reason);
  const messages = messagesOf(written);
  const { verdict } = recorded;
  if (verdict.status !== 'PENDING') return { state: 'closed', status: verdict.status, ...messages };
  const why = `until attempt ${delivery.attemptsInSeries + 2}: ${saidBy(made)}`;
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

/** Whether it shows that the endpoint is to be called no more, and why. */
function disablingOf(
  { webhooks }: ActivityDeps,
  { attemptsInSeries, endpoint }: WebhookDelivery,
  outcome: RequestOutcome,
  endedAt: Date,
): Disabling | undefined {
  if (isTaken(outcome)) return undefined;
  if (outcome.outcome === 'answered' && outcome.status === GONE) return 'GONE';
  if (endpoint.failingSince === null) return undefined;
  const failures = { failingSinceMs: endpoint.failingSince.getTime(), attempts: attemptsInSeries + 1 };
  return isFailingForGood(failures, endedAt.getTime(), webhooks.failingLimitMs) ? 'FAILING' : undefined;
}

function toAttempt(outcome: RequestOutcome, endedAt: Date): AttemptMade {
  return {
    at: new Date(endedAt.getTime() - outcome.ms),
    endedAt,
    ms: outcome.ms,
    outcome: outcome.outcome === 'answered' ? 'answered' : outcome.reason,
    status: outcome.status ?? null,
    answerStart: outcome.bodyStart,
  };
}

const saidBy = ({ outcome, status }: AttemptMade): string =>
  outcome === 'answered' ? `the last was answered ${status}` : `the last ended as ${outcome}`;

function tellEvents(
  { events }: ActivityDeps,
  { messageId, accountId, endpoint, attempts }: WebhookDelivery,
  made: AttemptMade,
  { isNew, isDisabled, verdict }: Recorded,
  reason: Disabling | undefined,
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
