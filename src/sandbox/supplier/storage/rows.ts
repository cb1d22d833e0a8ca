/**
 * What the supplier holds, row by row. Guarantee: types only, equal to the tables in database.ts.
 */

/** A package as it was when it was bought. */
export interface PlanSnapshot {
  packageCode: string;
  slug: string;
  packageName: string;
  locationCode: string;
  topUpGroup: string;
  volume: number;
  duration: number;
  dataType: number;
  smsStatus: number;
  activeType: number;
  unusedValidTime: number;
  ipExport: string;
  supportTopUpType: number;
  fupPolicy: string;
}

/** One line of an order; `price` is the unit price that was charged. */
export interface OrderLine {
  packageCode: string;
  count: number;
  price: number;
  periodNum: number;
}

export interface OrderRow {
  orderNo: string;
  transactionId: string;
  amount: number;
  /** JSON of OrderLine[]. */
  lines: string;
  createdAtMs: number;
  /** Null while the order is held back. */
  allocatedAtMs: number | null;
  heldBy: 'fault' | 'magic' | null;
  /** How many times this transactionId was received. */
  requests: number;
}

export interface EsimRow {
  esimTranNo: string;
  orderNo: string;
  transactionId: string;
  iccid: string;
  /** JSON of PlanSnapshot. */
  plan: string;
  /** What this eSIM cost, for the refund of a cancel. */
  paid: number;
  createdAtMs: number;
  allocatedAtMs: number | null;
  /** When it goes into use; null when not by itself. */
  activatesAtMs: number | null;
  totalVolume: number;
  totalDuration: number;
  orderUsage: number;
  /** What a lagging usage report still says. */
  laggingUsage: number;
  usageAtMs: number | null;
  forcedStatus: string | null;
  forcedSmdp: string | null;
}

export interface TopUpRow {
  transactionId: string;
  topUpEsimTranNo: string;
  esimTranNo: string;
  amount: number;
  /** JSON of PlanSnapshot. */
  plan: string;
  volume: number;
  duration: number;
  createdAtMs: number;
  /** When the (synchronous) answer may be sent. */
  answersAtMs: number;
  requests: number;
  /** JSON of the reply, so that a repeat is answered unchanged. */
  reply: string;
}

/** What a moment in the future will tell the webhook's receiver. */
export interface DueEventRow {
  id: number;
  atMs: number;
  kind: 'ALLOCATED' | 'IN_USE' | 'VALIDITY' | 'EXPIRED';
  /** orderNo for ALLOCATED, esimTranNo otherwise. */
  target: string;
}
