/** Every change of the wallet's balance. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import {
  answer,
  CSV,
  csvAnswer,
  isoTime,
  money,
  text,
  namedObject,
  dataObject,
  ownFields,
  presentOwn,
} from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { choiceField, timeField } from '../../platform/http/fields.ts';
import { limitField } from '../../platform/http/page.ts';
import { presenter } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import type { WalletCases } from '../use-cases.ts';
import { CSV_COLUMNS, MAX_CSV_ENTRIES, MAX_CSV_METADATA_CHARACTERS } from '../wallet-entries.ts';
import { HOLD_STATUSES, WALLET_ENTRY_KINDS } from '../wallet-entry-rules.ts';

const routes = merchantRoutes<WalletCases>('Wallet');
const ENTRY_ID = /^entry-\d{1,15}$/;

const entriesQuery = z.object({
  after: z
    .string()
    .refine((text) => text === '' || ENTRY_ID.test(text), 'must be the nextCursor of a page')
    .optional()
    .describe('The `nextCursor` of the page before; empty means the first'),
  limit: limitField('Entries per page; a CSV has its own limit'),
  from: timeField({ description: 'Only entries from this time on' }).optional(),
  to: timeField({ description: 'Only entries before this time' }).optional(),
  kind: choiceField(WALLET_ENTRY_KINDS, { description: 'Only entries of this kind' }).optional(),
});

const entrySchema = namedObject('WalletEntry', {
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

const entriesSchema = dataObject('WalletEntries', {
  items: z.array(entrySchema),
  nextCursor: text('For `after`: the next page; empty at the end'),
  hasMore: z.boolean(),
});

const csvSchema = text(
  `The columns ${CSV_COLUMNS.join(', ')}; metadata as JSON, empty where it has more than ${MAX_CSV_METADATA_CHARACTERS} characters`,
);

/** An entry's number. */
function placeOf(after: string | undefined): bigint | undefined {
  return after ? BigInt(after.slice('entry-'.length)) : undefined;
}

export const walletEntriesRoutes: readonly Route<WalletCases>[] = [
  routes.get('/api/wallet/entries', {
    keyErrors: 'wallet',
    query: entriesQuery,
    answer: { 200: { description: 'Newest first', schema: entriesSchema, alsoAs: { [CSV]: csvSchema } } },
    operationId: 'listWalletEntries',
    summary: 'List every change of the balance',
    description:
      'The amounts of all entries add up to the balance; those of the HOLD entries that are HELD, to what is on hold. With `Accept: text/csv` ' +
      `a CSV of the newest ${MAX_CSV_ENTRIES.toLocaleString('en')} entries that match: the id of its last line, as \`after\`, continues.`,
    async handle({ cases, principal, query, visitor }) {
      const { limit, from, to, kind } = query;
      const command = { after: placeOf(query.after), from, to, kind };
      if (visitor.preferredType('application/json', CSV) === CSV)
        return csvAnswer('wallet-entries', await cases.exportWalletEntries(principal, command));
      const { entries, hasMore } = await cases.listWalletEntries(principal, { ...command, limit });
      const items = entries.map((entry) => ({ ...entry, ...presentOwn(entry) }));
      const nextCursor = hasMore ? (items.at(-1)?.id ?? '') : '';
      return answer(presenter(entriesSchema)({ success: true, data: { items, nextCursor, hasMore } }));
    },
  }),
];
