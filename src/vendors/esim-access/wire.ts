/**
 * The vendor's answers and how they are read. Leniently where the vendor's own pages disagree: booleans and
 * numbers as text, two names for the error text, null codes. Strictly where a wrong guess would cost money.
 */
import { z } from 'zod';
import { readAs, UnreadableAnswer } from '../http/transport.ts';

/** Absent, null and values that are not scalars are "". */
const text = z
  .unknown()
  .optional()
  .transform((given) => (['string', 'number', 'boolean'].includes(typeof given) ? String(given) : ''));
const textOrNull = text.transform((given) => (given === '' ? null : given));
const requiredText = text.refine((given) => given !== '', 'is missing');

const NOT_WHOLE = 'is no whole number';
const integer = z.int(NOT_WHOLE);
/** As a number or as digits; JavaScript holds it exactly. */
const whole = z.union(
  [
    integer,
    z
      .string()
      .regex(/^-?\d{1,16}$/)
      .transform(Number)
      .pipe(integer),
  ],
  NOT_WHOLE,
);
const wholeOrNull = whole.nullable().catch(null);
const count = whole.refine((given) => given >= 0, NOT_WHOLE);

const object = <Shape extends z.core.$ZodShape>(shape: Shape) => z.object(shape, 'is no object');
const list = <Item extends z.ZodType>(item: Item): z.ZodArray<Item> => z.array(item, 'is no list');
/**
 * The objects of a list that may be absent. Their fields are read leniently, so that only values that are not
 * objects are left out.
 */
const objects = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item.nullable().catch(null))
    .catch([])
    .transform((items) => items.filter((read) => read !== null));

/**
 * `2026-09-27T19:29:36+0000` (or `Z`, or `+00:00`) → ISO 8601 in UTC with milliseconds; null for "" and for a
 * text that is not a time.
 */
export function isoTimeOf(wireTime: string): string | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(wireTime)) return null;
  // Stryker disable next-line Regex: Node reads offsets without the colon too, which ECMAScript does not
  // promise
  const time = new Date(wireTime.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** A time as requests carry it: `2026-09-27T19:29:36+00:00`. */
export function wireTimeOf(time: Date): string {
  return `${time.toISOString().slice(0, 19)}+00:00`;
}

const time = text.transform(isoTimeOf);

/** A reader that throws UnreadableAnswer, with the first thing that is wrong. */
function reader<Schema extends z.ZodType>(schema: Schema, what = 'obj') {
  return (value: unknown): z.output<Schema> => readAs(schema, value, { what });
}

const envelope = object({
  success: z
    .literal([true, 'true', false, 'false'], 'is missing: no envelope')
    .transform((given) => given === true || given === 'true'),
  obj: z.unknown().optional(),
  // Codes are six digits; one sent as a JSON number has lost its leading zeros.
  errorCode: z.union([z.number().transform((code) => String(code).padStart(6, '0')), text]),
  errorMsg: text,
  errorMessage: text,
});
const readEnvelope = reader(envelope, 'the answer');

/**
 * Reads an answer's body; `code` is "" where the vendor gave none. Throws UnreadableAnswer for anything that
 * is not the vendor's envelope.
 */
export function parseEnvelope(body: string) {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new UnreadableAnswer('not JSON');
  }
  const { success, obj, errorCode: code, errorMsg, errorMessage } = readEnvelope(parsed);
  if (success) return { success, obj } as const;
  return { success, code, message: errorMsg || errorMessage } as const;
}

/** Reads one entry of a package list. */
export const readPackage = reader(
  object({
    packageCode: requiredText,
    slug: text,
    name: requiredText,
    /** US dollars × 10,000. */
    price: count,
    currencyCode: text,
    volume: count,
    dataType: whole.catch(1),
    unusedValidTime: count,
    duration: count,
    durationUnit: requiredText,
    /** Country codes, comma-separated. */
    location: requiredText,
    locationCode: text,
    description: text,
    activeType: whole.catch(1),
    speed: text,
    /** 1 no, 2 yes, 3 yes with periodNum. The vendor's table types it Boolean, live it is an integer. */
    supportTopUpType: z.union([z.literal([true, 'true']).transform(() => 2), whole]).catch(1),
    locationNetworkList: objects(
      object({
        locationName: text,
        locationLogo: text,
        locationCode: text,
        operatorList: objects(object({ operatorName: text, networkType: text })),
      }),
    ),
  }).transform(({ currencyCode, ...item }) => {
    // Of another currency, the price would be taken for dollars.
    if (currencyCode !== '' && currencyCode !== 'USD')
      throw new UnreadableAnswer(`price in ${currencyCode.slice(0, 8)}`);
    return item;
  }),
  'a package',
);
export type WirePackage = ReturnType<typeof readPackage>;

/** `obj.packageList` as it came; entries are read one by one. */
export const packageListOf = reader(
  object({ packageList: list(z.unknown()) }).transform((obj) => obj.packageList),
);

/** `type`: 1 country, 2 multi-country. */
const location = object({ code: requiredText, name: requiredText, type: count });
export type WireLocation = z.output<typeof location>;
export const readLocations = reader(
  object({ locationList: list(location) }).transform((obj) => obj.locationList),
);

/** `obj` of an order: its number, and our id where the vendor repeats it. */
export const readOrder = reader(object({ orderNo: requiredText, transactionId: text }), 'obj');

const esim = object({
  esimTranNo: text,
  orderNo: text,
  transactionId: text,
  imsi: text,
  iccid: text,
  smsStatus: whole.catch(0),
  msisdn: textOrNull,
  ac: text,
  qrCodeUrl: text,
  shortUrl: text,
  smdpStatus: text,
  eid: text,
  activeType: text,
  dataType: whole.catch(1),
  activateTime: time,
  expiredTime: time,
  /** Null while profiles are allocated. */
  totalVolume: wholeOrNull,
  totalDuration: wholeOrNull,
  durationUnit: text,
  orderUsage: whole.catch(0),
  esimStatus: text,
  pin: textOrNull,
  puk: textOrNull,
  apn: text,
  /** The order's and every top-up's since, each under our id. */
  packageList: objects(object({ transactionId: text, packageCode: text, createTime: time })),
}).transform(({ packageList, ...profile }) => ({ profile, packageList }));
export type WireEsim = z.output<typeof esim>;

/** One page of eSIMs; `total` is null where the vendor does not say how many there are in all. */
export const readEsims = reader(
  object({
    esimList: list(esim),
    pager: z.object({ total: wholeOrNull }).catch({ total: null }),
  }).transform(({ esimList, pager }) => ({ esims: esimList, total: pager.total })),
);
export type WireEsimPage = ReturnType<typeof readEsims>;

/** What an eSIM holds after a top-up, under our id where the vendor repeats it. */
export const readTopUp = reader(
  object({
    transactionId: text,
    iccid: requiredText,
    expiredTime: time,
    totalVolume: count,
    totalDuration: count,
    orderUsage: count,
  }).transform(({ totalVolume, orderUsage, ...rest }) => ({
    ...rest,
    totalVolumeBytes: totalVolume,
    orderUsageBytes: orderUsage,
  })),
);

const usage = object({
  esimTranNo: requiredText,
  dataUsage: count,
  totalData: count,
  lastUpdateTime: time,
}).transform(({ esimTranNo, dataUsage: usedBytes, totalData: totalBytes, lastUpdateTime: observedAt }) => ({
  esimTranNo,
  usedBytes,
  totalBytes,
  observedAt,
}));
export const readUsages = reader(
  object({ esimUsageList: list(usage) }).transform((obj) => obj.esimUsageList),
);

/** `obj` of `/webhook/query`: where events go, "" for nowhere. */
export const readEventsUrl = reader(object({ webhook: text }).transform((obj) => obj.webhook));

/** An event's envelope. The fields of its content differ by type, and by the age of the vendor's sample. */
export const readEventBody = reader(
  object({
    notifyType: requiredText,
    notifyId: requiredText,
    eventGenerateTime: time,
    content: z
      .object({ esimTranNo: text, orderNo: text, transactionId: text, esimStatus: textOrNull })
      .catch({ esimTranNo: '', orderNo: '', transactionId: '', esimStatus: null }),
  }),
  'the event',
);

/** What the account holds, US dollars × 10,000; may be negative where the vendor grants credit. */
export const readBalance = reader(object({ balance: whole }).transform((obj) => BigInt(obj.balance)));
