/** Papers of the account that asks: statements, invoices, receipts, and whom they name. */
import { z } from 'zod';
import {
  answer,
  CSV,
  csvAnswer,
  CUT_WORDS,
  dataObject,
  namedObject,
  PDF,
  pdfAnswer,
  pdfSchema,
  text,
  yesNo,
} from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { idParameter } from '../../platform/http/fields.ts';
import { pageFields, pageSchema, presentPage } from '../../platform/http/page.ts';
import { presenter } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import { MAX_CSV_ENTRIES } from '../../ledger/wallet-entries.ts';
import { INVOICE_COLUMNS, invoiceCsv } from '../invoices.ts';
import { STATEMENT_COLUMNS } from '../statement.ts';
import type { BillingCases } from '../use-cases.ts';
import { presentReceipt, presentStatement } from './present.ts';
import {
  detailsShape,
  invoiceSchema,
  listedInvoice,
  monthField,
  monthParameter,
  numberParameter,
  partyFields,
  receiptSchema,
  statementQuery,
  statementSchema,
} from './shared.ts';

const routes = merchantRoutes<BillingCases>('Papers', {
  month: monthParameter,
  number: numberParameter,
  transactionId: idParameter(
    'transaction',
    'The `transactionId` that buy or fund returned',
    'Transaction not found',
    'TRANSACTION_NOT_FOUND',
    '7c9e6679f4a84ba3a2c1f0d3b5e60a11',
  ),
});

const detailsBody = namedObject('BillingDetailsRequest', {
  ...partyFields,
  papersByMail: z
    .boolean('must be true or false')
    .describe('Send a mail to the address of the account whenever an invoice is written'),
});

const detailsSchema = dataObject('BillingDetails', {
  details: namedObject('BillingDetailsSet', {
    ...detailsShape,
    papersByMail: yesNo('A mail is sent for each invoice'),
  }).nullable(),
});

const DETAILS = '/api/wallet/billing-details';

export const paperRoutes: readonly Route<BillingCases>[] = [
  routes.get('/api/wallet/statements/{month}', {
    query: z.object(statementQuery),
    keyErrors: 'wallet',
    answer: {
      200: {
        description: 'The statement',
        schema: statementSchema,
        alsoAs: { [CSV]: text(`The columns ${STATEMENT_COLUMNS.join(', ')}`), [PDF]: pdfSchema },
      },
    },
    operationId: 'getStatement',
    summary: 'Read the statement of a month',
    description:
      'Opening balance, every entry, and closing balance of the wallet in a month (UTC). Of the present month: so far. Once we have closed a ' +
      `month, nothing is added to it. With \`Accept: text/csv\` or \`Accept: application/pdf\` as a file. A CSV has at most ${MAX_CSV_ENTRIES.toLocaleString('en')} ` +
      `entries. ${CUT_WORDS}`,
    async handle({ cases, principal, params: { month }, query: { after, limit }, visitor }) {
      const type = visitor.preferredType('application/json', CSV, PDF);
      if (type === PDF) return pdfAnswer(`statement-${month}`, await cases.printStatement(principal, month));
      if (type === CSV) {
        const { csv, next } = await cases.exportStatement(principal, { month, after });
        return csvAnswer(`statement-${month}`, csv, next);
      }
      const statement = await cases.getStatement(principal, { month, after, limit });
      return answer(presenter(statementSchema)({ success: true, data: presentStatement(statement) }));
    },
  }),
  routes.get('/api/wallet/invoices', {
    query: z.object({ ...pageFields, month: monthField }),
    keyErrors: 'wallet',
    answer: [200, 'One page, newest first', pageSchema(listedInvoice, 'InvoicePage')],
    operationId: 'listInvoices',
    summary: 'List your invoices and credit notes',
    description:
      'One for each month with sales, written when we close the month. Its amounts are paid already: nothing is due.',
    handle: async ({ cases, principal, query }) => presentPage(await cases.listInvoices(principal, query)),
  }),
  routes.get('/api/wallet/invoices/{number}', {
    keyErrors: 'wallet',
    answer: {
      200: {
        description: 'The invoice',
        schema: invoiceSchema,
        alsoAs: { [CSV]: text(`The columns ${INVOICE_COLUMNS.join(', ')}`), [PDF]: pdfSchema },
      },
    },
    operationId: 'getInvoice',
    summary: 'Read an invoice or a credit note',
    description:
      'It never changes: a credit note corrects it. With `Accept: text/csv` or `Accept: application/pdf` as a file.',
    async handle({ cases, principal, params: { number }, visitor }) {
      const type = visitor.preferredType('application/json', CSV, PDF);
      if (type === PDF) return pdfAnswer(`invoice-${number}`, await cases.printInvoice(principal, number));
      const invoice = await cases.getInvoice(principal, number);
      if (type === CSV) return csvAnswer(`invoice-${number}`, invoiceCsv(invoice));
      return answer(presenter(invoiceSchema)({ success: true, data: invoice }));
    },
  }),
  routes.get('/api/esim/transactions/{transactionId}/receipt', {
    answer: {
      200: { description: 'The receipt', schema: receiptSchema, alsoAs: { [PDF]: pdfSchema } },
    },
    operationId: 'getReceipt',
    summary: 'Read the receipt of a purchase or a funding',
    description:
      'What was charged, and what was given back later, as it now stands. Its number is the `transactionId`. With `Accept: application/pdf` as a file.',
    async handle({ cases, principal, params: { transactionId }, visitor }) {
      if (visitor.preferredType('application/json', PDF) === PDF)
        return pdfAnswer(`receipt-${transactionId}`, await cases.printReceipt(principal, transactionId));
      const receipt = await cases.getReceipt(principal, transactionId);
      return answer(presenter(receiptSchema)({ success: true, data: presentReceipt(receipt) }));
    },
  }),
  routes.get(DETAILS, {
    keyErrors: 'wallet',
    answer: [200, 'The details; null: none are set', detailsSchema],
    operationId: 'getBillingDetails',
    summary: 'Read whom your papers name',
    description: 'The name, address and tax number that invoices, statements and receipts show as the buyer.',
    handle: async ({ cases, principal }) => ({ details: await cases.getBillingDetails(principal) }),
  }),
  routes.put(DETAILS, {
    confirmed: false,
    memberPermission: 'fund',
    keyErrors: 'wallet',
    body: detailsBody,
    answer: [200, 'The details as they now are', detailsSchema],
    operationId: 'setBillingDetails',
    summary: 'Set whom your papers name',
    description:
      'Statements, receipts and new invoices show them. An invoice keeps the details of its day; we can correct it by a credit note.',
    handle: async ({ cases, principal, body }) => ({
      details: await cases.setBillingDetails(principal, body),
    }),
  }),
];
