/**
 * The ways to pay that the hosted page offers, and what each does. Guarantee: pure; the test cards are those of the vendor's documentation.
 */
import { shareOf, type Payment } from '../deeds/charge.ts';
import type { Payer, RefundOutcome, TransactionRow } from '../storage/rows.ts';
import type { Way } from './page.ts';

/** What choosing a way and pressing Pay does. */
export interface Effect {
  channel: string;
  /** Declined for this reason. */
  declined?: string;
  refundOutcome?: RefundOutcome;
  payer?: Payer;
  payment?: (row: TransactionRow) => Payment;
}

interface Choice extends Way {
  effect: Effect;
}

function card(name: string, label: string, last4: string, effect: Partial<Effect> = {}): Choice {
  return {
    value: `card:${name}`,
    label: `Card ending ${last4}: ${label}`,
    effect: { channel: 'card', payer: { last4 }, ...effect },
  };
}

const CARDS: readonly Choice[] = [
  card('success', 'pays', '4081'),
  card('declined', 'declined', '5408', { declined: 'Declined' }),
  card('insufficient-funds', 'insufficient funds', '0037', { declined: 'Insufficient Funds' }),
  card('refund-fails', 'pays, a refund fails', '1803', { refundOutcome: 'failed' }),
  card('refund-needs-attention', 'pays, a refund needs attention', '1902', {
    refundOutcome: 'needs-attention',
  }),
];
const TRANSFERS: readonly Choice[] = [
  ['exact', 'the exact amount', 100] as const,
  ['short', '20 % too little', 80] as const,
  ['over', '20 % too much', 120] as const,
].map(([name, label, percent]) => ({
  value: `bank_transfer:${name}`,
  label: `Bank transfer: ${label}`,
  effect: { channel: 'bank_transfer', payment: shareOf(percent) },
}));

const NAMES: Record<string, string> = {
  apple_pay: 'Apple Pay',
  bank: 'Bank account',
  capitec_pay: 'Capitec Pay',
  eft: 'EFT',
  mobile_money: 'Mobile money',
  payattitude: 'PayAttitude',
  qr: 'QR code',
  ussd: 'USSD',
};

function choicesOf(row: TransactionRow): Choice[] {
  return (JSON.parse(row.channels) as string[]).flatMap((channel) => {
    if (channel === 'card') return CARDS;
    if (channel === 'bank_transfer') return TRANSFERS;
    return [{ value: channel, label: NAMES[channel] ?? channel, effect: { channel } }];
  });
}

/** What the page offers for this transaction. */
export function waysOf(row: TransactionRow): Way[] {
  return choicesOf(row);
}

/** What the chosen way does; the first one when nothing is chosen, undefined for what was not offered. */
export function effectOf(row: TransactionRow, way: string | null): Effect | undefined {
  const choices = choicesOf(row);
  const chosen = way === null ? choices[0] : choices.find(({ value }) => value === way);
  return chosen?.effect;
}

/** The channels in words. */
export function channelWords(row: TransactionRow): string {
  const channels = JSON.parse(row.channels) as string[];
  const words: Record<string, string> = { ...NAMES, card: 'Card', bank_transfer: 'Bank transfer' };
  return channels.map((channel) => words[channel] ?? channel).join(', ');
}
