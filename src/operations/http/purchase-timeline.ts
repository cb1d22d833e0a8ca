/** Everything that happened to a purchase or a funding. Amounts are numbers with two decimals. */
import { z } from 'zod';
import { PAYMENT_PURPOSES } from '../../domain/states.ts';
import { sidesOf } from '../../ledger/chart-of-accounts.ts';
import { type Data, money, text, usd, dataObject } from '../../platform/http/answer-fields.ts';
import { anyId, operatorRoutes } from '../../platform/http/ops-route.ts';
import { fromRow } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import { noteTransaction } from '../../platform/telemetry/subject.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import type { Timeline } from '../timeline.ts';
import {
  amountOf,
  currency,
  ONE,
  presentActionRecord,
  record,
  side,
  stuckItem,
  time,
  word,
} from './shared.ts';

const routes = operatorRoutes<OperatorCases>('Purchases', { transactionId: anyId });

const purchaseTimelineSchema = dataObject('PurchaseTimeline', {
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
      costUsd: usd('What the supplier charges, in US dollars, with four decimals'),
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
});

const presentTimeline = (timeline: Timeline): Data<typeof purchaseTimelineSchema> => ({
  ...timeline,
  payments: timeline.payments.map((payment) => ({
    ...fromRow(payment),
    amountMinor: payment.charge_minor,
    currency: payment.charge_currency,
    bookedAmountMinor: payment.received_minor + payment.vouched_minor,
    bookedCurrency: payment.has_money ? (payment.other_currency ?? payment.charge_currency) : null,
  })),
  refunds: timeline.refunds.map((refund) => ({ ...fromRow(refund), askedAt: refund.sent_at })),
  entries: timeline.entries.map(({ amount_minor, ...entry }) => ({
    ...fromRow(entry),
    ...sidesOf(amount_minor),
    operation: entry.kind,
  })),
  disputes: timeline.disputes.map(fromRow),
  messages: timeline.messages.map((message) => ({ ...fromRow(message), messageId: message.id })),
  actions: timeline.actions.map(presentActionRecord),
  workflows: timeline.workflows ?? null,
});

export const purchaseTimelineRoutes: readonly Route<OperatorCases>[] = [
  routes.get(ONE, {
    permission: 'see',
    answer: [200, 'Everything that happened', purchaseTimelineSchema],
    operationId: 'getPurchaseTimeline',
    summary: 'Read what happened to a purchase or a funding',
    description:
      'How it stands, its money, the vendors’ side, and a timeline of everything that happened, ours and theirs. No activation code, PIN ' +
      'or PUK is in it.',
    async handle({ cases, params }) {
      const timeline = await cases.readTimeline(params.transactionId);
      noteTransaction(timeline.transactionId);
      return presentTimeline(timeline);
    },
  }),
];
