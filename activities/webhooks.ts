/**
 * One attempt at a message. The row says whether it is due and what it was given; what became of the attempt is recorded with what it means
 * for message and endpoint. Sent and not recorded, because the worker died in between, it is sent again under the same number: the receiver
 * tells by the id. Secrets and bodies are never logged, and never leave for a workflow.
 */
import { Context } from '@temporalio/activity';
import { isFailingForGood, nextAttempt } from '../src/domain/webhooks.ts';
import type { DeliveryOutcome } from '../src/ports/webhook-sender.ts';
import {
  closeUnsent,
  loadWebhookDelivery,
  postpone,
  recordAttempt,
  type AttemptMade,
  type Disabling,
  type Recorded,
  type Verdict,
  type WebhookDelivery,
} from '../src/store/webhook-deliveries.ts';
import { messagesOf, noMessages } from '../src/store/webhook-messages.ts';
import type { DeliveryStep, WebhookActivities } from '../workflows/contract.ts';
import type { ActivityDeps } from './deps.ts';
import { createLanes, type Lanes } from './webhook-lanes.ts';

const GONE = 410;

export function createWebhookActivities(deps: ActivityDeps): WebhookActivities {
  const lanes = createLanes(deps.webhooks.limits);
  return { attemptDelivery: (messageId) => attemptDelivery(deps, lanes, messageId) };
}

async function attemptDelivery(deps: ActivityDeps, lanes: Lanes, messageId: string): Promise<DeliveryStep> {
  const delivery = await loadWebhookDelivery(deps.db, messageId);
  if (!delivery) return { state: 'closed', status: 'FORGOTTEN' };
  if (delivery.status !== 'PENDING') return { state: 'closed', status: delivery.status };
  const { endpoint, dueInMs } = delivery;
  if (!endpoint.isOpen) {
    await closeUnsent(deps.db, messageId);
    return { state: 'closed', status: 'FAILED' };
  }
  if (dueInMs > 0) return waiting(dueInMs, 'until the next attempt');
  const entered = lanes.enter(endpoint.id, delivery.accountId, deps.webhooks.random());
  if (!entered.hasRoom) {
    await postpone(deps.db, delivery, entered.waitMs);
    return waiting(entered.waitMs, 'until the endpoint has room for another attempt');
  }
  try {
    return await attempt(deps, delivery);
  } finally {
    entered.leave();
  }
}

async function attempt(deps: ActivityDeps, delivery: WebhookDelivery): Promise<DeliveryStep> {
  const { messageId, endpoint } = delivery;
  const sending = deps.webhooks.sender.send({
    url: endpoint.url,
    messageId,
    body: delivery.body,
    secrets: endpoint.secretsSealed.map((sealed) => deps.webhooks.secretBox.open(sealed, endpoint.id)),
  });
  // A worker that has to stop gives up what hangs: another one sends it again.
  const outcome = await Promise.race([sending, Context.current().cancelled]);
  const made = toAttempt(outcome, deps.clock.now());
  const written = noMessages();
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

function isTaken(outcome: DeliveryOutcome): boolean {
  return outcome.outcome === 'answered' && outcome.status >= 200 && outcome.status < 300;
}

function judge(
  { webhooks }: ActivityDeps,
  { attemptsInSeries }: WebhookDelivery,
  outcome: DeliveryOutcome,
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
  outcome: DeliveryOutcome,
  endedAt: Date,
): Disabling | undefined {
  if (isTaken(outcome)) return undefined;
  if (outcome.outcome === 'answered' && outcome.status === GONE) return 'GONE';
  if (endpoint.failingSince === null) return undefined;
  const failures = { failingSinceMs: endpoint.failingSince.getTime(), attempts: attemptsInSeries + 1 };
  return isFailingForGood(failures, endedAt.getTime(), webhooks.failingLimitMs) ? 'FAILING' : undefined;
}

function toAttempt(outcome: DeliveryOutcome, endedAt: Date): AttemptMade {
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
