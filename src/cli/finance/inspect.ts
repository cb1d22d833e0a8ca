/** `stuck` and `show`: what needs attention, and everything about one purchase. */
import { z } from 'zod';
import { nextActionOf, stuckRule, type StuckItem } from '../../operations/stuck-rules.ts';
import { findStuck } from '../../operations/stuck.ts';
import { purchaseTimeline, type Timeline } from '../../operations/timeline.ts';
import { OperatorMistake } from '../../platform/command.ts';
import { addFinanceCommand, type FinanceGroup } from './group.ts';
import { age, moment, money, type Output } from './output.ts';
import { FILTER, STUCK_COLUMNS, stuckRow, toFilter } from './targets.ts';

export function addInspectCommands(group: FinanceGroup): void {
  addFinanceCommand(group, {
    syntax: 'stuck',
    summary: 'Lists stuck purchases and payments',
    help: `Lists stuck purchases and payments, with what to do next. --json prints an array of
{transactionId, class, ageSeconds, amountMinor, currency, reason, nextAction}`,
    options: z.object(FILTER),
    run: async ({ options, world, out }) => {
      const { items, isCut, temporalAsked } = await findStuck(world.stuck, toFilter(options));
      if (!temporalAsked) out.note('Temporal is not reachable: workflow-gone is left out');
      if (isCut) out.note('The list is cut: it holds the longest stuck');
      out.json(items);
      printStuck(out, items);
      return 0;
    },
  });
  addFinanceCommand(group, {
    syntax: 'show <id>',
    summary: 'Shows one purchase or funding, with its timeline',
    help: `Shows one purchase or funding, with a timeline of everything that happened. Takes its transaction id, a gateway's
reference, an eSIM's id or ICCID, or a webhook message's id`,
    options: z.object({}),
    run: async ({ args: [id = ''], world, out }) => {
      const timeline = await purchaseTimeline({ ...world.stuck, actions: world.actions }, id);
      if (!timeline) throw new OperatorMistake(`No purchase found with the id ${id}`);
      out.json(timeline);
      printTimeline(out, timeline);
      return 0;
    },
  });
}

function printStuck(out: Output, items: readonly StuckItem[]): void {
  if (items.length === 0) {
    out.line('nothing is stuck');
    return;
  }
  out.table(
    [...STUCK_COLUMNS, 'NEXT'],
    items.map((item) => [...stuckRow(item), stuckRule(item.class).command]),
  );
  out.line('');
  for (const [stuckClass, same] of Map.groupBy(items, (item) => item.class)) {
    out.line(`${same.length} ${stuckClass}: ${stuckRule(stuckClass).meaning}`);
    out.line(`  ${nextActionOf(stuckClass)}`);
  }
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
  const { attention, package: item, supplier, hold, quote, workflows } = timeline;
  const attempts = supplier?.attempts === 1 ? '1 attempt' : `${supplier?.attempts ?? 0} attempts`;
  return [
    [timeline.purpose ?? 'id', timeline.transactionId],
    ['status', [timeline.status, timeline.reason].filter(Boolean).join(', ')],
    ['attention', attention ? `${attention.reason} since ${moment(attention.since)}` : ''],
    ['account', timeline.accountId ?? ''],
    ['amount', `${money(timeline.amountMinor, timeline.currency)}, ${timeline.paymentMethod ?? ''}`],
    ['package', item ? `${item.packageCode} ${item.name}, ${item.type}` : ''],
    ['cost', quote ? money(quote.costUsdE4, 'USD4') : ''],
    ['hold', hold ? `${hold.status} ${money(hold.amountMinor, hold.currency)}` : ''],
    ...timeline.payments.map((payment) => ['payment', describePayment(payment)] as const),
    ...timeline.refunds.map(
      ({ refund_key: key, status, amount_minor: amountMinor, currency }) =>
        ['refund', `${key}: ${status}, ${money(amountMinor, currency)}`] as const,
    ),
    [
      'supplier',
      supplier
        ? `order ${supplier.orderNo ?? 'unknown'}, ${attempts}, eSIM ${supplier.esimStatus ?? ''} ${supplier.iccid ?? ''}`.trimEnd()
        : '',
    ],
    ...(workflows?.map(({ workflowId, status, needsAttention, reason }) => {
      const attentionText = needsAttention ? `, needs attention: ${reason ?? ''}` : '';
      return ['workflow', `${workflowId}: ${status}${attentionText}`] as const;
    }) ?? [['workflow', 'Temporal is not reachable'] as const]),
    ['available actions', timeline.fits.join(', ')],
    ...timeline.stuck.map(
      ({ class: stuckClass, ageSeconds, reason, nextAction }) =>
        ['stuck', `${stuckClass} for ${age(ageSeconds)}, ${reason}: ${nextAction}`] as const,
    ),
  ];
}

function describePayment(payment: Timeline['payments'][number]): string {
  const { reference, status, charge_currency: currency, gateway_status: atGateway } = payment;
  const requested = money(payment.charge_minor, currency);
  const places = {
    received: payment.received_minor,
    'vouched for': payment.vouched_minor,
    used: payment.used_minor,
    'in the wallet': payment.credited_minor,
    'in open refunds': payment.refunding_minor,
    'sent back': payment.refunded_minor,
    'taken back': payment.reversed_minor,
    disputed: payment.disputed_minor,
  };
  const booked = Object.entries(places).flatMap(([place, minor]) =>
    minor === 0n ? [] : [`${place} ${money(minor, currency)}`],
  );
  const account = booked.length === 0 ? 'nothing received' : booked.join(', ');
  return `${reference}: ${status}, requested ${requested}, ${account}, status at the gateway: ${atGateway ?? 'unknown'}`;
}
