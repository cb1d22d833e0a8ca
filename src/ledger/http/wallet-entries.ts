/** Every change of the wallet's balance. */
import { z } from 'zod';
import {
  answer,
  CSV,
  csvAnswer,
  CUT_WORDS,
  text,
  dataObject,
  presentOwn,
} from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { choiceField, timeField } from '../../platform/http/fields.ts';
import { limitField } from '../../platform/http/page.ts';
import { presenter } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import type { WalletCases } from '../use-cases.ts';
import { CSV_COLUMNS, MAX_CSV_ENTRIES, MAX_CSV_METADATA_CHARACTERS } from '../wallet-entries.ts';
import { WALLET_ENTRY_KINDS } from '../wallet-entry-rules.ts';
import { entrySchema } from './shared.ts';

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
      `a CSV of the newest ${MAX_CSV_ENTRIES.toLocaleString('en')} entries that match. ${CUT_WORDS}`,
    async handle({ cases, principal, query, visitor }) {
      const { limit, from, to, kind } = query;
      const command = { after: placeOf(query.after), from, to, kind };
      if (visitor.preferredType('application/json', CSV) === CSV) {
        const { csv, next } = await cases.exportWalletEntries(principal, command);
        return csvAnswer('wallet-entries', csv, next);
      }
      const { entries, hasMore } = await cases.listWalletEntries(principal, { ...command, limit });
      const items = entries.map((entry) => ({ ...entry, ...presentOwn(entry) }));
      const nextCursor = hasMore ? (items.at(-1)?.id ?? '') : '';
      return answer(presenter(entriesSchema)({ success: true, data: { items, nextCursor, hasMore } }));
    },
  }),
];
