/** Every purchase and funding of the account, and one of them. */
import { z } from 'zod';
import { isId } from '../../domain/ids.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { PAYMENT_METHODS, PURCHASE_STATUSES } from '../../domain/states.ts';
import {
  count,
  isoTime,
  money,
  text,
  yesNo,
  namedObject,
  dataObject,
  ownFields,
  presentOwn,
} from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { choiceField, idParameter, soughtField, timeField } from '../../platform/http/fields.ts';
import { MAX_REFERENCE_CHARACTERS } from '../../platform/http/limits.ts';
import {
  afterField,
  eitherPageOrAfter,
  pageFields,
  paginationSchema,
  presentPage,
  searchField,
} from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import { MAX_COUNTED } from '../transactions.ts';
import { TRANSACTION_TYPES } from '../store/list-transactions.ts';
import type { PurchaseCases } from '../use-cases.ts';
import { presentTransaction, statusSchema } from './shared.ts';

const routes = merchantRoutes<PurchaseCases>('Purchases', {
  transactionId: idParameter(
    'transaction',
    'The `transactionId` that buy or fund returned',
    'Transaction not found',
    'TRANSACTION_NOT_FOUND',
    '7c9e6679f4a84ba3a2c1f0d3b5e60a11',
  ),
});

const transactionsQuery = z
  .object({
    ...pageFields,
    status: choiceField(PURCHASE_STATUSES, { description: 'Only in this status' }).optional(),
    type: choiceField(TRANSACTION_TYPES, {
      description: 'Only new eSIMs, only top-ups, or only fundings of the wallet',
    }).optional(),
    paymentMethod: choiceField(PAYMENT_METHODS, { description: 'Only paid for in this way' }).optional(),
    from: timeField({ description: 'Only opened from this time on' }).optional(),
    to: timeField({ description: 'Only opened before this time' }).optional(),
    reference: soughtField({
      max: MAX_REFERENCE_CHARACTERS,
      description: 'Only with this reference of yours, in full',
      example: 'order-1001',
    }).optional(),
    search: searchField(
      'A transaction id, `esimId`, ICCID or reference of yours, or a part of a transaction id, ICCID or package name; empty means no filter',
    ),
    after: afterField((text) => isId('transaction', text)),
  })
  .refine(...eitherPageOrAfter);

const transactionItemSchema = namedObject('TransactionListItem', {
  transactionId: z.string().meta({ example: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11' }),
  type: z
    .enum(TRANSACTION_TYPES)
    .describe('BASE: a new eSIM. TOPUP: data for one. FUNDING: money for the wallet'),
  status: z.enum(PURCHASE_STATUSES),
  reason: text('Why, when FAILED', 'PAYMENT_EXPIRED').nullable(),
  paymentMethod: z.enum(PAYMENT_METHODS),
  amount: money('The price; of a funding, what the wallet is to get'),
  currency: z.enum(ACCOUNT_CURRENCIES),
  packageCode: text('null for a funding', 'SIM-OK').nullable(),
  packageName: z.string().nullable(),
  dataBytes: count('The data of the package, in bytes').nullable(),
  esimId: z.string().nullable().meta({ example: 'esim-0f8fad5bd9cb469fa16570867728950e' }),
  iccid: text('null until it is known').nullable(),
  ...ownFields,
  createdAt: isoTime('When it was opened'),
  closedAt: isoTime('When it succeeded or failed; null while it is open').nullable(),
});

const transactionPageSchema = dataObject('TransactionPage', {
  items: z.array(transactionItemSchema),
  pagination: paginationSchema,
  totalIsMinimum: yesNo(
    `There are more than \`totalItems\`: at most ${MAX_COUNTED.toLocaleString('en')} are counted`,
  ),
  nextCursor: text('For `after`: the next page; empty at the end'),
});

export const transactionRoutes: readonly Route<PurchaseCases>[] = [
  routes.get('/api/esim/transactions', {
    query: transactionsQuery,
    answer: [200, 'One page, newest first', transactionPageSchema],
    operationId: 'listTransactions',
    summary: 'List your purchases and fundings',
    description:
      'Every purchase and every funding of the wallet, newest first. `page` reaches the newest ' +
      `${MAX_COUNTED.toLocaleString('en')}; \`after\` reaches all.`,
    async handle({ cases, principal, query }) {
      const { search, after, ...filters } = query;
      const found = await cases.listTransactions(principal, {
        ...filters,
        search: search || undefined,
        after: after || undefined,
      });
      const { totalIsMinimum, next } = found;
      const page = presentPage(found);
      const items = page.items.map((item) => ({ ...item, ...presentOwn(item) }));
      return { ...page, items, totalIsMinimum, nextCursor: next ?? '' };
    },
  }),
  routes.get('/api/esim/transactions/{transactionId}', {
    answer: [200, 'The purchase result, or the funding, as it now stands', statusSchema],
    operationId: 'getTransaction',
    summary: 'Read a purchase or a funding',
    description:
      'The purchase result, or the funding of a wallet, as it now stands, with what happened when. Only your own can be read.',
    handle: async ({ cases, principal, params }) =>
      presentTransaction(await cases.getTransaction(principal, params.transactionId)),
  }),
];
