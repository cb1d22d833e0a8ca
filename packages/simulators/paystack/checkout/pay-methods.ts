/**
 * The ways to pay that the hosted page offers, and what each does. The test cards are those of the vendor's
 * documentation.
 */
import { shareOf, type Payment } from '../actions/charge.ts';
import { CHANNEL_NAMES } from '../rules.ts';
import type { Payer, TransactionRow } from '../storage.ts';

/** A choice on the page, and what pressing Pay then does. */
export interface PayMethod {
  value: string;
  label: string;
  channel: string;
  /** Declined for this reason. */
  declined?: string;
  refundOutcome?: TransactionRow['refundOutcome'];
  payer?: Payer;
  payment?: (row: TransactionRow) => Payment;
}

function card(name: string, label: string, last4: string, effect: Partial<PayMethod> = {}): PayMethod {
  const shown = { value: `card:${name}`, label: `Card ending ${last4}: ${label}` };
  return { ...shown, channel: 'card', payer: { last4 }, ...effect };
}

const CARDS: readonly PayMethod[] = [
  card('success', 'pays', '4081'),
  card('declined', 'declined', '5408', { declined: 'Declined' }),
  card('insufficient-funds', 'insufficient funds', '0037', { declined: 'Insufficient Funds' }),
  card('refund-fails', 'pays, a refund fails', '1803', { refundOutcome: 'failed' }),
  card('refund-needs-attention', 'pays, a refund needs attention', '1902', {
    refundOutcome: 'needs-attention',
  }),
];
const TRANSFERS: readonly PayMethod[] = [
  ['exact', 'the exact amount', 100] as const,
  ['short', '20 % too little', 80] as const,
  ['over', '20 % too much', 120] as const,
].map(([name, label, percent]) => ({
  value: `bank_transfer:${name}`,
  label: `Bank transfer: ${label}`,
  channel: 'bank_transfer',
  payment: shareOf(percent),
}));

/** What the page offers for this transaction. */
export function methodsOf(row: TransactionRow): PayMethod[] {
  return row.channels.flatMap((channel) => {
    if (channel === 'card') return CARDS;
    if (channel === 'bank_transfer') return TRANSFERS;
    return [{ value: channel, label: CHANNEL_NAMES[channel], channel }];
  });
}

/** The chosen method; the first one when nothing is chosen, undefined for what was not offered. */
export function chosenMethod(row: TransactionRow, chosen: string | null): PayMethod | undefined {
  const methods = methodsOf(row);
  return chosen === null ? methods[0] : methods.find(({ value }) => value === chosen);
}

/** The channels in words. */
export function channelWords(row: TransactionRow): string {
  return row.channels.map((channel) => CHANNEL_NAMES[channel]).join(', ');
}
