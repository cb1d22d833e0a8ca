/** Fields and shapes of papers that merchants and operators both read. */
import { z } from 'zod';
import { INVOICE_KINDS, isMonth } from '../../domain/papers.ts';
import { PAYMENT_METHODS, PURCHASE_STATUSES } from '../../domain/states.ts';
import {
  count,
  dataObject,
  isoTime,
  money,
  namedObject,
  percent,
  text,
  yesNo,
} from '../../platform/http/answer-fields.ts';
import { nameTextField } from '../../platform/http/fields.ts';
import { limitField } from '../../platform/http/page.ts';
import type { PathParameter } from '../../platform/http/route.ts';
import { WALLET_ENTRY_KINDS } from '../../ledger/wallet-entry-rules.ts';
import { entrySchema } from '../../ledger/http/shared.ts';
import { LINE_KINDS } from '../invoice-rules.ts';

export const monthParameter: PathParameter = {
  description: 'A month of UTC',
  example: '2026-01',
  isPossible: isMonth,
  notFound: { code: 'NOT_FOUND', message: 'No such month: write it as 2026-01' },
};

export const monthField = z
  .string()
  .refine(isMonth, 'must be a month such as 2026-01')
  .optional()
  .meta({ description: 'Only of this month', example: '2026-01' });

export const numberParameter: PathParameter = {
  description: 'The number of an invoice or credit note',
  example: '2026-000123',
  isPossible: (given) => /^(CN-)?20\d\d-\d{6,9}$/.test(given),
  notFound: { code: 'NOT_FOUND', message: 'No such invoice' },
};

/** Postal addresses have fewer lines, and a line of a letter is shorter. */
const MAX_ADDRESS_LINES = 6;
const MAX_LINE_CHARACTERS = 100;
const MAX_NAME_CHARACTERS = 200;
/** Longer than those of any country. */
const MAX_TAX_NUMBER_CHARACTERS = 50;

/** Who sells or buys, in a request. */
export const partyFields = {
  legalName: nameTextField({
    max: MAX_NAME_CHARACTERS,
    description: 'As papers name it',
    example: 'Ada Travel Ltd',
  }),
  addressLines: z
    .array(nameTextField({ max: MAX_LINE_CHARACTERS, description: 'One line', example: '1 Marina Road' }))
    .min(1, 'must have at least one line')
    .max(MAX_ADDRESS_LINES, `must have at most ${MAX_ADDRESS_LINES} lines`)
    .describe(`The postal address without the country, 1 to ${MAX_ADDRESS_LINES} lines`),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be a country code of two capital letters')
    .meta({ description: 'ISO 3166-1 alpha-2', example: 'NG' }),
  taxNumber: nameTextField({
    max: MAX_TAX_NUMBER_CHARACTERS,
    description: 'As the tax office gave it; null: none',
    example: '12345678-0001',
  }).nullable(),
};

const party = {
  legalName: text('As the paper names it', 'Ada Travel Ltd'),
  addressLines: z.array(z.string()),
  country: text('ISO 3166-1 alpha-2; null: not known', 'NG').nullable(),
  taxNumber: text('Null: none').nullable(),
};
export const sellerSchema = namedObject('Seller', party);
const buyerSchema = namedObject('Buyer', { ...party, email: z.string().nullable() });

/** null: the account has set none. */
export const detailsShape = {
  legalName: party.legalName,
  addressLines: party.addressLines,
  country: text('ISO 3166-1 alpha-2', 'NG'),
  taxNumber: party.taxNumber,
};

const invoiceShape = {
  number: text('Without gaps in each year; credit notes begin with CN', '2026-000123'),
  kind: z
    .enum(INVOICE_KINDS)
    .describe('CREDIT_NOTE: it takes back an invoice, or more came back than was sold'),
  month: text('Whose sales it names', '2026-01'),
  currency: text('Of all its amounts', 'NGN'),
  issuedAt: isoTime('ISO 8601'),
  gross: money('What was sold less what was given back; the tax is included'),
  net: money('Without the tax'),
  tax: money('The tax in it'),
  taxName: text('What the tax is called', 'VAT'),
  taxRatePercent: percent('On the net amount', 7.5),
  corrects: text('The invoice that this credit note takes back').nullable(),
};

export const listedInvoice = namedObject('ListedInvoice', invoiceShape);

export const invoiceSchema = dataObject('Invoice', {
  ...invoiceShape,
  reason: text('Of a correction').nullable(),
  seller: sellerSchema,
  buyer: buyerSchema,
  lines: z.array(
    namedObject('InvoiceLine', {
      kind: z.enum(LINE_KINDS),
      packageName: z.string().nullable(),
      quantity: count('Purchases, or corrections'),
      gross: money('With the tax; all lines together are the gross of the invoice'),
    }),
  ),
});

export const statementSchema = dataObject('Statement', {
  month: text('UTC', '2026-01'),
  currency: text('Of the wallet', 'NGN'),
  isFinal: yesNo('The month is closed: nothing will be added'),
  opening: money('The balance at its beginning: the closing balance of the month before'),
  closing: money('The balance at its end, or now'),
  kinds: z.array(
    namedObject('StatementKind', {
      kind: z.enum(WALLET_ENTRY_KINDS),
      entries: count('How many'),
      amount: money('Their sum'),
    }),
  ),
  items: z.array(entrySchema).describe('Oldest first; `balanceAfter` counts from the opening balance'),
  nextCursor: text('For `after`: the next page; empty at the end'),
  hasMore: z.boolean(),
});

export const receiptSchema = dataObject('Receipt', {
  transactionId: text('Its number', 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11'),
  purpose: z.enum(['PURCHASE', 'FUNDING']),
  status: z.enum(PURCHASE_STATUSES),
  paymentMethod: z.enum(PAYMENT_METHODS),
  packageName: z.string().nullable(),
  iccid: z.string().nullable(),
  currency: text('Of all its amounts', 'NGN'),
  createdAt: isoTime('ISO 8601'),
  closedAt: isoTime('ISO 8601; null while it is open').nullable(),
  lines: z
    .array(
      z.object({
        at: isoTime('When it was booked'),
        description: z.string().meta({ example: 'Nigeria 1GB 7Days' }),
        amount: money('Below zero: given back'),
      }),
    )
    .describe('Charges, and what was given back later. None: nothing was charged'),
  total: money('The sum of the lines; the tax is included'),
  tax: money('The tax in the total'),
  taxName: text('Null: there is none on the paper', 'VAT').nullable(),
  taxRatePercent: percent('Null: there is none on the paper', 7.5).nullable(),
  seller: z.object(party).nullable(),
  buyer: buyerSchema,
});

const ENTRY_ID = /^entry-\d{1,15}$/;

/** Of a statement's pages. */
export const statementQuery = {
  after: z
    .string()
    .refine((given) => given === '' || ENTRY_ID.test(given), 'must be the nextCursor of a page')
    .transform((given) => (given === '' ? undefined : BigInt(given.slice('entry-'.length))))
    .optional()
    .meta({ type: 'string', description: 'The `nextCursor` of the page before; empty means the first' }),
  limit: limitField('Entries per page; files have their own limit'),
};
