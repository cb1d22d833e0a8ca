/** eSIM orders: the list and one of them. What is not known yet is an empty string. */
import { z } from 'zod';
import { type DurationUnit, validityDays } from '../../catalogue/rules.ts';
import { isId } from '../../domain/ids.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { ESIM_STATUS_FILTERS, ESIM_STATUSES, type EsimStatus } from '../../domain/states.ts';
import {
  isoTime,
  laterText,
  money,
  text,
  count,
  yesNo,
  namedObject,
} from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { choiceField, timeField } from '../../platform/http/fields.ts';
import { afterField, eitherPageOrAfter, pageFields, searchField } from '../../platform/http/page.ts';
import { fromRow, type View } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import { type EsimView, remainingUnits, usageAsOf } from '../install-data.ts';
import { MAX_FOUND } from '../store/list-esims.ts';
import type { EsimCases } from '../use-cases.ts';
import { esimId } from './shared.ts';

const routes = merchantRoutes<EsimCases>('eSIMs', { esimId });

const filters: readonly EsimStatus[] = ESIM_STATUS_FILTERS;
const UNFILTERED = ESIM_STATUSES.filter((status) => !filters.includes(status)).join(' and ');

const myEsimsQuery = z
  .object({
    ...pageFields,
    status: choiceField(ESIM_STATUS_FILTERS, {
      description: `Only eSIMs in this state; ${UNFILTERED} are in the whole list only`,
    }).optional(),
    search: searchField(
      'A part of the package name, ICCID or transaction id, or your reference in full; empty means no filter',
    ),
    expiresBefore: timeField({
      description: 'Only eSIMs that can still be used and end by then, the soonest first',
    }).optional(),
    after: afterField((text) => isId('esim', text)),
  })
  .refine(...eitherPageOrAfter);

const packageCoverage = {
  coverage: z.array(z.string()).describe('Covered countries'),
  networkProviders: z.array(z.string()).describe('Operators'),
};

const listed = {
  _id: text('The value for `esimId`', 'esim-0f8fad5bd9cb469fa16570867728950e'),
  packageCode: z.string(),
  packageName: z.string(),
  transactionId: z.string(),
  iccid: laterText('ICCID'),
  qrCodeUrl: laterText('URL of the QR code for installation'),
  activationCode: laterText('Manual activation string, LPA format'),
  esimStatus: z.enum(ESIM_STATUSES),
  data: text('Allowance', '5 GB'),
  totalVolume: count('Bytes'),
  orderUsage: count('Bytes used'),
  data_usage_remain: z.number().int().min(0).describe('Bytes left'),
  usageAsOf: laterText('ISO 8601: when this usage was true at the supplier'),
  validity: count('Days'),
  activateTime: laterText('ISO 8601'),
  expiredTime: laterText('ISO 8601'),
  createdAt: isoTime('ISO 8601'),
  price: money('Price paid'),
  currency: z.enum(ACCOUNT_CURRENCIES),
  replaces: text('The eSIM in whose place this one is', 'esim-5b2e9a1c4d7f4e0ab8c3d6f1a2e4b790').optional(),
  replacedBy: text('The eSIM in its place: its own install data is not shown any more').optional(),
};

const esimListItemSchema = namedObject('EsimListItem', {
  ...listed,
  packageDetails: z.object(packageCoverage),
});

const esimPageSchema = namedObject('EsimPage', {
  esims: z.array(esimListItemSchema),
  total: count('eSIMs that match the filter'),
  page: z.number().int(),
  limit: z.number().int(),
  totalPages: z.number().int(),
  totalIsMinimum: yesNo(
    `There are more than \`total\`: a search counts at most ${MAX_FOUND.toLocaleString('en')}`,
  ),
  nextCursor: text('For `after`: the next page; empty at the end'),
});

export const esimSchema = namedObject('Esim', {
  ...listed,
  orderNo: laterText('Order number'),
  esimTranNo: laterText('eSIM transaction number'),
  imsi: laterText('IMSI'),
  msisdn: text('Phone number, if it has one').nullable(),
  ac: laterText('Activation value: the same LPA string as `activationCode`'),
  shortUrl: laterText('Short URL'),
  smdpAddress: laterText('SM-DP+ address'),
  matchingId: laterText('Matching id'),
  eid: laterText('EID of the device it is installed in'),
  smdpStatus: laterText('Install state of the profile'),
  activeType: text('What starts the validity'),
  durationUnit: z.string().meta({ example: 'DAY' }),
  totalDuration: count('In `durationUnit`'),
  validity_usage_remain: count('Validity left, in `durationUnit`'),
  pin: z.string().nullable(),
  puk: z.string().nullable(),
  apn: laterText('Access point name'),
  smsStatus: z.number().int(),
  dataType: z.number().int(),
  packageDetails: z.object({ ...packageCoverage, dataType: z.string(), speed: z.string() }),
  isActive: z.boolean(),
  updatedAt: isoTime('ISO 8601'),
});

export function presentEsim(esim: EsimView): View<z.output<typeof esimSchema>> {
  const [totalVolume, orderUsage] = [Number(esim.total_volume_bytes), Number(esim.order_usage_bytes)];
  return {
    ...fromRow(esim),
    _id: esim.id,
    activationCode: esim.ac,
    replaces: esim.replaces ?? undefined,
    replacedBy: esim.replaced_by ?? undefined,
    esimStatus: esim.status,
    isActive: esim.status === 'ACTIVE',
    data: esim.snapshot.data,
    packageDetails: esim.snapshot,
    totalVolume,
    orderUsage,
    data_usage_remain: Math.max(0, totalVolume - orderUsage),
    usageAsOf: usageAsOf(esim) ?? '',
    validity: validityDays(esim.total_duration, esim.duration_unit as DurationUnit),
    validity_usage_remain: remainingUnits(esim),
    activateTime: esim.activate_time ?? '',
    expiredTime: esim.expired_time ?? '',
  };
}

export const esimRoutes: readonly Route<EsimCases>[] = [
  routes.get('/api/esim/my-esims', {
    shapes: ['base'],
    query: myEsimsQuery,
    answer: [200, 'One page, newest first; with `expiresBefore` the soonest end first', esimPageSchema],
    operationId: 'listEsims',
    summary: 'List your eSIMs',
    description:
      'One page of your eSIM orders, filtered and searched as asked. `nextCursor` continues behind the last of them, ' +
      'however many come in meanwhile.',
    async handle({ cases, principal, query }) {
      const { page, limit, status, expiresBefore } = query;
      const [search, after] = [query.search || undefined, query.after || undefined];
      const { items, next, ...found } = await cases.listEsims(principal, {
        ...{ page, limit, status, search, expiresBefore, after },
      });
      return {
        ...found,
        esims: items.map(presentEsim),
        totalPages: Math.ceil(found.total / found.limit),
        nextCursor: next ?? '',
      };
    },
  }),
  routes.get('/api/esim/{esimId}', {
    shapes: ['base'],
    errors: ['NOT_YOUR_ESIM'],
    answer: [200, 'The eSIM order', esimSchema],
    operationId: 'getEsim',
    summary: 'Read one of your eSIMs',
    description:
      'Install data, usage and validity. State and usage are read from the supplier again when our data is old.',
    handle: async ({ cases, principal, params }) =>
      presentEsim(await cases.getEsim(principal, params.esimId)),
  }),
];
