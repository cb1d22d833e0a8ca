/** An entry of a wallet, in lists and in statements. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { isoTime, money, namedObject, ownFields, text } from '../../platform/http/answer-fields.ts';
import { HOLD_STATUSES, WALLET_ENTRY_KINDS } from '../wallet-entry-rules.ts';

export const entrySchema = namedObject('WalletEntry', {
  id: text('Counts the entries of this wallet', 'entry-42'),
  at: isoTime('When the balance changed'),
  kind: z
    .enum(WALLET_ENTRY_KINDS)
    .describe(
      'HOLD: reserved for a purchase. RELEASE: a hold given back. FUNDING: money that came in. REFUND: a refund credited to the wallet. ' +
        'CREDIT: given by us. WITHDRAWAL: sent back to where it was paid from. ' +
        'DISPUTE: frozen or taken by a bank, or free again. ADJUSTMENT: anything else',
    ),
  amount: money('What was added; below zero: taken', -3790.4),
  currency: z.enum(ACCOUNT_CURRENCIES),
  balanceAfter: money('The available balance after this entry'),
  holdStatus: z
    .enum(HOLD_STATUSES)
    .nullable()
    .describe(
      'HOLD only. HELD: the purchase is open. CHARGED: it was delivered, the money is spent. RELEASED: given back',
    ),
  transactionId: text('The purchase or funding', 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11').nullable(),
  packageName: text('Of the purchase').nullable(),
  description: z.string().meta({ example: 'Paid for Nigeria 1GB 7Days' }),
  ...ownFields,
});
