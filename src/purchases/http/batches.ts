/** Many eSIMs at once. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { LANGUAGES } from '../../esims/install-texts/languages.ts';
import { MAX_JOB_ROWS } from '../../jobs/rules.ts';
import {
  count,
  CSV,
  csvAnswer,
  dataSchema,
  isoTime,
  money,
  text,
  namedObject,
  dataObject,
} from '../../platform/http/answer-fields.ts';
import { ownDetailsFields } from '../../payments/http/shared.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import {
  amountField,
  choiceField,
  idParameter,
  nameTextField,
  textField,
  timeField,
} from '../../platform/http/fields.ts';
import {
  MAX_BATCH_BODY_BYTES,
  MAX_BATCH_JSON_MEMBERS,
  MAX_EMAIL_CHARACTERS,
  MAX_MOVED_MINOR,
  MAX_PACKAGE_CODE_CHARACTERS,
  MAX_REFERENCE_CHARACTERS,
} from '../../platform/http/limits.ts';
import { pageFields, pageSchema, paginationSchema, presentPage } from '../../platform/http/page.ts';
import { fromRow, type View } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import type { BatchView } from '../batches/order-batch.ts';
import { HTML, sheetsAnswer } from './batch-sheets.ts';
import {
  BATCH_CSV_COLUMNS,
  BATCH_ROW_STATUSES,
  BATCH_STATUSES,
  CANCEL_REASONS,
  type BatchRowView,
  EMAIL_STATUSES,
} from '../batches/rules.ts';
import type { PurchaseCases } from '../use-cases.ts';

const routes = merchantRoutes<PurchaseCases>('Purchases', {
  batchId: idParameter(
    'batch',
    'The `batchId` that the order returned',
    'Batch not found',
    'BATCH_NOT_FOUND',
    '7c9e6679f4a84ba3a2c1f0d3b5e60a11',
  ),
});

const rowBody = z.object(
  {
    reference: nameTextField({
      max: MAX_REFERENCE_CHARACTERS,
      description: 'Your own name for the row, unique in the batch',
      example: 'booking-4711',
    }),
    packageCode: textField({
      max: MAX_PACKAGE_CODE_CHARACTERS,
      description: 'From the packages list',
      example: 'SIM-OK',
    }),
    email: z
      .email('must be an e-mail address')
      .max(MAX_EMAIL_CHARACTERS, `must be at most ${MAX_EMAIL_CHARACTERS} characters long`)
      .optional()
      .meta({ description: 'The traveller’s: gets the install link', example: 'traveller@example.com' }),
    sendAt: timeField({
      description: 'When the e-mail is sent, at most a year ahead; at delivery without it',
    }).optional(),
    metadata: ownDetailsFields.metadata,
    language: choiceField(LANGUAGES, { description: 'Of the e-mail; `en` without it' }).optional(),
  },
  'must be an object',
);

const ROWS = `must be 1 to ${MAX_JOB_ROWS} rows`;

const batchBody = namedObject('BatchRequest', {
  rows: z
    .array(rowBody, {
      error: ({ input }) => (input === undefined ? 'is required' : ROWS),
    })
    .min(1, ROWS)
    .max(MAX_JOB_ROWS, ROWS)
    .describe(`1 to ${MAX_JOB_ROWS}, one eSIM each`),
  maxTotalPrice: z
    .object(
      {
        amount: amountField({
          minMinor: 1n,
          maxMinor: MAX_MOVED_MINOR,
          description: 'The most that all rows together may cost',
          example: 250,
        }),
        currency: choiceField(ACCOUNT_CURRENCIES, { description: 'The account’s' }),
      },
      'must be an object',
    )
    .optional()
    .describe('Nothing is ordered where the rows cost more'),
  startAt: timeField({
    description: 'When the rows are bought, at most 90 days ahead, at the prices of then; at once without it',
  }).optional(),
});

const batchQuery = z.object(pageFields);

const counts = namedObject('BatchCounts', {
  rows: z.number().int(),
  queued: count('Not begun'),
  processing: z.number().int(),
  succeeded: z.number().int(),
  failed: z.number().int(),
});

const batch = {
  batchId: z.string().meta({ example: 'batch-7c9e6679f4a84ba3a2c1f0d3b5e60a11' }),
  status: z
    .enum(BATCH_STATUSES)
    .describe(
      'SCHEDULED: waits for `startAt`. COMPLETED: every row has ended. CANCELLED: nothing was bought',
    ),
  cancelReason: z
    .enum([...CANCEL_REASONS, ''])
    .describe('Why it was cancelled, also as the `reason` of its rows; empty otherwise'),
  counts,
  totalPrice: money(
    'What all rows cost together: by the prices of the order, and of the start once it has started',
  ),
  currency: z.enum(ACCOUNT_CURRENCIES),
  createdAt: isoTime('When it was ordered'),
  startAt: text('ISO 8601; empty for one that began at once'),
  completedAt: text('ISO 8601; empty until it is completed or cancelled'),
};

const batchSummary = namedObject('Batch', batch);
const acceptedBatchSchema = dataSchema(batchSummary, 'AcceptedBatch');

const row = namedObject('BatchRow', {
  row: count('In the order of the request, from 0'),
  reference: z.string(),
  packageCode: z.string(),
  transactionId: text('Empty while nothing was bought'),
  status: z.enum(BATCH_ROW_STATUSES).describe('QUEUED: not begun. Otherwise the purchase’s'),
  reason: text('Why, when FAILED; empty otherwise'),
  esimId: text('Empty while nothing was bought'),
  iccid: text('Empty until it is delivered'),
  email: text('Empty if none was given, or 30 days after sending'),
  emailStatus: z
    .enum([...EMAIL_STATUSES, ''])
    .describe('NOT_SENT: nothing to install. Empty: no e-mail requested'),
  emailSentAt: text('ISO 8601; empty until it is sent'),
});

const batchDetailsSchema = dataObject('BatchDetails', {
  ...batch,
  items: z.array(row),
  pagination: paginationSchema,
});

const batchPageSchema = pageSchema(batchSummary, 'BatchPage');

const batchCsvSchema = text(
  'RFC 4180: a line of names, then one line for each row, from 1',
  `${BATCH_CSV_COLUMNS.join(',')}\r\n`,
);

const presentBatch = (view: BatchView) => ({
  ...view,
  currency: view.totalPrice.currency,
  cancelReason: view.cancelReason ?? ('' as const),
  startAt: view.startAt ?? '',
  completedAt: view.completedAt ?? '',
});

const presentRow = (view: BatchRowView): View<z.output<typeof row>> => ({
  ...fromRow(view),
  row: view.row_number,
  transactionId: view.transaction_id ?? '',
  reason: view.reason ?? '',
  esimId: view.esim_id ?? '',
  iccid: view.iccid ?? '',
  email: view.email ?? '',
  emailStatus: view.email_status ?? '',
  emailSentAt: (view.email_status === 'SENT' && view.email_closed_at) || '',
});

const PATH = '/api/esim/orders/batch';

export const batchRoutes: readonly Route<PurchaseCases>[] = [
  routes.post(PATH, {
    body: batchBody,
    bodyLimits: { maxBytes: MAX_BATCH_BODY_BYTES, maxMembers: MAX_BATCH_JSON_MEMBERS },
    errors: [
      'INSUFFICIENT_BALANCE',
      'KEY_BUDGET_EXCEEDED',
      'EMAIL_UNAVAILABLE',
      'TOO_MANY_BATCHES',
      'EXCHANGE_RATE_UNAVAILABLE',
    ],
    answer: [202, 'Accepted: every row is bought soon', acceptedBatchSchema],
    operationId: 'orderBatch',
    summary: 'Order many eSIMs at once',
    description:
      'Up to 500 eSIMs, paid from the wallet, one purchase a row. All rows are checked first: one wrong row, and nothing is ordered. ' +
      'Prices are frozen now. A row with an e-mail address sends the traveller the install link. ' +
      'With `startAt` all this is checked now, but prices, wallet and the caller’s permission count at the start: where they do not suffice ' +
      'then, nothing is bought. Send an `Idempotency-Key`, and a repeated request can never order twice.',
    async handle({ cases, principal, body, context, idempotency }) {
      const { rows, maxTotalPrice, startAt } = body;
      const command = {
        rows,
        startAt,
        maxTotalPrice: maxTotalPrice && {
          amountMinor: maxTotalPrice.amount,
          currency: maxTotalPrice.currency,
        },
        idempotency,
      };
      return presentBatch(await cases.orderBatch(principal, command, context));
    },
  }),
  routes.get(PATH, {
    query: batchQuery,
    answer: [200, 'One page, newest first', batchPageSchema],
    operationId: 'listBatches',
    summary: 'List your batches',
    description: 'Each with its counts by status.',
    async handle({ cases, principal, query }) {
      const found = await cases.listBatches(principal, query);
      return presentPage({ ...found, items: found.items.map(presentBatch) });
    },
  }),
  routes.get(`${PATH}/{batchId}`, {
    query: batchQuery,
    answer: [200, 'The batch, and one page of its rows as they now stand', batchDetailsSchema],
    operationId: 'getBatch',
    summary: 'Read a batch and its rows',
    description: 'Also while it runs. A row’s status is that of its purchase. Only your own can be read.',
    async handle({ cases, principal, params, query }) {
      const { batch: view, rows } = await cases.getBatch(principal, params.batchId, query);
      return { ...presentBatch(view), ...presentPage({ ...rows, items: rows.items.map(presentRow) }) };
    },
  }),
  routes.post(`${PATH}/{batchId}/cancel`, {
    confirmed: false,
    errors: ['BATCH_STARTED'],
    answer: [200, 'It is cancelled: nothing is bought', acceptedBatchSchema],
    operationId: 'cancelBatch',
    summary: 'Cancel a batch that waits for its start',
    description: 'To change one, cancel it and order the changed rows. Repeating it changes nothing.',
    handle: async ({ cases, principal, params }) =>
      presentBatch(await cases.cancelBatch(principal, params.batchId)),
  }),
  routes.get(`${PATH}/{batchId}/csv`, {
    answer: {
      200: { description: 'Every row as it now stands', contentType: CSV, schema: batchCsvSchema },
    },
    operationId: 'getBatchCsv',
    summary: 'Read the rows of a batch as CSV',
    description:
      'For a spreadsheet: an apostrophe stands before what would be read as a formula, also behind a `;`, `|`, tab or line break. ' +
      'What installs an eSIM, from `installUrl` on, is empty for who may not read it, and but for the link once it is installed; reading it is ' +
      'recorded for each eSIM.',
    handle: async ({ cases, principal, params }) =>
      csvAnswer(params.batchId, await cases.exportBatch(principal, params.batchId)),
  }),
  routes.get(`${PATH}/{batchId}/sheets`, {
    memberPermission: 'install',
    query: z.object({
      language: choiceField(LANGUAGES, {
        description: 'Of rows that name none; `en` without it',
      }).optional(),
    }),
    answer: {
      200: {
        description: 'The page',
        contentType: HTML,
        schema: text('A page to print: a card for each eSIM that can be installed'),
      },
    },
    operationId: 'getBatchSheets',
    summary: 'Read the eSIMs of a batch as a page to print',
    description:
      'A card for each eSIM that can be installed: QR code, activation code, install link, ICCID, in the language of its row. What is not ' +
      'delivered, or installed already, has none. Only for who may read what installs an eSIM; reading it is recorded for each eSIM.',
    async handle({ cases, principal, params, query }) {
      const { rows, sender } = await cases.getBatchSheets(principal, params.batchId);
      return sheetsAnswer(params.batchId, rows, { sender, language: query.language ?? 'en' });
    },
  }),
];
