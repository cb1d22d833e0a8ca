/** Everything that happened to a purchase or a funding. Amounts are numbers with two decimals. */
import { z } from 'zod';
import { PAYMENT_PURPOSES } from '../../domain/states.ts';
import { sidesOf } from '../../ledger/chart-of-accounts.ts';
import { amountJson, dataAnswer, dataSchema, money, text } from '../../platform/http/answer-fields.ts';
import { anyId, environmentQuery, opsRoutesFor } from '../../platform/http/ops-route.ts';
import type { Route } from '../../platform/http/route.ts';
import { noteTransaction } from '../../platform/telemetry/subject.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import type { Timeline } from '../timeline.ts';
import {
  amountOf,
  amountOrNull,
  type Body,
  currency,
  ONE,
  presentActionRecord,
  presentStuckItem,
  record,
  side,
  stuckItem,
  time,
  withCurrency,
  word,
} from './shared.ts';

const defineOpsRoute = opsRoutesFor<OperatorCases>();
const TAG = 'Purchases';

const purchaseTimelineSchema = dataSchema(
  z.object({
    transactionId: z.string(),
    purpose: z.enum(PAYMENT_PURPOSES).nullable(),
    status: word,
    reason: word,
    accountId: word,
    batchId: word.describe('The batch that it belongs to; also the id of its workflow'),
    paymentMethod: word,
    amount: money('The price, or what a wallet is funded with').nullable(),
    currency: currency.nullable(),
    attention: z.object({ reason: z.string(), since: time }).nullable(),
    package: z.object({ packageCode: z.string(), name: z.string(), type: z.string() }).nullable(),
    hold: z.object({ status: z.string(), ...amountOf }).nullable(),
    payments: z.array(
      z.object({
        reference: z.string(),
        method: z.string(),
        status: z.string(),
        gatewayStatus: word,
        gatewayId: word,
        ...amountOf,
        bookedAmount: money('Amount received, in `bookedCurrency`'),
        bookedCurrency: currency.nullable(),
        checkedAt: time.nullable(),
        expiresAt: time.nullable(),
        createdAt: time,
      }),
    ),
    refunds: z.array(
      z.object({
        refundKey: z.string(),
        status: z.string(),
        gatewayStatus: word,
        ...amountOf,
        createdAt: time,
        askedAt: time.nullable(),
      }),
    ),
    entries: z
      .array(
        z.object({
          at: time,
          operation: z.string().meta({ example: 'hold' }),
          operationKey: z.string(),
          account: z.string(),
          debit: side('Debit'),
          credit: side('Credit'),
          currency,
        }),
      )
      .describe('The ledger entries, oldest first'),
    disputes: z
      .array(
        z.object({
          disputeId: text('The gateway’s id'),
          reference: z.string(),
          ...amountOf,
          gatewayState: word,
          gatewayStatus: word,
          outcome: word.describe('What a person stated; null while it is open'),
          checkedAt: time.nullable(),
          openedAt: time,
          settledAt: time.nullable(),
        }),
      )
      .describe('The payment’s disputes, oldest first; `settle-dispute` takes the id of an open one'),
    supplier: z
      .object({
        costUsd: z.number().describe('What the supplier charges, in US dollars, with four decimals'),
        checkedAt: time.nullable().describe('When the eSIM was last checked there'),
        attempts: z.number().int(),
        orderNo: word,
        esimId: z.string(),
        esimStatus: word,
        iccid: word,
      })
      .nullable(),
    messages: z.array(
      z.object({
        messageId: z.string(),
        event: z.string(),
        status: z.string(),
        attempts: z.number().int(),
        host: z.string(),
        createdAt: time,
        closedAt: time.nullable(),
      }),
    ),
    actions: z.array(record),
    workflows: z
      .array(
        z.object({
          workflowId: z.string(),
          type: z.string(),
          status: z.string(),
          startedAt: time,
          closedAt: time.nullable(),
        }),
      )
      .nullable()
      .describe('null: Temporal did not answer'),
    stuck: z.array(stuckItem),
    fits: z.array(z.string()).describe('Available actions'),
    timeline: z.array(z.object({ at: time, source: z.string(), what: z.string(), detail: z.string() })),
  }),
  'PurchaseTimeline',
);

const timelineRoute = defineOpsRoute({
  method: 'GET',
  path: ONE,
  permission: 'see',
  params: { transactionId: anyId },
  query: environmentQuery,
  responses: { 200: { description: 'Everything that happened', schema: purchaseTimelineSchema } },
  docs: {
    operationId: 'getPurchaseTimeline',
    tag: TAG,
    summary: 'Read what happened to a purchase or a funding',
    description:
      'How it stands, its money, the vendors’ side, and a timeline of everything that happened, ours and theirs. No activation code, PIN ' +
      'or PUK is in it.',
  },
  async handle({ cases, params }) {
    const timeline = await cases.readTimeline(params['transactionId'] ?? '');
    noteTransaction(timeline.transactionId);
    return dataAnswer(presentPurchaseTimeline(timeline));
  },
});

type TimelineJson = Body<typeof purchaseTimelineSchema>['data'];

/** Names each field of a row, so that no secret goes out. */
function presentPurchaseTimeline(timeline: Timeline): TimelineJson {
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

export const purchaseTimelineRoutes: readonly Route<OperatorCases>[] = [timelineRoute];
