/** eSIM orders as docs/API.md documents them; requests are validated and the reference generated from here. */
import { z } from 'zod';
import { isId } from '../../domain/ids.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { ESIM_STATUSES, ESIM_STATUS_FILTERS } from '../../domain/states.ts';
import { isoTime, laterText, money } from '../../platform/http/answer-fields.ts';
import { choiceField } from '../../platform/http/fields.ts';
import { afterField, eitherPageOrAfter, pageFields, searchField } from '../../platform/http/page.ts';
import { MAX_FOUND } from '../store/list-esims.ts';

export const myEsimsQuery = z
  .object({
    ...pageFields,
    status: choiceField(ESIM_STATUS_FILTERS, { description: 'Only eSIMs in this state' }).optional(),
    search: searchField('Matches package name, ICCID or transaction id; empty means no filter'),
    after: afterField((text) => isId('esim', text)),
  })
  .refine(...eitherPageOrAfter);

const packageCoverage = {
  coverage: z.array(z.string()).meta({ description: 'Covered countries' }),
  networkProviders: z.array(z.string()).meta({ description: 'Operators' }),
};

const listed = {
  _id: z
    .string()
    .meta({ description: 'The value for `esimId`', example: 'esim-0f8fad5bd9cb469fa16570867728950e' }),
  packageCode: z.string(),
  packageName: z.string(),
  transactionId: z.string(),
  iccid: laterText('ICCID'),
  qrCodeUrl: laterText('URL of the QR code for installation'),
  activationCode: laterText('Manual activation string, LPA format'),
  esimStatus: z.enum(ESIM_STATUSES),
  data: z.string().meta({ description: 'Allowance', example: '5 GB' }),
  totalVolume: z.number().int().meta({ description: 'Bytes' }),
  orderUsage: z.number().int().meta({ description: 'Bytes used' }),
  data_usage_remain: z.number().int().min(0).meta({ description: 'Bytes left' }),
  usageAsOf: laterText('ISO 8601: when this usage was true at the supplier'),
  validity: z.number().int().meta({ description: 'Days' }),
  activateTime: laterText('ISO 8601'),
  expiredTime: laterText('ISO 8601'),
  createdAt: isoTime('ISO 8601'),
  price: money('Price paid'),
  currency: z.enum(ACCOUNT_CURRENCIES),
};

export const esimListItemSchema = z
  .object({ ...listed, packageDetails: z.object(packageCoverage) })
  .meta({ id: 'EsimListItem' });

export const esimPageSchema = z
  .object({
    esims: z.array(esimListItemSchema),
    total: z.number().int().meta({ description: 'eSIMs that match the filter' }),
    page: z.number().int(),
    limit: z.number().int(),
    totalPages: z.number().int(),
    totalIsMinimum: z.boolean().meta({
      description: `There are more than \`total\`: a search counts at most ${MAX_FOUND.toLocaleString('en')}`,
    }),
    nextCursor: z.string().meta({ description: 'For `after`: the next page; empty at the end' }),
  })
  .meta({ id: 'EsimPage' });

export const esimSchema = z
  .object({
    ...listed,
    orderNo: laterText('Order number'),
    esimTranNo: laterText('eSIM transaction number'),
    imsi: laterText('IMSI'),
    msisdn: z.string().nullable().meta({ description: 'Phone number, if it has one' }),
    ac: laterText('Activation value: the same LPA string as `activationCode`'),
    shortUrl: laterText('Short URL'),
    smdpAddress: laterText('SM-DP+ address'),
    matchingId: laterText('Matching id'),
    eid: laterText('EID of the device it is installed in'),
    smdpStatus: laterText('Install state of the profile'),
    activeType: z.string().meta({ description: 'What starts the validity' }),
    durationUnit: z.string().meta({ example: 'DAY' }),
    totalDuration: z.number().int().meta({ description: 'In `durationUnit`' }),
    validity_usage_remain: z.number().int().meta({ description: 'Validity left, in `durationUnit`' }),
    pin: z.string().nullable(),
    puk: z.string().nullable(),
    apn: laterText('Access point name'),
    smsStatus: z.number().int(),
    dataType: z.number().int(),
    packageDetails: z.object({ ...packageCoverage, dataType: z.string(), speed: z.string() }),
    isActive: z.boolean(),
    updatedAt: isoTime('ISO 8601'),
  })
  .meta({ id: 'Esim' });
