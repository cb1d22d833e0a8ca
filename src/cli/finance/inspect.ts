/** `stuck` and `show`: what needs attention, and everything about one purchase. */
import { dataOf } from 'simway-client';
import type { components } from 'simway-client/generated/ops.ts';
import { z } from 'zod';
import { stuckRule } from '../../operations/stuck-rules.ts';
import { financeCommand } from './group.ts';
import { age, moment, money, type Output } from './output.ts';
import { FILTER, findStuck, STUCK_COLUMNS, stuckRow, type StuckItem } from './targets.ts';

type Timeline = components['schemas']['PurchaseTimeline']['data'];

export const INSPECT = [
  financeCommand({
    syntax: 'stuck',
    summary: 'Lists stuck purchases and payments',
    help: `Lists stuck purchases and payments, with what to do next. --json prints an array of
{transactionId, class, ageSeconds, amount, currency, reason, nextAction}`,
    options: z.object(FILTER),
    run: async ({ options, ops, out }) => {
      const { items, isCut, temporalAsked } = await findStuck(ops, options);
      if (!temporalAsked) out.note('Temporal is not reachable: workflow-gone is left out');
      if (isCut) out.note('The list is cut: it holds the longest stuck');
      out.json(items);
      printStuck(out, items);
    },
  }),
  financeCommand({
    syntax: 'show <id>',
    summary: 'Shows one purchase, funding or batch repair',
    help: `Shows one purchase or funding, with a timeline of everything that happened. Takes its transaction id, a gateway's
reference, an eSIM's id or ICCID, or a webhook message's id. Of a batch repair it shows its items`,
    options: z.object({}),
    run: async ({ args: [id = ''], ops, out }) => {
      if (id.startsWith('repair-')) {
        const repair = await dataOf(
          ops.GET('/ops/batch-repairs/{repairId}', { params: { path: { repairId: id } } }),
        );
        out.json(repair);
        printRepair(out, repair);
        return;
      }
      const path = { transactionId: id };
      const timeline = await dataOf(ops.GET('/ops/purchases/{transactionId}', { params: { path } }));
      out.json(timeline);
      printTimeline(out, timeline);
    },
  }),
];

function printStuck(out: Output, items: readonly StuckItem[]): void {
  if (items.length === 0) {
    out.line('nothing is stuck');
    return;
  }
  out.table(
    [...STUCK_COLUMNS, 'NEXT'],
    items.map((item) => [...stuckRow(item), item.nextAction.split(':')[0] ?? '']),
  );
  out.line('');
  for (const [stuckClass, same] of Map.groupBy(items, (item) => item.class)) {
    const { meaning, next } = stuckRule(stuckClass);
    out.line(`${same.length} ${stuckClass}: ${meaning}`);
    out.line(`  ${next}`);
  }
}

function printRepair(out: Output, repair: components['schemas']['BatchRepairDetails']['data']): void {
  const { status, result, counts, totals, decidedBy } = repair;
  const ended = Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name}`]));
  const facts = [
    ['repair', repair.repairId],
    ['action', repair.action],
    ['status', [status, result?.replaceAll('-', ' ')].filter(Boolean).join(', ')],
    ['items', ended.join(', ')],
    ...totals.map(({ amount, movedAmount, currency }) => [
      'amount',
      `${money(movedAmount, currency)} of ${money(amount, currency)} moved`,
    ]),
    ['requested', `${repair.by}, ${moment(repair.createdAt)}: ${repair.reason}`],
    ['decided', decidedBy === null ? '' : `${decidedBy}, ${moment(repair.decidedAt)}`],
  ];
  for (const [name = '', value = ''] of facts) if (value !== '') out.line(`${name.padEnd(17)} ${value}`);
  out.line('');
  out.table(
    ['TRANSACTION', 'CLASS', 'AMOUNT', 'MOVED', 'RESULT', 'DETAIL'],
    repair.items.map((item) => [
      ...[item.transactionId, item.class, money(item.amount, item.currency)],
      ...[money(item.movedAmount, item.currency), item.status, item.detail ?? item.preview],
    ]),
  );
}

function printTimeline(out: Output, timeline: Timeline): void {
  for (const [name, value] of headOf(timeline)) if (value !== '') out.line(`${name.padEnd(17)} ${value}`);
  out.line('');
  out.table(
    ['AT', 'BY', 'WHAT', 'DETAIL'],
    timeline.timeline.map((line) => [moment(line.at), line.source, line.what, line.detail]),
  );
}

function headOf(timeline: Timeline): (readonly [name: string, value: string])[] {
  const { attention, package: item, supplier, hold, workflows } = timeline;
  const attempts = supplier?.attempts === 1 ? '1 attempt' : `${supplier?.attempts ?? 0} attempts`;
  return [
    [timeline.purpose ?? 'id', timeline.transactionId],
    ['status', [timeline.status, timeline.reason].filter(Boolean).join(', ')],
    ['needs attention', attention ? `${attention.reason} since ${moment(attention.since)}` : ''],
    ['account', timeline.accountId ?? ''],
    ['amount', `${money(timeline.amount, timeline.currency)}, ${timeline.paymentMethod ?? ''}`],
    ['package', item ? `${item.packageCode} ${item.name}, ${item.type}` : ''],
    ['cost', money(supplier?.costUsd, 'USD4')],
    ['hold', hold ? `${hold.status} ${money(hold.amount, hold.currency)}` : ''],
    ...timeline.payments.map((payment) => ['payment', describePayment(payment)] as const),
    ...timeline.refunds.map(
      ({ refundKey, status, amount, currency }) =>
        ['refund', `${refundKey}: ${status}, ${money(amount, currency)}`] as const,
    ),
    ...timeline.disputes.map(
      ({ disputeId, amount, currency, outcome }) =>
        ['dispute', `${disputeId}: ${outcome ?? 'open'}, ${money(amount, currency)}`] as const,
    ),
    [
      'supplier',
      supplier
        ? `order ${supplier.orderNo ?? 'unknown'}, ${attempts}, eSIM ${supplier.esimStatus ?? ''} ${supplier.iccid ?? ''}`.trimEnd()
        : '',
    ],
    ...(workflows?.map(({ workflowId, status }) => ['workflow', `${workflowId}: ${status}`] as const) ?? [
      ['workflow', 'Temporal is not reachable'] as const,
    ]),
    ['available actions', timeline.fits.join(', ')],
    ...timeline.stuck.map(
      ({ class: stuckClass, ageSeconds, reason, nextAction }) =>
        ['stuck', `${stuckClass} for ${age(ageSeconds)}, ${reason}: ${nextAction}`] as const,
    ),
  ];
}

function describePayment(payment: Timeline['payments'][number]): string {
  const { reference, status, amount, currency, bookedAmount, bookedCurrency, gatewayStatus } = payment;
  const word =
    payment.markedPaidAmount === 0
      ? ''
      : `, of it ${money(payment.markedPaidAmount, currency)} on a person’s word`;
  const received =
    bookedCurrency === null ? 'nothing received' : `received ${money(bookedAmount, bookedCurrency)}`;
  return `${reference}: ${status}, requested ${money(amount, currency)}, ${received}${word}, status at the gateway: ${gatewayStatus ?? 'unknown'}`;
}
