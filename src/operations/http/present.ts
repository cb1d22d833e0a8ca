import type { z } from 'zod';
import { mayPerform } from '../../accounts/operators/action-table.ts';
import { type Role } from '../../domain/operator-roles.ts';
import { DomainError } from '../../domain/errors.ts';
import { sidesOf } from '../../ledger/chart-of-accounts.ts';
import { amountJson, dataAnswer } from '../../platform/http/answer-fields.ts';
import { STATUS_OF, type Answer, type ErrorAnswer } from '../../platform/http/errors.ts';
import { toJson, type JsonNumber, type Wire } from '../../platform/http/json.ts';
import { presentPage } from '../../platform/http/page.ts';
import type { ActionPreview, ActionRecord } from '../actions.ts';
import type { StuckPage } from '../operator-use-cases.ts';
import type { ActionOutcome } from '../rules.ts';
import type { EffectPreview } from '../store/actions.ts';
import type { StuckItem } from '../stuck-rules.ts';
import type { Timeline } from '../timeline.ts';
import type { actionEffectSchema, actionsSchema, purchaseTimelineSchema } from './schema.ts';

type Body<Schema extends z.ZodType> = Wire<z.output<Schema>>;
type TimelineJson = Body<typeof purchaseTimelineSchema>['data'];
type StuckJson = TimelineJson['stuck'][number];
type RecordJson = TimelineJson['actions'][number];

export function presentStuck(page: StuckPage) {
  const { success, data } = presentPage(page, presentStuckItem);
  return { success, data: { ...data, isCut: page.isCut, temporalAsked: page.temporalAsked } };
}

function presentStuckItem({ amountMinor, ...item }: StuckItem): StuckJson {
  return { ...item, amount: amountOrNull(amountMinor, item.currency) };
}

const amountOrNull = (amountMinor: bigint | null, currency: string | null): JsonNumber | null =>
  amountMinor === null ? null : amountJson({ amountMinor, currency: currency ?? '' });

const withCurrency = (amountMinor: bigint, currency: string) => ({
  amount: amountJson({ amountMinor, currency }),
  currency,
});

export function presentActionRecord({ amount, ...record }: ActionRecord): RecordJson {
  const { amountMinor = null, currency = null } = amount ?? {};
  return { ...record, amount: amountOrNull(amountMinor, currency), currency };
}

export function presentActions(
  { preview, made }: { readonly preview: ActionPreview; readonly made: readonly ActionRecord[] },
  role: Role,
): Body<typeof actionsSchema>['data'] {
  const yours = preview.fits.filter((action) => mayPerform(role, action));
  return { ...preview, yours, made: made.map(presentActionRecord) };
}

/** Names each field of a row, so that no secret goes out. */
export function presentPurchaseTimeline(timeline: Timeline): TimelineJson {
  const { transactionId, purpose, status, reason, accountId, paymentMethod, currency, hold } = timeline;
  const { attention, package: item, supplier, fits, payments, refunds, messages, workflows } = timeline;
  return {
    ...{ transactionId, purpose, status, reason, accountId, paymentMethod, attention, fits },
    batchId: timeline.batchId,
    package: item,
    supplier: supplier && presentSupplier(supplier),
    timeline: timeline.timeline,
    amount: amountOrNull(timeline.amountMinor, currency),
    currency,
    hold: hold && { status: hold.status, ...withCurrency(hold.amountMinor, hold.currency) },
    payments: payments.map((payment) => ({
      reference: payment.reference,
      method: payment.method,
      status: payment.status,
      gatewayStatus: payment.gateway_status,
      gatewayId: payment.gateway_id,
      ...withCurrency(payment.charge_minor, payment.charge_currency),
      bookedAmount: amountJson({
        amountMinor: payment.received_minor + payment.vouched_minor,
        currency: payment.charge_currency,
      }),
      bookedCurrency: payment.has_money ? (payment.other_currency ?? payment.charge_currency) : null,
      checkedAt: payment.checked_at,
      expiresAt: payment.expires_at,
      createdAt: payment.created_at,
    })),
    refunds: refunds.map((refund) => ({
      refundKey: refund.refund_key,
      status: refund.status,
      gatewayStatus: refund.gateway_status,
      ...withCurrency(refund.amount_minor, refund.currency),
      createdAt: refund.created_at,
      askedAt: refund.sent_at,
    })),
    entries: timeline.entries.map(({ at, kind, operation_key, account, currency: code, amount_minor }) => {
      const { debitMinor, creditMinor } = sidesOf(amount_minor);
      return {
        ...{ at, operation: kind, operationKey: operation_key, account, currency: code },
        debit: amountJson({ amountMinor: debitMinor, currency: code }),
        credit: amountJson({ amountMinor: creditMinor, currency: code }),
      };
    }),
    disputes: timeline.disputes.map((dispute) => ({
      disputeId: dispute.dispute_id,
      reference: dispute.reference,
      ...withCurrency(dispute.amount_minor, dispute.currency),
      gatewayState: dispute.gateway_state,
      gatewayStatus: dispute.gateway_status,
      outcome: dispute.outcome,
      checkedAt: dispute.checked_at,
      openedAt: dispute.opened_at,
      settledAt: dispute.settled_at,
    })),
    messages: messages.map(({ id, event, status, attempts, host, created_at, closed_at }) => ({
      ...{ messageId: id, event, status, attempts, host },
      createdAt: created_at,
      closedAt: closed_at,
    })),
    actions: timeline.actions.map(presentActionRecord),
    workflows:
      workflows?.map(({ workflowId, type, status, startedAt, closedAt }) => ({
        ...{ workflowId, type, status, startedAt, closedAt },
      })) ?? null,
    stuck: timeline.stuck.map(presentStuckItem),
  };
}

function presentSupplier({ costUsdE4, ...supplier }: NonNullable<Timeline['supplier']>) {
  return { ...supplier, costUsd: amountJson({ amountMinor: costUsdE4, currency: 'USD4' }) };
}

const NO_EFFECT = {
  refusal: null,
  amount: null,
  currency: null,
  needsSecondPerson: null,
  entries: [],
  refunds: [],
};

/** The effect that an action would have now. Throws TRANSACTION_NOT_FOUND. */
export function presentEffect(effect: EffectPreview): Body<typeof actionEffectSchema>['data'] {
  const { outcome } = effect;
  switch (outcome) {
    case 'would-do':
      return {
        ...NO_EFFECT,
        outcome,
        what: effect.did,
        amount: effect.amount && amountJson(effect.amount),
        currency: effect.amount?.currency ?? null,
        needsSecondPerson: effect.needsSecondPerson,
        entries: effect.entries.map(({ account, currency, debitMinor, creditMinor }) => ({
          account,
          debit: amountJson({ amountMinor: debitMinor, currency }),
          credit: amountJson({ amountMinor: creditMinor, currency }),
          currency,
        })),
        refunds: effect.refunds.map(({ amountMinor, currency }) => withCurrency(amountMinor, currency)),
      };
    case 'refused':
      if (effect.code === 'NOT_FOUND') throw new DomainError('TRANSACTION_NOT_FOUND', effect.detail);
      return { ...NO_EFFECT, outcome, what: effect.detail, refusal: effect.code };
    case 'done':
      return { ...NO_EFFECT, outcome, what: effect.did };
    case 'waits-for-approval':
      return { ...NO_EFFECT, outcome, what: `${effect.actionId} waits until ${effect.expiresAt}` };
  }
}

/** Throws FORBIDDEN (the same person twice), SERVICE_UNAVAILABLE (unknown: it may still be carried out), and `notFound`. */
export function actionAnswer(
  outcome: ActionOutcome,
  notFound: 'TRANSACTION_NOT_FOUND' | 'NOT_FOUND' = 'TRANSACTION_NOT_FOUND',
): Answer | ErrorAnswer {
  switch (outcome.outcome) {
    case 'done': {
      const { actionId, did, again = false } = outcome;
      return dataAnswer({ outcome: 'done', actionId, did, again });
    }
    case 'waits-for-approval': {
      const { actionId, expiresAt } = outcome;
      return dataAnswer({ outcome: 'waits-for-approval', actionId, expiresAt }, 202);
    }
    case 'refused':
      return refused(outcome, notFound);
    case 'unknown':
      throw new DomainError(
        'SERVICE_UNAVAILABLE',
        `No result in time; the action may still run. Send the same request again to see it (${outcome.detail})`,
      );
  }
}

function refused(
  { code: refusal, detail, fits }: Extract<ActionOutcome, { outcome: 'refused' }>,
  notFound: 'TRANSACTION_NOT_FOUND' | 'NOT_FOUND',
): ErrorAnswer {
  if (refusal === 'NOT_FOUND') throw new DomainError(notFound, detail);
  if (refusal === 'SAME_PERSON') throw new DomainError('FORBIDDEN', detail);
  const [code, status] = ['ACTION_REFUSED', STATUS_OF.ACTION_REFUSED] as const;
  const error = { code, message: detail, refusal, fits };
  return { status, code, body: toJson({ success: false, error, statusCode: status }) };
}
