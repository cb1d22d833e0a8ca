/** Everything about one purchase or funding, without secrets (src/operations/store/timeline.ts names what is read). */
import { formatAmount, type Money } from '../domain/money.ts';
import type { StuckItem } from './stuck-rules.ts';
import { findTransactionId, readTimeline, type TimelineRows } from './store/timeline.ts';
import type { ActionRecord, OperatorActions } from './actions.ts';
import { findStuck, type StuckDeps } from './stuck.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import type { WorkflowState } from './engine.ts';

export interface TimelineDeps extends StuckDeps {
  readonly actions: Pick<OperatorActions, 'listFor' | 'preview'>;
}

export type TimelineSource =
  'purchase' | 'payment' | 'ledger' | 'gateway' | 'supplier' | 'webhook' | 'move' | 'workflow';

export interface TimelineLine {
  readonly at: Date;
  readonly source: TimelineSource;
  readonly what: string;
  readonly detail: string;
}

export interface Timeline {
  readonly transactionId: string;
  readonly purpose: 'purchase' | 'funding' | null;
  readonly status: string | null;
  readonly reason: string | null;
  readonly accountId: string | null;
  readonly paymentMethod: string | null;
  readonly amountMinor: bigint | null;
  readonly currency: string | null;
  readonly attention: { readonly reason: string; readonly since: Date } | null;
  readonly package: { readonly packageCode: string; readonly name: string; readonly type: string } | null;
  readonly quote: {
    readonly costUsdE4: bigint;
    readonly settingsId: string;
    readonly rateId: string | null;
  } | null;
  readonly hold: { readonly status: string; readonly amountMinor: bigint; readonly currency: string } | null;
  readonly payments: TimelineRows['payments'];
  readonly refunds: TimelineRows['refunds'];
  readonly supplier: {
    readonly asks: number;
    readonly orderNo: string | null;
    readonly esimId: string;
    readonly esimStatus: string | null;
    readonly iccid: string | null;
  } | null;
  readonly messages: TimelineRows['messages'];
  readonly moves: readonly ActionRecord[];
  /** undefined: Temporal could not be asked. */
  readonly workflows: readonly WorkflowState[] | undefined;
  readonly stuck: readonly StuckItem[];
  /** What can be done about it now. */
  readonly fits: readonly string[];
  readonly timeline: readonly TimelineLine[];
}

/** By our id, or by anything that leads to it: a gateway's reference, an eSIM's id or ICCID, a message's id. undefined: nothing of ours. */
export async function purchaseTimeline(deps: TimelineDeps, id: string): Promise<Timeline | undefined> {
  const transactionId = (await findTransactionId(deps.db, id)) ?? id;
  const rows = await readTimeline(deps.db, transactionId);
  if (!rows) return undefined;
  const [moves, preview, workflows, stuck] = await Promise.all([
    deps.actions.listFor(transactionId),
    deps.actions.preview(transactionId),
    findWorkflows(deps, transactionId),
    findStuck(deps, { transactionId }),
  ]);
  const { purchase, funding, hold } = rows;
  const row = purchase ?? funding;
  return {
    transactionId,
    purpose: purchase ? 'purchase' : funding ? 'funding' : null,
    status: row?.status ?? null,
    reason: row?.reason ?? null,
    accountId: row?.account_id ?? hold?.account_id ?? null,
    paymentMethod: row?.payment_method ?? null,
    amountMinor: purchase?.price_minor ?? funding?.amount_minor ?? hold?.amount_minor ?? null,
    currency: row?.currency ?? hold?.currency ?? null,
    attention: attentionOf(rows),
    ...itemOf(rows),
    hold: hold ? { status: hold.status, amountMinor: hold.amount_minor, currency: hold.currency } : null,
    payments: rows.payments,
    refunds: rows.refunds,
    messages: rows.messages,
    moves,
    workflows,
    stuck: stuck.items,
    fits: preview?.fits ?? [],
    timeline: timelineOf(rows, moves, workflows ?? []),
  };
}

async function findWorkflows(
  { workflows }: TimelineDeps,
  transactionId: string,
): Promise<readonly WorkflowState[] | undefined> {
  try {
    return await workflows.ofTransaction(transactionId);
  } catch (error) {
    if (error instanceof EngineUnavailable) return undefined;
    throw error;
  }
}

function attentionOf({ purchase, funding }: TimelineRows): Timeline['attention'] {
  const row = purchase ?? funding;
  if (!row?.needs_attention_since) return null;
  return { reason: row.attention_reason ?? '', since: row.needs_attention_since };
}

function itemOf({ purchase, esim }: TimelineRows): Pick<Timeline, 'package' | 'quote' | 'supplier'> {
  if (!purchase) return { package: null, quote: null, supplier: null };
  return {
    package: {
      packageCode: purchase.package_code,
      name: purchase.package_name,
      type: purchase.package_type,
    },
    quote: {
      costUsdE4: purchase.cost_usd_e4,
      settingsId: purchase.settings_id,
      rateId: purchase.rate_id,
    },
    supplier: {
      asks: purchase.supplier_asks,
      orderNo: purchase.supplier_order_no ?? (esim?.order_no || null),
      esimId: purchase.esim_id,
      esimStatus: esim?.status ?? null,
      iccid: purchase.top_up_iccid ?? (esim?.iccid || null),
    },
  };
}

/** Oldest first; what happened at one moment stands in the order of the rows. */
function timelineOf(
  rows: TimelineRows,
  moves: readonly ActionRecord[],
  workflows: readonly WorkflowState[],
): TimelineLine[] {
  return [
    ...workflows.flatMap(workflowLines),
    ...rows.events.map((event) => line(event.at, 'purchase', event.what, event.detail)),
    ...rows.payments.flatMap(paymentLines),
    ...rows.gatewayEvents.flatMap(gatewayLines),
    ...ledgerLines(rows.entries),
    ...rows.refunds.flatMap(refundLines),
    ...rows.messages.flatMap(messageLines),
    ...rows.attempts.map((attempt) =>
      line(
        attempt.at,
        'webhook',
        `attempt ${attempt.attempt}`,
        `${attempt.message_id}: ${attempt.outcome}${attempt.status === null ? '' : ` ${attempt.status}`}, ${attempt.ms} ms`,
      ),
    ),
    ...moves.flatMap(moveLines),
  ].toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

function line(at: Date, source: TimelineSource, what: string, detail: string | null): TimelineLine {
  return { at, source, what, detail: detail ?? '' };
}

function workflowLines(state: WorkflowState): TimelineLine[] {
  const { workflowId, type, status, startedAt, closedAt, historyEvents } = state;
  return [
    line(startedAt, 'workflow', 'started', `${type} ${workflowId}`),
    ...(closedAt
      ? [
          line(
            closedAt,
            'workflow',
            status.toLowerCase(),
            `${type} ${workflowId}, ${historyEvents} events of history`,
          ),
        ]
      : []),
  ];
}

function paymentLines(payment: TimelineRows['payments'][number]): TimelineLine[] {
  const { reference, created_at, looked_at, gateway_status } = payment;
  return [
    line(created_at, 'payment', 'asked-for', `${reference}, ${payment.method}`),
    ...(looked_at
      ? [line(looked_at, 'gateway', 'last-look', `${reference}: ${gateway_status ?? 'nothing new'}`)]
      : []),
  ];
}

function gatewayLines(event: TimelineRows['gatewayEvents'][number]): TimelineLine[] {
  return [
    line(event.received_at, 'gateway', event.type, `event-${event.id} received`),
    ...(event.applied_at
      ? [line(event.applied_at, 'gateway', event.type, `event-${event.id}: ${event.note ?? ''}`)]
      : []),
  ];
}

/** One line an operation: what it moved, where. */
function ledgerLines(entries: TimelineRows['entries']): TimelineLine[] {
  return [...Map.groupBy(entries, (entry) => entry.operation_key)].flatMap(([key, booked]) => {
    const [first] = booked;
    if (!first) return [];
    const moved = booked.map((entry) => `${entry.account} ${signed(entry.amount_minor, entry.currency)}`);
    return [line(first.at, 'ledger', first.kind, `${key}: ${moved.join(', ')}`)];
  });
}

function signed(amountMinor: bigint, currency: string): string {
  return `${amountMinor > 0n ? '+' : ''}${formatAmount({ amountMinor, currency })}`;
}

function refundLines(refund: TimelineRows['refunds'][number]): TimelineLine[] {
  const { refund_key: key, created_at, asked_at, status, gateway_status } = refund;
  return [
    line(created_at, 'payment', 'refund-due', `${key}: ${written(refund)}`),
    ...(asked_at
      ? [line(asked_at, 'gateway', 'refund-asked', `${key}: ${status}, ${gateway_status ?? 'no word yet'}`)]
      : []),
  ];
}

const written = ({ amount_minor: amountMinor, currency }: TimelineRows['refunds'][number]): string =>
  `${currency} ${formatAmount({ amountMinor, currency } satisfies Money)}`;

function messageLines(message: TimelineRows['messages'][number]): TimelineLine[] {
  const about = `${message.id} to ${message.host}`;
  return [
    line(message.created_at, 'webhook', message.event, about),
    ...(message.closed_at ? [line(message.closed_at, 'webhook', message.status.toLowerCase(), about)] : []),
  ];
}

function moveLines(move: ActionRecord): TimelineLine[] {
  const said = `by ${move.by}: ${move.reason}`;
  const ended = [move.status, move.refusal, move.detail].filter(Boolean).join(', ');
  return [
    line(move.createdAt, 'move', move.move, said),
    ...(move.closedAt ? [line(move.closedAt, 'move', move.move, ended)] : []),
  ];
}
