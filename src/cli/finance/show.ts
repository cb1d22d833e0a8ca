/** `show`: one purchase or funding told whole, with a timeline of everything that happened, ours and the vendors'. */
import { z } from 'zod';
import { purchaseTimeline, type Timeline } from '../../operations/timeline.ts';
import { OperatorMistake } from '../operator-mistake.ts';
import { defineCommand } from './command.ts';
import { age, moment, money, type Output } from './output.ts';

export const showCommand = defineCommand({
  name: 'show',
  usage: '<transactionId>',
  help: `one purchase or funding, with a timeline of everything that happened. A gateway's reference, an eSIM's id or ICCID,
or a message's id leads to it as well`,
  words: [1, 1],
  flags: z.object({}),
  run: async ({ words: [id = ''], world, out }) => {
    const story = await purchaseTimeline({ ...world.stuck, actions: world.actions }, id);
    if (!story) throw new OperatorMistake(`nothing of ours goes by ${id}`);
    out.json(story);
    if (!out.isJson) tell(out, story);
    return 0;
  },
});

function tell(out: Output, story: Timeline): void {
  for (const [name, value] of headOf(story)) if (value !== '') out.line(`${name.padEnd(12)} ${value}`);
  for (const item of story.stuck)
    out.line(
      `${'stuck'.padEnd(12)} ${item.class} for ${age(item.ageSeconds)}, ${item.reason}: ${item.nextAction}`,
    );
  out.line('');
  out.table(
    ['AT', 'BY', 'WHAT', 'DETAIL'],
    story.timeline.map((line) => [moment(line.at), line.source, line.what, line.detail]),
  );
}

function headOf(story: Timeline): [string, string][] {
  const { attention, package: goods, supplier, hold, quote, workflows } = story;
  return [
    [story.purpose ?? 'id', story.transactionId],
    ['status', [story.status, story.reason].filter(Boolean).join(', ')],
    ['attention', attention ? `${attention.reason} since ${moment(attention.since)}` : ''],
    ['account', story.accountId ?? ''],
    ['amount', `${money(story.amountMinor, story.currency)}, ${story.paymentMethod ?? ''}`],
    ['package', goods ? `${goods.packageCode} ${goods.name}, ${goods.type}` : ''],
    ['cost', quote ? money(quote.costUsdE4, 'USD4') : ''],
    ['hold', hold ? `${hold.status} ${money(hold.amountMinor, hold.currency)}` : ''],
    ...story.payments.map((payment): [string, string] => [
      'payment',
      `${payment.reference}: ${payment.status}, asked ${money(payment.charge_minor, payment.charge_currency)}, booked ${money(payment.booked_minor, payment.booked_currency ?? payment.charge_currency)}, the gateway says ${payment.gateway_status ?? 'nothing'}`,
    ]),
    ...story.refunds.map((refund): [string, string] => [
      'refund',
      `${refund.refund_key}: ${refund.status}, ${money(refund.amount_minor, refund.currency)}`,
    ]),
    [
      'supplier',
      supplier
        ? `order ${supplier.orderNo ?? 'unknown'}, asked ${supplier.asks} times, eSIM ${supplier.esimStatus ?? ''} ${supplier.iccid ?? ''}`.trimEnd()
        : '',
    ],
    ...(workflows === undefined
      ? [['workflow', 'Temporal could not be asked'] as [string, string]]
      : workflows.map((state): [string, string] => [
          'workflow',
          `${state.workflowId}: ${state.status}${state.needsAttention ? `, needs attention: ${state.reason ?? ''}` : ''}`,
        ])),
    ['fits now', story.fits.join(', ')],
  ];
}
