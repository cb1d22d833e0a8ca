/** Purchases, fundings and eSIMs of all accounts, as JSON and CSV. No activation code, PIN or PUK. */
import { z } from 'zod';
import { isId } from '../../domain/ids.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import {
  ESIM_STATUSES,
  GATEWAY_METHODS,
  PACKAGE_TYPES,
  PAYMENT_METHODS,
  PURCHASE_STATUSES,
} from '../../domain/states.ts';
import {
  answer,
  count,
  CSV,
  csvAnswer,
  CUT_WORDS,
  isoTime,
  money,
  namedObject,
  text,
} from '../../platform/http/answer-fields.ts';
import { columnsOf, csvLines } from '../../platform/http/csv-lines.ts';
import { choiceField, soughtField, textField, timeField } from '../../platform/http/fields.ts';
import { MAX_REFERENCE_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { cursorFields, cursorPageSchema } from '../../platform/http/page.ts';
import { presenter } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import { MAX_FILE_LINES, MAX_FILE_PAGES } from '../lists.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { MAX_LOOKED, type ListFilters, type ListName } from '../store/lists.ts';

const routes = operatorRoutes<OperatorCases>('Lists');

const FUNDING_STATUSES = ['PENDING', 'SUCCESS', 'FAILED'] as const;

const common = {
  createdAt: isoTime('When it was opened'),
  accountId: z.string().meta({ example: 'acc-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  accountName: text('Of the account', 'Merchant Travel Ltd'),
};
const currency = z.enum(ACCOUNT_CURRENCIES);
const transactionId = z.string().meta({ example: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11' });
const ended = {
  reason: text('Why, when FAILED', 'PAYMENT_EXPIRED').nullable(),
  attentionReason: text('Why a person should look at it', 'SUPPLIER_NEVER_ALLOCATED').nullable(),
  reference: text('The merchant’s own', 'order-1001').nullable(),
  closedAt: isoTime('When it succeeded or failed').nullable(),
};
const ofPackage = { packageCode: text('Its code', 'NG-5GB-30D'), packageName: z.string() };
const iccid = text('null until it is known').nullable();

const purchase = namedObject('PurchaseLine', {
  transactionId,
  ...common,
  packageType: z.enum(PACKAGE_TYPES),
  ...ofPackage,
  status: z.enum(PURCHASE_STATUSES),
  paymentMethod: z.enum(PAYMENT_METHODS),
  price: money('In `currency`', 3_790.4),
  currency,
  ...ended,
  esimId: z.string().nullable(),
  iccid,
});

const funding = namedObject('FundingLine', {
  transactionId,
  ...common,
  status: z.enum(FUNDING_STATUSES),
  paymentMethod: z.enum(GATEWAY_METHODS),
  amount: money('What the wallet is to get', 5_000),
  currency,
  ...ended,
});

const esim = namedObject('EsimLine', {
  esimId: z.string().meta({ example: 'esim-0f8fad5bd9cb469fa16570867728950e' }),
  iccid,
  ...common,
  ...ofPackage,
  status: z.enum(ESIM_STATUSES),
  price: money('In `currency`', 3_790.4),
  currency,
  transactionId,
  totalVolumeBytes: count('Of its package and top-ups'),
  orderUsageBytes: count('Used of it, as of `usageAsOf`'),
  usageAsOf: isoTime('null: the supplier has said nothing yet').nullable(),
  activateTime: isoTime('When it went into use').nullable(),
  expiredTime: isoTime('The end of its validity').nullable(),
});

const accountId = z
  .string()
  .refine((id) => isId('account', id), 'must be the id of an account')
  .optional()
  .describe('Only of this account');
const times = {
  from: timeField({ description: 'Only opened from this time on' }).optional(),
  to: timeField({ description: 'Only opened before this time' }).optional(),
};
const reference = soughtField({
  max: MAX_REFERENCE_CHARACTERS,
  description: 'Only with this reference of the merchant, in full',
  example: 'order-1001',
}).optional();
const packageFilters = {
  packageCode: textField({ max: 100, description: 'Only this package', example: 'NG-5GB-30D' }).optional(),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be a country code of two capital letters')
    .optional()
    .meta({ description: 'Only packages that cover this country', example: 'NG' }),
};

const isTransactionId = (id: string): boolean => isId('transaction', id);

/** The routes of one list: JSON and CSV of the same query and the same fields. */
function listRoute(
  name: ListName,
  {
    item,
    filters,
    isCursor,
    ...words
  }: {
    readonly item: z.ZodObject;
    readonly filters: z.ZodRawShape;
    readonly isCursor: (text: string) => boolean;
    readonly operationId: string;
    readonly summary: string;
    readonly description: string;
  },
): Route<OperatorCases> {
  const schema = cursorPageSchema(item, `${item.meta()?.id ?? ''}s`);
  const csvSchema = text(`The columns ${columnsOf(item)}`);
  const present = presenter<z.ZodType>(schema);
  return routes.get(`/ops/lists/${name}`, {
    permission: 'see',
    query: z.object({
      ...environmentField,
      accountId,
      ...filters,
      ...times,
      ...cursorFields(isCursor, 'Lines'),
    }),
    answer: { 200: { description: 'Newest first', schema, alsoAs: { [CSV]: csvSchema } } },
    ...words,
    description:
      `${words.description} A page looks at ${MAX_LOOKED.toLocaleString('en')} rows at most: it may have fewer lines than \`limit\`, even none, and a \`nextCursor\`. ` +
      `With \`Accept: text/csv\` a file of the newest ${MAX_FILE_LINES.toLocaleString('en')} lines that match, behind \`after\`. ${CUT_WORDS} VALIDATION_ERROR where it would look at more than ` +
      `${(MAX_LOOKED * MAX_FILE_PAGES).toLocaleString('en')} rows. The audit log has each file.`,
    async handle({ cases, session, query, visitor }) {
      const { after, limit, ...asked } = query as ListFilters & {
        readonly after?: string;
        readonly limit: number;
      };
      if (visitor.preferredType('application/json', CSV) === CSV) {
        const file = await cases.exportLines(session, name, { ...asked, after });
        return csvAnswer(name, csvLines(item, file.lines as never), file.next);
      }
      const { items, next } = await cases.listLines(name, { ...asked, after, limit });
      return answer(present({ success: true, data: { items, nextCursor: next ?? null } }));
    },
  });
}

export const listRoutes: readonly Route<OperatorCases>[] = [
  listRoute('purchases', {
    item: purchase,
    filters: {
      status: choiceField(PURCHASE_STATUSES, { description: 'Only in this status' }).optional(),
      packageType: choiceField(PACKAGE_TYPES, { description: 'Only new eSIMs, or only top-ups' }).optional(),
      paymentMethod: choiceField(PAYMENT_METHODS, { description: 'Only paid for in this way' }).optional(),
      ...packageFilters,
      reference,
    },
    isCursor: isTransactionId,
    operationId: 'listPurchaseLines',
    summary: 'List purchases',
    description: 'Of all accounts, or of one.',
  }),
  listRoute('fundings', {
    item: funding,
    filters: {
      status: choiceField(FUNDING_STATUSES, { description: 'Only in this status' }).optional(),
      paymentMethod: choiceField(GATEWAY_METHODS, { description: 'Only paid in this way' }).optional(),
      reference,
    },
    isCursor: isTransactionId,
    operationId: 'listFundingLines',
    summary: 'List fundings',
    description:
      'Of the wallets of all accounts, or of one. What people booked by hand is in `listWalletAdjustments`.',
  }),
  listRoute('esims', {
    item: esim,
    filters: {
      status: choiceField(ESIM_STATUSES, { description: 'Only in this status' }).optional(),
      ...packageFilters,
      iccid: z
        .string()
        .regex(/^\d{18,22}$/, 'must be a whole ICCID: 18 to 22 digits')
        .optional()
        .describe('Only this eSIM'),
    },
    isCursor: (id) => isId('esim', id),
    operationId: 'listEsimLines',
    summary: 'List eSIMs',
    description: 'Of all accounts, or of one. Nothing that installs an eSIM is in it.',
  }),
];
