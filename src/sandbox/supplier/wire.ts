/**
 * The vendor's wire types: what goes over HTTP between an eSIM reseller and its supplier, as the simulator speaks it.
 * Guarantee: shapes and spellings only, no behaviour besides time formats. Must not import anything of the product.
 */

/** Every answer of the supplier, success or not. `errorCode` is "0" on success (some of the vendor's own examples have null). */
export interface Envelope {
  success: boolean;
  errorCode: string | null;
  errorMsg: string | null;
  obj: unknown;
}

export interface WireOperator {
  operatorName: string;
  networkType: string;
}

export interface WireLocationNetwork {
  locationName: string;
  locationLogo: string;
  locationCode: string;
  operatorList: WireOperator[];
}

/** One package of `/package/list`. Prices are USD x 10,000, volumes bytes. */
export interface WirePackage {
  packageCode: string;
  slug: string;
  name: string;
  price: number;
  currencyCode: 'USD';
  volume: number;
  smsStatus: 0 | 1 | 2;
  dataType: 1 | 2 | 3 | 4;
  unusedValidTime: number;
  duration: number;
  durationUnit: 'DAY';
  location: string;
  locationCode: string;
  description: string;
  activeType: 1 | 2;
  favorite: boolean;
  retailPrice: number;
  speed: string;
  ipExport: string;
  supportTopUpType: 1 | 2 | 3;
  fupPolicy: string;
  locationNetworkList: WireLocationNetwork[];
}

export interface WireSubLocation {
  code: string;
  name: string;
}

/** One entry of `/location/list`; type 1 is a country, 2 a multi-country region. */
export interface WireLocation {
  code: string;
  name: string;
  type: 1 | 2;
  subLocationList: WireSubLocation[] | null;
}

/** One eSIM of `/esim/query`, in the field order of a live answer. */
export interface WireEsim {
  esimTranNo: string;
  orderNo: string;
  transactionId: string;
  imsi: string;
  iccid: string;
  smsStatus: number;
  msisdn: string;
  ac: string;
  qrCodeUrl: string;
  shortUrl: string;
  smdpStatus: string;
  eid: string;
  activeType: number;
  dataType: number;
  activateTime: string | null;
  expiredTime: string;
  installationTime: string | null;
  totalVolume: number;
  totalDuration: number;
  durationUnit: 'DAY';
  orderUsage: number;
  esimStatus: string;
  pin: string;
  puk: string;
  apn: string;
  ipExport: string;
  supportTopUpType: number;
  fupPolicy: string;
  packageList: WireEsimPackage[];
}

export interface WireEsimPackage {
  packageName: string;
  packageCode: string;
  slug: string;
  duration: number;
  volume: number;
  locationCode: string;
  createTime: string;
  esimTranNo: string;
  transactionId: string;
}

export type NotifyType =
  'CHECK_HEALTH' | 'ORDER_STATUS' | 'ESIM_STATUS' | 'SMDP_EVENT' | 'DATA_USAGE' | 'VALIDITY_USAGE';

/** A webhook as it is posted: unsigned JSON. */
export interface WireWebhook {
  notifyType: NotifyType;
  notifyId: string;
  eventGenerateTime: string;
  content: Record<string, unknown>;
}

/** Time in an answer: `2026-09-27T19:29:36+0000`, without a colon in the offset. */
export function replyTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}+0000`;
}

/** Time in a webhook: `2026-09-27T19:29:36Z`. */
export function webhookTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
