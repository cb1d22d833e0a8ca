/**
 * The vendor's wire types and how they are read: leniently where the vendor's own pages disagree (booleans and numbers as text, two
 * names for the error text, null codes), strictly where a wrong guess would cost money. Must not know our words for anything.
 */

import {
  UnreadableAnswer,
  fieldsListOf,
  fieldsOf,
  isFields,
  listOf,
  requiredText,
  requiredWhole,
  textOf,
  wholeOr,
  wholeOrNull,
  type Fields,
} from '../http/json.ts';

export type Envelope =
  | { readonly success: true; readonly obj: unknown }
  /** `code` is "" where the vendor gave none. */
  | { readonly success: false; readonly code: string; readonly message: string };

/** Reads an answer's body; throws UnreadableAnswer for anything that is not the vendor's envelope. */
export function parseEnvelope(body: string): Envelope {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new UnreadableAnswer('not JSON');
  }
  const fields = fieldsOf(parsed, 'the answer');
  const success = fields['success'];
  if (success === true || success === 'true') return { success: true, obj: fields['obj'] };
  if (success !== false && success !== 'false') throw new UnreadableAnswer('no envelope: success is missing');
  const code = fields['errorCode'];
  return {
    success: false,
    // Codes are six digits; one sent as a JSON number has lost its leading zeros.
    code: typeof code === 'number' ? String(code).padStart(6, '0') : textOf(fields, 'errorCode'),
    message: textOf(fields, 'errorMsg') || textOf(fields, 'errorMessage'),
  };
}

export interface WireOperator {
  readonly operatorName: string;
  readonly networkType: string;
}

export interface WireLocationNetwork {
  readonly locationName: string;
  readonly locationLogo: string;
  readonly locationCode: string;
  readonly operatorList: readonly WireOperator[];
}

export interface WirePackage {
  readonly packageCode: string;
  readonly slug: string;
  readonly name: string;
  /** US dollars × 10,000. */
  readonly price: number;
  readonly volume: number;
  readonly dataType: number;
  readonly unusedValidTime: number;
  readonly duration: number;
  readonly durationUnit: string;
  /** Country codes, comma-separated. */
  readonly location: string;
  readonly locationCode: string;
  readonly description: string;
  readonly activeType: number;
  readonly speed: string;
  /** 1 no, 2 yes, 3 yes with periodNum. */
  readonly supportTopUpType: number;
  readonly locationNetworkList: readonly WireLocationNetwork[];
}

function readNetwork(fields: Fields): WireLocationNetwork {
  return {
    locationName: textOf(fields, 'locationName'),
    locationLogo: textOf(fields, 'locationLogo'),
    locationCode: textOf(fields, 'locationCode'),
    operatorList: fieldsListOf(fields, 'operatorList').map((operator) => ({
      operatorName: textOf(operator, 'operatorName'),
      networkType: textOf(operator, 'networkType'),
    })),
  };
}

/** The table types it Boolean, live it is an integer. */
function readTopUpType(value: unknown): number {
  if (value === true || value === 'true') return 2;
  return wholeOrNull(value) ?? 1;
}

/** One entry of a package list. A currency other than USD is refused: its price would be taken for dollars. */
export function readPackage(value: unknown): WirePackage {
  const fields = fieldsOf(value, 'a package');
  const currency = textOf(fields, 'currencyCode');
  if (currency !== '' && currency !== 'USD') throw new UnreadableAnswer(`price in ${currency.slice(0, 8)}`);
  return {
    packageCode: requiredText(fields, 'packageCode'),
    slug: textOf(fields, 'slug'),
    name: requiredText(fields, 'name'),
    price: requiredWhole(fields, 'price'),
    volume: requiredWhole(fields, 'volume'),
    dataType: wholeOr(fields, 'dataType', 1),
    unusedValidTime: requiredWhole(fields, 'unusedValidTime'),
    duration: requiredWhole(fields, 'duration'),
    durationUnit: requiredText(fields, 'durationUnit'),
    location: requiredText(fields, 'location'),
    locationCode: textOf(fields, 'locationCode'),
    description: textOf(fields, 'description'),
    activeType: wholeOr(fields, 'activeType', 1),
    speed: textOf(fields, 'speed'),
    supportTopUpType: readTopUpType(fields['supportTopUpType']),
    locationNetworkList: fieldsListOf(fields, 'locationNetworkList').map(readNetwork),
  };
}

/** `obj.packageList` as it came; entries are read one by one. */
export function packageListOf(obj: unknown): readonly unknown[] {
  return listOf(fieldsOf(obj, 'obj'), 'packageList');
}

export interface WireLocation {
  readonly code: string;
  readonly name: string;
  /** 1 country, 2 multi-country. */
  readonly type: number;
}

export function locationListOf(obj: unknown): readonly unknown[] {
  return listOf(fieldsOf(obj, 'obj'), 'locationList');
}

export function readLocation(value: unknown): WireLocation {
  const fields = fieldsOf(value, 'a location');
  return {
    code: requiredText(fields, 'code'),
    name: requiredText(fields, 'name'),
    type: requiredWhole(fields, 'type'),
  };
}

/** `obj` of an order: its number, and our id where the vendor repeats it. */
export function readOrder(obj: unknown): { readonly orderNo: string; readonly transactionId: string } {
  const fields = fieldsOf(obj, 'obj');
  return { orderNo: requiredText(fields, 'orderNo'), transactionId: textOf(fields, 'transactionId') };
}

export interface WireEsim {
  readonly esimTranNo: string;
  readonly orderNo: string;
  readonly transactionId: string;
  readonly imsi: string;
  readonly iccid: string;
  readonly smsStatus: number;
  readonly msisdn: string;
  readonly ac: string;
  readonly qrCodeUrl: string;
  readonly shortUrl: string;
  readonly smdpStatus: string;
  readonly eid: string;
  readonly activeType: string;
  readonly dataType: number;
  readonly activateTime: string;
  readonly expiredTime: string;
  /** Null while profiles are allocated. */
  readonly totalVolume: number | null;
  readonly totalDuration: number | null;
  readonly durationUnit: string;
  readonly orderUsage: number;
  readonly esimStatus: string;
  readonly pin: string;
  readonly puk: string;
  readonly apn: string;
  /** The order's and every top-up's since. */
  readonly packages: readonly WireEsimPackage[];
}

export interface WireEsimPackage {
  /** Ours. */
  readonly transactionId: string;
  readonly packageCode: string;
  readonly createTime: string;
}

/** One page of eSIMs. */
export interface WireEsimPage {
  readonly esims: readonly WireEsim[];
  /** How many there are in all; null where the vendor does not say. */
  readonly total: number | null;
}

export function readEsims(obj: unknown): WireEsimPage {
  const fields = fieldsOf(obj, 'obj');
  const esims = listOf(fields, 'esimList').map(readEsim);
  const pager = fields['pager'];
  return { esims, total: isFields(pager) ? wholeOrNull(pager['total']) : null };
}

function readEsim(value: unknown): WireEsim {
  const fields = fieldsOf(value, 'an eSIM');
  return {
    esimTranNo: textOf(fields, 'esimTranNo'),
    orderNo: textOf(fields, 'orderNo'),
    transactionId: textOf(fields, 'transactionId'),
    imsi: textOf(fields, 'imsi'),
    iccid: textOf(fields, 'iccid'),
    smsStatus: wholeOr(fields, 'smsStatus', 0),
    msisdn: textOf(fields, 'msisdn'),
    ac: textOf(fields, 'ac'),
    qrCodeUrl: textOf(fields, 'qrCodeUrl'),
    shortUrl: textOf(fields, 'shortUrl'),
    smdpStatus: textOf(fields, 'smdpStatus'),
    eid: textOf(fields, 'eid'),
    activeType: textOf(fields, 'activeType'),
    dataType: wholeOr(fields, 'dataType', 1),
    activateTime: textOf(fields, 'activateTime'),
    expiredTime: textOf(fields, 'expiredTime'),
    totalVolume: wholeOrNull(fields['totalVolume']),
    totalDuration: wholeOrNull(fields['totalDuration']),
    durationUnit: textOf(fields, 'durationUnit'),
    orderUsage: wholeOr(fields, 'orderUsage', 0),
    esimStatus: textOf(fields, 'esimStatus'),
    pin: textOf(fields, 'pin'),
    puk: textOf(fields, 'puk'),
    apn: textOf(fields, 'apn'),
    packages: fieldsListOf(fields, 'packageList').map((item) => ({
      transactionId: textOf(item, 'transactionId'),
      packageCode: textOf(item, 'packageCode'),
      createTime: textOf(item, 'createTime'),
    })),
  };
}

export interface WireTopUp {
  readonly transactionId: string;
  readonly iccid: string;
  readonly expiredTime: string;
  readonly totalVolume: number;
  readonly totalDuration: number;
  readonly orderUsage: number;
}

export function readTopUp(obj: unknown): WireTopUp {
  const fields = fieldsOf(obj, 'obj');
  return {
    transactionId: textOf(fields, 'transactionId'),
    iccid: requiredText(fields, 'iccid'),
    expiredTime: textOf(fields, 'expiredTime'),
    totalVolume: requiredWhole(fields, 'totalVolume'),
    totalDuration: requiredWhole(fields, 'totalDuration'),
    orderUsage: requiredWhole(fields, 'orderUsage'),
  };
}

export interface WireUsage {
  readonly esimTranNo: string;
  readonly dataUsage: number;
  readonly totalData: number;
  readonly lastUpdateTime: string;
}

export function readUsages(obj: unknown): readonly WireUsage[] {
  return listOf(fieldsOf(obj, 'obj'), 'esimUsageList').map((value) => {
    const fields = fieldsOf(value, 'a usage');
    return {
      esimTranNo: requiredText(fields, 'esimTranNo'),
      dataUsage: requiredWhole(fields, 'dataUsage'),
      totalData: requiredWhole(fields, 'totalData'),
      lastUpdateTime: textOf(fields, 'lastUpdateTime'),
    };
  });
}

/** What the account holds, US dollars × 10,000; may be negative where the vendor grants credit. */
export function readBalance(obj: unknown): bigint {
  const balance = wholeOrNull(fieldsOf(obj, 'obj')['balance']);
  if (balance === null) throw new UnreadableAnswer('balance is no whole number');
  return BigInt(balance);
}
