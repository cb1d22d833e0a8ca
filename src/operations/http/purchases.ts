/** The stuck list, everything that happened to a purchase or a funding, and finding what an id leads to. */
import { z } from 'zod';
import { FAILURE_REASONS, type FailureReason } from '../../domain/refusals.ts';
import {
  ATTENTION_REASONS,
  GATEWAY_METHODS,
  HOLD_STATES,
  LEDGER_OPERATIONS,
  PAYMENT_METHODS,
  PAYMENT_PURPOSES,
} from '../../domain/states.ts';
import {
  type Data,
  isoTime,
  money,
  text,
  usd,
  yesNo,
  dataObject,
  namedObject,
  ownFields,
  presentOwn,
} from '../../platform/http/answer-fields.ts';
import { soughtField, wholeNumberField } from '../../platform/http/fields.ts';
import { MAX_EMAIL_CHARACTERS } from '../../platform/http/limits.ts';
import { anyId, environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { pageFields, paginationSchema, presentPage } from '../../platform/http/page.ts';
import { fromRow } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import { noteTransaction } from '../../platform/telemetry/subject.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { FOUND_KINDS, MAX_FOUND } from '../search.ts';
import { FOUND_BY } from '../store/search.ts';
import { TIMELINE_SOURCES, type Timeline } from '../timeline.ts';
import {
  amountOf,
  currency,
  currencyCode,
  MAX_OLDER_SECONDS,
  ONE,
  presentActionRecord,
  record,
  side,
  stuckClassField,
  stuckItem,
  time,
  word,
} from './shared.ts';

const routes = operatorRoutes<OperatorCases>('Purchases', { transactionId: anyId });

const stuckQuery = z.object({
  ...environmentField,
  ...pageFields,
  class: stuckClassField.optional(),
  olderThanSeconds: wholeNumberField({
    min: 0,
    max: MAX_OLDER_SECONDS,
    fallback: 0,
    description: 'Only items unchanged for at least this long',
  }),
  currency: currencyCode('Only money of this currency'),
});

const listedStuckItem = stuckItem
  .extend({
    account: z
      .object({ accountId: z.string(), name: z.string() })
      .nullable()
      .describe('Whose it is; null: an event that belongs to no account'),
    openedAt: isoTime('When the purchase, the funding or the message was made').nullable(),
  })
  .meta({ id: 'ListedStuckItem' });

const stuckPageSchema = dataObject('StuckPage', {
  items: z.array(listedStuckItem),
  pagination: paginationSchema,
  isCut: yesNo('true: the list is truncated'),
  temporalAsked: yesNo('false: Temporal did not answer; `workflow-gone` items are missing'),
});

const FAILURES = Object.keys(FAILURE_REASONS) as [FailureReason, ...FailureReason[]];
/** A newer version may have written what this one has no word for. */
const OTHER = 'OTHER';
const knownOr =
  <Member extends string>(list: readonly Member[]) =>
  (word: string): Member | typeof OTHER =>
    list.find((member) => member === word) ?? OTHER;

const purchaseTimelineSchema = dataObject('PurchaseTimeline', {
  transactionId: z.string(),
  purpose: z.enum(PAYMENT_PURPOSES).nullable(),
  status: word,
  reason: z.enum([...FAILURES, OTHER]).nullable(),
  accountId: word,
  accountName: word,
  replaces: word.describe('The purchase in whose place this one is'),
  replacedBy: word.describe('The purchase in its place, once that is delivered'),
  batchId: word.describe('The batch that it belongs to; also the id of its workflow'),
  paymentMethod: z.enum(PAYMENT_METHODS).nullable(),
  ...ownFields,
  amount: money('The price, or what a wallet is funded with').nullable(),
  currency: currency.nullable(),
  attention: z.object({ reason: z.enum([...ATTENTION_REASONS, OTHER]), since: time }).nullable(),
  package: z.object({ packageCode: z.string(), name: z.string(), type: z.string() }).nullable(),
  hold: z.object({ status: z.enum(HOLD_STATES), ...amountOf }).nullable(),
  payments: z.array(
    z.object({
      reference: z.string(),
      method: z.enum(GATEWAY_METHODS),
      status: z.string(),
      gatewayStatus: word,
      gatewayId: word,
      ...amountOf,
      bookedAmount: money('Amount received, in `bookedCurrency`'),
      bookedCurrency: currency.nullable(),
      markedPaidAmount: money('Part of `bookedAmount` that only a person confirmed'),
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
        operation: z.enum([...LEDGER_OPERATIONS, OTHER]).meta({ example: 'hold' }),
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
      earlierOrderNos: z.array(z.string()).describe('Of orders that were given up for another package'),
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
  timeline: z.array(
    z.object({ at: time, source: z.enum(TIMELINE_SOURCES), what: z.string(), detail: z.string() }),
  ),
});

const presentTimeline = (
  timeline: Timeline & { readonly accountName: string | null },
): Data<typeof purchaseTimelineSchema> => ({
  ...timeline,
  ...presentOwn(timeline),
  reason: timeline.reason === null ? null : knownOr(FAILURES)(timeline.reason),
  attention: timeline.attention && {
    ...timeline.attention,
    reason: knownOr(ATTENTION_REASONS)(timeline.attention.reason),
  },
  payments: timeline.payments.map((payment) => ({
    ...fromRow(payment),
    amountMinor: payment.charge_minor,
    currency: payment.charge_currency,
    bookedAmountMinor: payment.received_minor + payment.vouched_minor,
    markedPaidAmountMinor: payment.vouched_minor,
    bookedCurrency: payment.has_money ? (payment.other_currency ?? payment.charge_currency) : null,
  })),
  refunds: timeline.refunds.map((refund) => ({ ...fromRow(refund), askedAt: refund.sent_at })),
  entries: timeline.entries.map((entry) => ({
    ...fromRow(entry),
    operation: knownOr(LEDGER_OPERATIONS)(entry.kind),
  })),
  disputes: timeline.disputes.map(fromRow),
  messages: timeline.messages.map((message) => ({ ...fromRow(message), messageId: message.id })),
  actions: timeline.actions.map(presentActionRecord),
});

export const purchaseRoutes: readonly Route<OperatorCases>[] = [
  routes.get('/ops/stuck', {
    permission: 'see',
    query: stuckQuery,
    answer: [200, 'One page, the longest stuck first', stuckPageSchema],
    operationId: 'listStuck',
    summary: 'List stuck purchases and payments',
    description:
      'One line for each cause, with what to do next. Items within their time limit are not listed.',
    async handle({ cases, query }) {
      const { page, limit, class: wanted, olderThanSeconds, currency } = query;
      const classes = wanted === undefined ? undefined : [wanted];
      const stuck = await cases.listStuck({ page, limit, olderThanSeconds, classes, currency });
      return { ...stuck, ...presentPage(stuck) };
    },
  }),
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

const searchQuery = z.object({
  ...environmentField,
  text: soughtField({
    max: MAX_EMAIL_CHARACTERS,
    description:
      'Id or text to search for; blanks around it and in an ICCID, and the F at its end, are left out',
    example: '8944300000000000001',
  }),
});

const found = namedObject('Found', {
  kind: z.enum(FOUND_KINDS),
  id: z.string().meta({ example: 'txn-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  title: text('For people', 'Nigeria 1GB 7Days, NGN 3790.40, SUCCESS'),
  account: z
    .object({ accountId: z.string(), name: z.string() })
    .nullable()
    .describe('Whose it is; null: it belongs to no account'),
  foundBy: z
    .enum(FOUND_BY)
    .meta({ description: 'Which field of the result matched the text', example: 'iccid' }),
});

const searchSchema = dataObject('SearchResult', {
  items: z.array(found),
  isCut: yesNo(`There are more than ${MAX_FOUND}`),
});

export const operatorSearchRoutes: readonly Route<OperatorCases>[] = [
  routes.get('/ops/search', {
    permission: 'see',
    query: searchQuery,
    answer: [200, `At most ${MAX_FOUND}`, searchSchema],
    operationId: 'search',
    summary: 'Find what an id leads to',
    description:
      'Purchases and fundings by their id, the shop’s own reference, a reference or id of the gateway, of a refund or of a dispute there, the supplier’s order number, the id, ' +
      'number or ICCID of an eSIM, the id of a batch, a quote, a webhook message, an event, an operator action or a request; other webhook ' +
      'messages, webhook endpoints, batches, quotes, batch repairs, gateway events without a payment, API keys, members and requests by id; ' +
      'accounts by id or a part of their name or of an e-mail address. For roles that see them: differences by id, people by id or e-mail ' +
      'address. Ids in full.',
    handle: ({ cases, session, query }) => cases.search(session, query.text),
  }),
];
