/** Everything about one purchase or funding, without secrets (store/timeline.ts). */
import { formatAmount } from '../domain/money.ts';
import { findTransactionId, readTimeline, type TimelineRows } from './store/timeline.ts';
import type { ActionRecord, OperatorActions } from './actions.ts';
import { findStuck, type StuckDeps } from './stuck.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import type { WorkflowState } from './engine.ts';

interface TimelineDeps extends StuckDeps {
  readonly actions: Pick<OperatorActions, 'listFor' | 'preview'>;
}

export const TIMELINE_SOURCES = [
  ...(['purchase', 'payment', 'ledger', 'gateway', 'webhook', 'action', 'workflow'] as const),
] as const;

interface TimelineLine {
  readonly at: Date;
  readonly source: (typeof TIMELINE_SOURCES)[number];
  readonly what: string;
  readonly detail: string;
}

export type Timeline = NonNullable<Awaited<ReturnType<typeof purchaseTimeline>>>;

/** By our id, a gateway's reference, an eSIM's id or ICCID, or a message's id. undefined: unknown. */
export async function purchaseTimeline(deps: TimelineDeps, id: string) {
  const transactionId = (await findTransactionId(deps.db, id)) ?? id;
  const rows = await readTimeline(deps.db, transactionId);
  if (!rows) return undefined;
  const [actions, preview, workflows, stuck] = await Promise.all([
    deps.actions.listFor(transactionId),
    deps.actions.preview(transactionId),
    findWorkflows(deps, transactionId),
    findStuck(deps, { transactionIds: [transactionId] }),
  ]);
  const { purchase, funding, hold } = rows;
  const row = purchase ?? funding;
  return {
    transactionId,
    purpose: purchase ? ('purchase' as const) : funding ? ('funding' as const) : null,
    status: row?.status ?? null,
    reason: row?.reason ?? null,
    accountId: row?.account_id ?? hold?.account_id ?? null,
    /** The merchant's batch that it belongs to; its workflow has the same id. */
    batchId: rows.batch?.job_id ?? null,
    ...rows.links,
    paymentMethod: row?.payment_method ?? null,
    reference: row?.reference ?? null,
    metadata: row?.metadata ?? null,
    amountMinor: purchase?.price_minor ?? funding?.amount_minor ?? hold?.amount_minor ?? null,
    currency: row?.currency ?? hold?.currency ?? null,
    attention: attentionOf(rows),
    ...itemOf(rows),
    hold: hold ? { status: hold.status, amountMinor: hold.amount_minor, currency: hold.currency } : null,
    payments: rows.payments,
    refunds: rows.refunds,
    entries: rows.entries,
    disputes: rows.disputes,
    messages: rows.messages,
    actions,
    /** null: Temporal did not answer. */
    workflows,
    stuck: stuck.items,
    /** Available operator actions. */
    fits: preview?.fits ?? [],
    timeline: timelineOf(rows, actions, workflows ?? []),
  };
}

async function findWorkflows({ workflows }: TimelineDeps, transactionId: string) {
  try {
    return await workflows.ofTransaction(transactionId);
  } catch (error) {
    if (error instanceof EngineUnavailable) return null;
    throw error;
  }
}

function attentionOf({ purchase, funding }: TimelineRows) {
  const row = purchase ?? funding;
  if (!row?.needs_attention_since) return null;
  return { reason: row.attention_reason ?? '', since: row.needs_attention_since };
}

function itemOf({ purchase, esim, orders }: TimelineRows) {
  if (!purchase) return { package: null, supplier: null };
  const { package_code: packageCode, package_name: name, package_type: type } = purchase;
  // Of a top-up, the eSIM's own order and check are those of another purchase.
  const own = type === 'BASE' ? esim : undefined;
  return {
    package: { packageCode, name, type },
    supplier: {
      costUsdE4: purchase.cost_usd_e4,
      checkedAt: own?.checked_at ?? null,
      attempts: orders.reduce((sum, order) => sum + order.attempts, 0),
      earlierOrderNos: orders.slice(0, -1).flatMap((order) => order.order_no ?? []),
      orderNo: orders.at(-1)?.order_no ?? (own?.order_no || null),
      esimId: purchase.esim_id,
      esimStatus: esim?.status ?? null,
      iccid: purchase.top_up_iccid ?? (esim?.iccid || null),
    },
  };
}

type Row<K extends 'payments' | 'refunds' | 'messages' | 'gatewayEvents'> = TimelineRows[K][number];

/** Oldest first; what happened at one moment stands in the order of the rows. */
function timelineOf(
  rows: TimelineRows,
  actions: readonly ActionRecord[],
  workflows: readonly WorkflowState[],
): TimelineLine[] {
  return [
    ...workflows.flatMap(workflowLines),
    ...rows.events.flatMap(({ at, what, detail }) => line(at, 'purchase', what, byWhom(detail, actions))),
    ...rows.payments.flatMap(paymentLines),
    ...rows.gatewayEvents.flatMap(gatewayLines),
    ...ledgerLines(rows.entries),
    ...rows.refunds.flatMap(refundLines),
    ...rows.messages.flatMap(messageLines),
    ...rows.attempts.flatMap(({ at, attempt, message_id: messageId, outcome, status, ms }) =>
      line(
        at,
        'webhook',
        `Attempt ${attempt}`,
        `${messageId}: ${[outcome, status].join(' ').trim()}, ${ms} ms`,
      ),
    ),
    ...actions.flatMap(actionLines),
  ].toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

/** An event that an action made has its id. */
function byWhom(detail: string | null, actions: readonly ActionRecord[]): string | null {
  const made = actions.find(({ actionId }) => actionId === detail);
  return made ? `${made.action} by ${made.by}: ${made.reason}` : detail;
}

/** No line for what has not happened. */
function line(
  at: Date | null,
  source: TimelineLine['source'],
  what: string,
  detail: string | null,
): TimelineLine[] {
  return at ? [{ at, source, what, detail: detail ?? '' }] : [];
}

function workflowLines(state: WorkflowState): TimelineLine[] {
  const { workflowId, type, status, startedAt, closedAt, historyEvents } = state;
  const closed = `${type} ${workflowId}, ${historyEvents} events of history`;
  return [
    ...line(startedAt, 'workflow', 'Started', `${type} ${workflowId}`),
    ...line(closedAt, 'workflow', status.toLowerCase(), closed),
  ];
}

function paymentLines(payment: Row<'payments'>): TimelineLine[] {
  const { reference, method, created_at, checked_at, gateway_status } = payment;
  return [
    ...line(created_at, 'payment', 'Asked for', `${reference}, ${method}`),
    ...line(checked_at, 'gateway', 'Last check', `${reference}: ${gateway_status ?? 'nothing new'}`),
  ];
}

function gatewayLines({ id, type, received_at, applied_at, note }: Row<'gatewayEvents'>): TimelineLine[] {
  return [
    ...line(received_at, 'gateway', type, `event-${id} received`),
    ...line(applied_at, 'gateway', type, `event-${id}: ${note ?? ''}`),
  ];
}

/** One line an operation: what it moved, where. */
function ledgerLines(entries: TimelineRows['entries']): TimelineLine[] {
  return [...Map.groupBy(entries, (entry) => entry.operation_key)].flatMap(([key, booked]) => {
    const moved = booked.map(({ account, currency, debitMinor, creditMinor }) => {
      const [side, amountMinor] = debitMinor > 0n ? ['debit', debitMinor] : ['credit', creditMinor];
      return `${account} ${side} ${formatAmount({ amountMinor, currency })}`;
    });
    return line(booked[0]?.at ?? null, 'ledger', booked[0]?.kind ?? '', `${key}: ${moved.join(', ')}`);
  });
}

function refundLines(refund: Row<'refunds'>): TimelineLine[] {
  const { refund_key: key, created_at, sent_at, currency } = refund;
  const amount = `${currency} ${formatAmount({ amountMinor: refund.amount_minor, currency })}`;
  return [
    ...line(created_at, 'payment', 'Refund due', `${key}: ${amount}`),
    ...line(sent_at, 'gateway', 'Refund asked for', key),
  ];
}

function messageLines({ id, host, event, status, created_at, closed_at }: Row<'messages'>): TimelineLine[] {
  const about = `${id} to ${host}`;
  return [
    ...line(created_at, 'webhook', event, about),
    ...line(closed_at, 'webhook', status.toLowerCase(), about),
  ];
}

function actionLines({ action, by, reason, createdAt, closedAt, ...ended }: ActionRecord): TimelineLine[] {
  const outcome = [ended.status, ended.refusal, ended.detail, ended.decisionReason];
  return [
    ...line(createdAt, 'action', action, `by ${by}: ${reason}`),
    ...line(closedAt, 'action', action, outcome.filter(Boolean).join(', ')),
  ];
}
