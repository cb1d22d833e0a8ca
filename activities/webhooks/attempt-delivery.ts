import { Context } from '@temporalio/activity';
import { acquirePermit, makeAttempt, prepare, recordOne, whyAgain } from '../../src/webhooks/attempts.ts';
import type { Ending, Permit } from '../../src/webhooks/endpoint-limiter.ts';
import {
  failUnsent,
  leaseDelivery,
  postpone,
  type WebhookDelivery,
} from '../../src/webhooks/store/deliveries.ts';
import type { DeliveryStep, WebhookActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';

export const createWebhookActivities = (deps: ActivityDeps): WebhookActivities => ({
  attemptDelivery: (messageId) => attemptDelivery(deps, messageId),
});

async function attemptDelivery({ webhooks }: ActivityDeps, messageId: string): Promise<DeliveryStep> {
  const { db } = webhooks;
  const delivery = await leaseDelivery(db, messageId);
  if (!delivery) return { state: 'closed', status: 'FORGOTTEN' };
  if (delivery.status !== 'PENDING') return { state: 'closed', status: delivery.status };
  if (!delivery.endpoint.isOpen) {
    await failUnsent(db, [messageId]);
    return { state: 'closed', status: 'FAILED' };
  }
  if (!delivery.isLeased) return waiting(delivery.dueInMs, 'until the next attempt');
  const permit = acquirePermit(webhooks, delivery);
  if (permit.isGranted) return attempt({ webhooks }, delivery, permit);
  await postpone(db, [{ delivery, waitMs: permit.waitMs }]);
  return waiting(permit.waitMs, 'until the endpoint limit allows another attempt');
}

async function attempt(
  { webhooks }: Pick<ActivityDeps, 'webhooks'>,
  delivery: WebhookDelivery,
  permit: Permit,
): Promise<DeliveryStep> {
  let ending: Ending = 'unused';
  try {
    const message = await prepare(webhooks, delivery);
    ending = 'unanswered';
    // A stopping worker gives up an attempt that hangs; another worker repeats it.
    const { cancelled } = Context.current();
    const attempted = await makeAttempt(webhooks, delivery, message, (send) =>
      Promise.race([send(), cancelled]),
    );
    if (attempted.made.outcome === 'answered') ending = 'answered';
    const verdict = await recordOne(webhooks, attempted);
    if (verdict.status !== 'PENDING') return { state: 'closed', status: verdict.status };
    return waiting(verdict.waitMs, whyAgain(attempted));
  } finally {
    permit.release(ending);
  }
}

function waiting(waitMs: number, why: string): DeliveryStep {
  return { state: 'waiting', waitMs: Math.trunc(waitMs) + 1, why };
}
