import type { z } from 'zod';
import type { ActionPreview, ActionRecord } from '../actions.ts';
import type { StuckPage } from '../../platform/composition/ops-world.ts';
import type { Timeline } from '../timeline.ts';
import type { Replayed } from '../replay.ts';
import type { Money } from '../../domain/money.ts';
import { mayMove, type Role } from '../../accounts/roles.ts';
import type { StuckItem } from '../stuck-rules.ts';
import { toJson, type JsonNumber, type Wire } from '../../platform/http/json.ts';
import { presentPage } from '../../platform/http/page.ts';
import type { movesSchema, replaySchema, purchaseTimelineSchema, stuckPageSchema } from './schema.ts';
import { amountJson } from '../../platform/http/answer-fields.ts';
import type { ActionOutcome } from '../rules.ts';
import { STATUS_OF, type Answer, type ErrorAnswer } from '../../platform/http/errors.ts';
import { DomainError } from '../../domain/errors.ts';

type Item = Wire<z.output<typeof stuckPageSchema>>['data']['items'][number];
type RecordJson = Wire<z.output<typeof movesSchema>>['data']['made'][number];
type StoryJson = Wire<z.output<typeof purchaseTimelineSchema>>['data'];

export function presentStuck(page: StuckPage) {
  const { success, data } = presentPage(page, presentStuckItem);
  return { success, data: { ...data, isCut: page.isCut, temporalAsked: page.temporalAsked } };
}

function presentStuckItem(item: StuckItem): Item {
  const { transactionId, class: stuckClass, ageSeconds, amountMinor, currency, reason, nextAction } = item;
  const amount = amountMinor === null ? null : amountJson({ amountMinor, currency: currency ?? '' });
  return { transactionId, class: stuckClass, ageSeconds, amount, currency, reason, nextAction };
}

const timeOf = (at: Date | null): string | null => at?.toISOString() ?? null;

function withCurrency(amount: Money): { amount: JsonNumber; currency: string } {
  return { amount: amountJson(amount), currency: amount.currency };
}

export function presentActionRecord({ amount, ...record }: ActionRecord): RecordJson {
  return {
    ...record,
    ...(amount ? withCurrency(amount) : { amount: null, currency: null }),
    createdAt: record.createdAt.toISOString(),
    closedAt: timeOf(record.closedAt),
    expiresAt: timeOf(record.expiresAt),
  };
}

export function presentActions(
  { preview, made }: { readonly preview: ActionPreview; readonly made: readonly ActionRecord[] },
  role: Role,
): Wire<z.output<typeof movesSchema>> {
  const { transactionId, purpose, status, state, attentionReason, fits, replay } = preview;
  return {
    success: true,
    data: {
      ...{ transactionId, purpose, status, state, attentionReason, fits, replay },
      yours: fits.filter((action) => mayMove(role, action)),
      made: made.map(presentActionRecord),
    },
  };
}

export function presentReplay(report: Replayed): Wire<z.output<typeof replaySchema>> {
  return { success: true, data: report };
}

export function presentPurchaseTimeline(story: Timeline): Wire<z.output<typeof purchaseTimelineSchema>> {
  const { amountMinor, currency, attention, hold } = story;
  return {
    success: true,
    data: {
      transactionId: story.transactionId,
      purpose: story.purpose,
      status: story.status,
      reason: story.reason,
      accountId: story.accountId,
      paymentMethod: story.paymentMethod,
      amount: amountMinor === null ? null : amountJson({ amountMinor, currency: currency ?? '' }),
      currency,
      attention: attention && { reason: attention.reason, since: attention.since.toISOString() },
      package: story.package,
      hold: hold && { status: hold.status, ...withCurrency(hold) },
      supplier: story.supplier,
      ...outsideOf(story),
      moves: story.moves.map(presentActionRecord),
      stuck: story.stuck.map(presentStuckItem),
      fits: story.fits,
      timeline: story.timeline.map((line) => ({ ...line, at: line.at.toISOString() })),
    },
  };
}

/** What happens at the gateway, at the merchant and in Temporal. Names each field, so that no secret goes out. */
function outsideOf(story: Timeline): Pick<StoryJson, 'payments' | 'refunds' | 'messages' | 'workflows'> {
  return {
    payments: story.payments.map((payment) => ({
      reference: payment.reference,
      method: payment.method,
      status: payment.status,
      gatewayStatus: payment.gateway_status,
      gatewayId: payment.gateway_id,
      ...withCurrency({ amountMinor: payment.charge_minor, currency: payment.charge_currency }),
      bookedAmount: amountJson({
        amountMinor: payment.booked_minor,
        currency: payment.booked_currency ?? payment.charge_currency,
      }),
      bookedCurrency: payment.booked_currency,
      lookedAt: timeOf(payment.looked_at),
      expiresAt: timeOf(payment.expires_at),
      createdAt: payment.created_at.toISOString(),
    })),
    refunds: story.refunds.map((refund) => ({
      refundKey: refund.refund_key,
      status: refund.status,
      gatewayStatus: refund.gateway_status,
      ...withCurrency({ amountMinor: refund.amount_minor, currency: refund.currency }),
      createdAt: refund.created_at.toISOString(),
      askedAt: timeOf(refund.asked_at),
    })),
    messages: story.messages.map((message) => ({
      messageId: message.id,
      event: message.event,
      status: message.status,
      attempts: message.attempts,
      host: message.host,
      createdAt: message.created_at.toISOString(),
      closedAt: timeOf(message.closed_at),
    })),
    workflows:
      story.workflows?.map(({ workflowId, type, status, startedAt, closedAt }) => ({
        workflowId,
        type,
        status,
        startedAt: startedAt.toISOString(),
        closedAt: timeOf(closedAt),
      })) ?? null,
  };
}

/** Throws FORBIDDEN (the same person twice), SERVICE_UNAVAILABLE (unknown: it may still be made), and `notFound` where nothing is there. */
export function actionAnswer(
  outcome: ActionOutcome,
  notFound: 'TRANSACTION_NOT_FOUND' | 'NOT_FOUND' = 'TRANSACTION_NOT_FOUND',
): Answer | ErrorAnswer {
  switch (outcome.outcome) {
    case 'done': {
      const { moveId, did, again = false } = outcome;
      return { status: 200, body: toJson({ success: true, data: { outcome: 'done', moveId, did, again } }) };
    }
    case 'waits-for-approval': {
      const { moveId, expiresAt } = outcome;
      const data = { outcome: 'waits-for-approval', moveId, expiresAt };
      return { status: 202, body: toJson({ success: true, data }) };
    }
    case 'refused':
      if (outcome.code === 'NOT_FOUND') throw new DomainError(notFound, outcome.detail);
      return refused(outcome);
    case 'unknown':
      throw new DomainError(
        'SERVICE_UNAVAILABLE',
        `Nobody answered in time, so it may still be made: the same request again tells (${outcome.detail})`,
      );
  }
}

function refused(refusal: Extract<ActionOutcome, { outcome: 'refused' }>): ErrorAnswer {
  const { code, detail, fits } = refusal;
  if (code === 'SAME_PERSON') throw new DomainError('FORBIDDEN', detail);
  const status = STATUS_OF.MOVE_REFUSED;
  const error = { code: 'MOVE_REFUSED', message: detail, refusal: code, fits };
  return {
    status,
    code: 'MOVE_REFUSED',
    body: toJson({ success: false, error, statusCode: status }),
  };
}
