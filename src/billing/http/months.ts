/** Closing months, the company's details, and every account's papers. */
import { z } from 'zod';
import {
  answer,
  count,
  CSV,
  csvAnswer,
  dataObject,
  isoTime,
  listSchema,
  money,
  namedObject,
  PDF,
  pdfAnswer,
  pdfSchema,
  percent,
  text,
  yesNo,
} from '../../platform/http/answer-fields.ts';
import { countField, idParameter, reasonField, nameTextField } from '../../platform/http/fields.ts';
import {
  environmentField,
  environmentQuery,
  operatorRoutes,
  transactionId,
} from '../../platform/http/ops-route.ts';
import { pageFields, pageSchema, presentPage } from '../../platform/http/page.ts';
import { presenter } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import { INVOICE_COLUMNS, invoiceCsv } from '../invoices.ts';
import { JOURNAL_COLUMNS } from '../journal.ts';
import { MONTH_STATES } from '../months.ts';
import type { BillingOperatorCases } from '../operator-use-cases.ts';
import { STATEMENT_COLUMNS } from '../statement.ts';
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

const routes = operatorRoutes<BillingOperatorCases>('Months and papers', {
  month: monthParameter,
  number: numberParameter,
  accountId: idParameter('account', 'The `accountId` of an account', 'No such account'),
  transactionId,
});

const monthShape = {
  month: text('UTC', '2026-01'),
  state: z
    .enum(MONTH_STATES)
    .describe(
      'OPEN: it is not over. ENDED: it can be closed. ASKED: a second person must sign off. CLOSED: locked',
    ),
  askedBy: z.string().nullable(),
  askedAt: isoTime('ISO 8601').nullable(),
  closedBy: z.string().nullable(),
  closedAt: isoTime('From then on nothing was booked into it').nullable(),
  invoicedAt: isoTime('All of its invoices were written; null: not yet').nullable(),
};

const companyShape = {
  ...detailsShape,
  taxName: text('What the tax is called', 'VAT'),
  taxRatePercent: percent('Included in prices', 7.5),
};

const companySchema = dataObject('CompanyDetails', {
  company: namedObject('Company', {
    ...companyShape,
    setBy: z.string(),
    setAt: isoTime('ISO 8601'),
  }).nullable(),
});

const sums = (gross: string) => ({
  currency: text('Of the papers', 'NGN'),
  count: count('How many'),
  gross: money(gross),
});

const previewSchema = dataObject('MonthPreview', {
  ...monthShape,
  isBalanced: yesNo('Debits and credits at its end are equal in every currency'),
  openDifferences: count('Of reconciliation, not closed yet'),
  openHolds: count('Purchases that are open now'),
  hasCompany: yesNo('The details of the company are set'),
  toInvoice: z.array(z.object(sums('What the invoices to be written add up to'))),
  invoiced: z.array(z.object({ ...sums('What its papers add up to'), tax: money('The tax in it') })),
});

/** A hundred percent, in hundredths. */
const MAX_TAX_BPS = 10_000;
const taxRateField = countField({
  min: 0,
  max: MAX_TAX_BPS,
  description: 'In hundredths of a percent: 750 is 7.5 %',
  example: 750,
});

const companyBody = namedObject('CompanyDetailsRequest', {
  ...partyFields,
  taxName: nameTextField({ max: 30, description: 'As papers call the tax', example: 'VAT' }),
  taxRateBps: taxRateField,
  reason: reasonField('The office moved'),
});

const billingSchema = dataObject('AccountBilling', {
  details: namedObject('AccountBillingDetails', {
    ...detailsShape,
    papersByMail: yesNo('A mail is sent for each invoice'),
  }).nullable(),
  taxRatePercent: percent('Of this account alone; null: the company’s', 7.5).nullable(),
});

const taxBody = namedObject('AccountTaxRequest', {
  taxRateBps: taxRateField.nullable().meta({
    type: ['integer', 'null'],
    description: 'In hundredths of a percent; null: the company’s rate counts',
  }),
  reason: reasonField('A buyer abroad'),
});

const ONE_MONTH = '/ops/months/{month}';
const change = {
  permission: 'closing',
  query: environmentQuery,
  errors: ['MONTH_ALREADY_CLOSED'],
} as const;

const monthRoutes: readonly Route<BillingOperatorCases>[] = [
  routes.get('/ops/months', {
    permission: 'books',
    answer: [200, 'The newest first', listSchema(namedObject('BookedMonth', monthShape), 'BookedMonths')],
    operationId: 'listMonths',
    summary: 'List the months of the books',
    description: 'Every month since the ledger began, with who closed it.',
    handle: async ({ cases }) => ({ items: await cases.listMonths() }),
  }),
  routes.get(ONE_MONTH, {
    permission: 'books',
    answer: { 200: { description: 'The month', schema: previewSchema, alsoAs: { [PDF]: pdfSchema } } },
    operationId: 'getMonth',
    summary: 'Read a month before or after its close',
    description:
      'What to look at before signing it off, and what was invoiced. With `Accept: application/pdf` the trial balance at its end, as a file.',
    async handle({ cases, params: { month }, visitor }) {
      if (visitor.preferredType('application/json', PDF) === PDF)
        return pdfAnswer(`books-${month}`, await cases.printMonth(month));
      const { trialBalance, waiting, differences, issued, company, ...found } =
        await cases.previewMonth(month);
      const held = waiting.lines.filter(({ waitsFor }) => waitsFor === 'delivery');
      const data = {
        ...found,
        isBalanced: trialBalance.totals.every(({ isBalanced }) => isBalanced),
        openDifferences: differences.count,
        openHolds: held.reduce((sum, { items }) => sum + items, 0),
        hasCompany: company !== undefined,
        invoiced: issued,
      };
      return answer(presenter(previewSchema)({ success: true, data }));
    },
  }),
  routes.get(`${ONE_MONTH}/journal`, {
    permission: 'books',
    answer: {
      200: {
        description: 'A CSV',
        contentType: CSV,
        schema: text(`The columns ${JOURNAL_COLUMNS.join(', ')}`),
      },
    },
    operationId: 'getJournal',
    summary: 'Export a month as journals',
    description:
      'For an accountant’s program: one journal for each day and currency, whose debits are its credits. Of a month that is not closed: so far.',
    handle: async ({ cases, params: { month } }) =>
      csvAnswer(`journal-${month}`, await cases.exportJournal(month)),
  }),
  routes.post(`${ONE_MONTH}/ask-close`, {
    ...change,
    errors: ['MONTH_ALREADY_CLOSED', 'MONTH_NOT_CLOSABLE'],
    answer: 'A second person must sign it off',
    operationId: 'askToCloseMonth',
    summary: 'Ask to close a month',
    description:
      'The first of two people. The month must have ended, all before it must be closed, and the company’s details must be set.',
    handle: ({ cases, session, params: { month } }) => cases.askToClose(session, month),
  }),
  routes.post(`${ONE_MONTH}/withdraw-close`, {
    ...change,
    answer: 'The month is as before',
    operationId: 'withdrawCloseMonth',
    summary: 'Withdraw the request to close a month',
    description: 'By anybody who may close months. NOT_FOUND where nobody asked.',
    handle: ({ cases, session, params: { month } }) => cases.withdrawClose(session, month),
  }),
  routes.post(`${ONE_MONTH}/close`, {
    ...change,
    errors: ['MONTH_ALREADY_CLOSED', 'SERVICE_UNAVAILABLE'],
    answer: 'The month is closed',
    operationId: 'closeMonth',
    summary: 'Sign off a month',
    description:
      'The second of two people, independent of the first. From then on nothing is booked into the month: corrections fall into the present ' +
      'one. Its invoices are written within a minute. It cannot be undone.',
    handle: ({ cases, session, params: { month } }) => cases.closeMonth(session, month),
  }),
];

const companyRoutes: readonly Route<BillingOperatorCases>[] = [
  routes.get('/ops/company', {
    permission: 'books',
    answer: [200, 'The details; null: none are set', companySchema],
    operationId: 'getCompany',
    summary: 'Read whom papers name as the seller',
    description: 'The company’s name, address, tax number and rate of tax.',
    handle: async ({ cases }) => ({ company: await cases.getCompany() }),
  }),
  routes.put('/ops/company', {
    permission: 'closing',
    body: companyBody,
    answer: [200, 'The details as they now are', companySchema],
    operationId: 'setCompany',
    summary: 'Set whom papers name as the seller',
    description:
      'Statements, receipts and new invoices show them. Prices include the tax: a rate says how much of a price is tax.',
    handle: async ({ cases, session, body }) => ({ company: await cases.setCompany(session, body) }),
  }),
  routes.get('/ops/accounts/{accountId}/billing', {
    permission: 'see',
    errors: ['NOT_FOUND'],
    answer: [200, 'The details', billingSchema],
    operationId: 'getAccountBilling',
    summary: 'Read whom papers of an account name',
    description: 'As the account has set it, and its own rate of tax.',
    handle: ({ cases, params }) => cases.getAccountBilling(params.accountId),
  }),
  routes.put('/ops/accounts/{accountId}/tax', {
    permission: 'closing',
    errors: ['NOT_FOUND'],
    body: taxBody,
    answer: [200, 'As it now is', billingSchema],
    operationId: 'setAccountTax',
    summary: 'Set an account’s own rate of tax',
    description: 'For its later papers, in place of the company’s rate.',
    handle: ({ cases, session, params: { accountId }, body }) =>
      cases.setTax(session, { accountId, ...body }),
  }),
];

const everyonesPapers: readonly Route<BillingOperatorCases>[] = [
  routes.get('/ops/invoices', {
    permission: 'see',
    query: z.object({
      ...environmentField,
      ...pageFields,
      month: monthField,
      accountId: text('Only of this account').optional(),
    }),
    answer: [
      200,
      'One page, newest first',
      pageSchema(
        listedInvoice.extend({ accountId: z.string() }).meta({ id: 'AnyInvoice' }),
        'AnyInvoicePage',
      ),
    ],
    operationId: 'listAllInvoices',
    summary: 'List invoices and credit notes',
    description: 'Of all accounts, of one, or of a month.',
    handle: async ({ cases, query }) => presentPage(await cases.listAllInvoices(query)),
  }),
  routes.get('/ops/invoices/{number}', {
    permission: 'see',
    answer: {
      200: {
        description: 'The invoice',
        schema: invoiceSchema,
        alsoAs: { [CSV]: text(`The columns ${INVOICE_COLUMNS.join(', ')}`), [PDF]: pdfSchema },
      },
    },
    operationId: 'getAnyInvoice',
    summary: 'Read an invoice or a credit note',
    description: 'With `Accept: text/csv` or `Accept: application/pdf` as a file.',
    async handle({ cases, params: { number }, visitor }) {
      const type = visitor.preferredType('application/json', CSV, PDF);
      if (type === PDF) return pdfAnswer(`invoice-${number}`, await cases.printAnyInvoice(number));
      const invoice = await cases.getAnyInvoice(number);
      if (type === CSV) return csvAnswer(`invoice-${number}`, invoiceCsv(invoice));
      return answer(presenter(invoiceSchema)({ success: true, data: invoice }));
    },
  }),
  routes.post('/ops/invoices/{number}/correct', {
    permission: 'closing',
    errors: ['ACTION_REFUSED'],
    body: namedObject('CorrectInvoiceRequest', { reason: reasonField('The buyer has a new name') }),
    answer: [
      200,
      'The two papers that were written',
      dataObject('CorrectedInvoice', {
        creditNote: text('Takes the invoice back', 'CN-2026-000004'),
        invoice: text('In its place', '2026-000124'),
      }),
    ],
    operationId: 'correctInvoice',
    summary: 'Correct an invoice',
    description:
      'Takes it back by a credit note, and writes it again with the details of now. ACTION_REFUSED where that was done before.',
    handle: ({ cases, session, params: { number }, body }) =>
      cases.correctInvoice(session, { number, ...body }),
  }),
  routes.get('/ops/accounts/{accountId}/statements/{month}', {
    permission: 'see',
    errors: ['NOT_FOUND'],
    query: z.object({ ...environmentField, ...statementQuery }),
    answer: {
      200: {
        description: 'The statement',
        schema: statementSchema,
        alsoAs: { [CSV]: text(`The columns ${STATEMENT_COLUMNS.join(', ')}`), [PDF]: pdfSchema },
      },
    },
    operationId: 'getStatementOf',
    summary: 'Read the statement of an account',
    description: 'As the account reads it.',
    async handle({ cases, params: { accountId, month }, query: { after, limit }, visitor }) {
      const type = visitor.preferredType('application/json', CSV, PDF);
      const name = `statement-${month}`;
      if (type === PDF) return pdfAnswer(name, await cases.printStatementOf(accountId, month));
      if (type === CSV) {
        const { csv, next } = await cases.exportStatementOf(accountId, { month, after });
        return csvAnswer(name, csv, next);
      }
      const statement = await cases.getStatementOf(accountId, { month, after, limit });
      return answer(presenter(statementSchema)({ success: true, data: presentStatement(statement) }));
    },
  }),
  routes.get('/ops/purchases/{transactionId}/receipt', {
    permission: 'see',
    answer: { 200: { description: 'The receipt', schema: receiptSchema, alsoAs: { [PDF]: pdfSchema } } },
    operationId: 'getAnyReceipt',
    summary: 'Read the receipt of a purchase or a funding',
    description: 'As its account reads it.',
    async handle({ cases, params, visitor }) {
      if (visitor.preferredType('application/json', PDF) === PDF)
        return pdfAnswer(
          `receipt-${params.transactionId}`,
          await cases.printAnyReceipt(params.transactionId),
        );
      const receipt = await cases.getAnyReceipt(params.transactionId);
      return answer(presenter(receiptSchema)({ success: true, data: presentReceipt(receipt) }));
    },
  }),
];

export const billingOperatorRoutes: readonly Route<BillingOperatorCases>[] = [
  ...monthRoutes,
  ...companyRoutes,
  ...everyonesPapers,
];
