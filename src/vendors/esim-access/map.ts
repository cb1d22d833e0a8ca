/**
 * The vendor's words for orders and eSIMs → ours. Pure and total: every input has an answer, and what was never seen before maps to
 * "unknown" or null, never to a guess. Catalogue words are in map-catalogue.ts.
 */
import type { TopUpTotals } from '../../esims/rules.ts';
import type { EsimStatus } from '../../domain/states.ts';
import type { EsimUsage, Outcome, SupplierProfile } from '../../esims/port.ts';
import type { Answer } from './client.ts';
import { CODE_ALLOCATING, CODE_WRONG_STATE, meaningOf } from './codes.ts';
import type { WireEsim, WireTopUp, WireUsage } from './wire.ts';

/** Vendor's spelling → ours, as decisions.md lists them; both spellings of a revoked eSIM are met. */
const ESIM_STATUSES = new Map<string, EsimStatus>([
  ['CREATE', 'PENDING'],
  ['PAYING', 'PENDING'],
  ['PAID', 'PENDING'],
  ['GETTING_RESOURCE', 'PENDING'],
  ['GOT_RESOURCE', 'CREATED'],
  ['IN_USE', 'ACTIVE'],
  ['USED_UP', 'ACTIVE'],
  ['USED_EXPIRED', 'EXPIRED'],
  ['UNUSED_EXPIRED', 'EXPIRED'],
  ['CANCEL', 'CANCELLED'],
  ['REVOKE', 'CANCELLED'],
  ['REVOKED', 'CANCELLED'],
  ['SUSPENDED', 'SUSPENDED'],
]);

/** What an unused eSIM is called after a refunding cancellation; a revoked one was not refunded. */
export const CANCELLED_WITH_REFUND = 'CANCEL';

/** Our status for the vendor's; null for a value never seen before. */
export function esimStatusOf(supplierStatus: string): EsimStatus | null {
  return ESIM_STATUSES.get(supplierStatus) ?? null;
}

/** `2026-09-27T19:29:36+0000` (or `Z`, or `+00:00`) → ISO 8601 in UTC with milliseconds; null for "" and for what is no time. */
export function isoTimeOf(wireTime: string): string | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(wireTime)) return null;
  // Stryker disable next-line Regex: Node reads offsets without the colon too, which ECMAScript does not promise
  const time = new Date(wireTime.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** A time as requests carry it: `2026-09-27T19:29:36+00:00`. */
export function wireTimeOf(time: Date): string {
  return `${time.toISOString().slice(0, 19)}+00:00`;
}

/** The kinds of calls whose failure codes read differently. */
export type EffectKind = 'order' | 'change';

type Failure = Exclude<Answer, { kind: 'answered' }>;
type NotDone = Exclude<Outcome<never>, { outcome: 'done' }>;

function unknown(detail: string, retryAfterMs?: number): NotDone {
  return { outcome: 'unknown', detail, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function detailOf({ code, message }: { code: string; message: string }): string {
  const name = code === '' ? 'no code' : code;
  return message === '' ? name : `${name}: ${message}`;
}

/**
 * What a failed effect means. An order that is "not allowed in its present status" exists, so for orders that is unknown, while for
 * a change to an eSIM it is a refusal.
 */
export function effectFailure(kind: EffectKind, answer: Failure): NotDone {
  if (answer.kind === 'lost') return unknown(answer.detail, answer.retryAfterMs);
  const meaning = meaningOf(answer.code);
  if (meaning.kind === 'unseen') return unknown(`unseen ${detailOf(answer)}`);
  if (meaning.kind === 'unknown') return unknown(detailOf(answer), meaning.retryAfterMs);
  if (kind === 'order' && answer.code === CODE_WRONG_STATE) return unknown(detailOf(answer));
  return { outcome: 'refused', reason: meaning.reason, detail: detailOf(answer) };
}

/**
 * What a failed question means: always unknown. That the vendor would not answer says nothing about what was asked, so a wrong key
 * must never look like "no such order".
 */
export function questionFailure(answer: Failure): NotDone {
  if (answer.kind === 'lost') return unknown(answer.detail, answer.retryAfterMs);
  const meaning = meaningOf(answer.code);
  // Stryker disable next-line ConditionalExpression: no other meaning has a wait
  return unknown(detailOf(answer), meaning.kind === 'unknown' ? meaning.retryAfterMs : undefined);
}

export function isAllocating(answer: Answer): boolean {
  // Stryker disable next-line ConditionalExpression: no other answer has a code
  return answer.kind === 'failed' && answer.code === CODE_ALLOCATING;
}

/** Whether a listed eSIM is still without its profile. */
export function isUnallocated(esim: WireEsim): boolean {
  return esimStatusOf(esim.esimStatus) === 'PENDING' || (esim.ac === '' && esim.iccid === '');
}

/** A listed eSIM in our words; null when it lacks what an owner needs. */
export function profileOf(esim: WireEsim): SupplierProfile | null {
  const { totalVolume, totalDuration, esimTranNo, orderNo, iccid, ac } = esim;
  if (totalVolume === null || totalDuration === null || esimTranNo === '' || iccid === '' || ac === '')
    return null;
  return {
    orderNo,
    esimTranNo,
    transactionId: esim.transactionId,
    iccid,
    imsi: esim.imsi,
    msisdn: orNull(esim.msisdn),
    ac,
    qrCodeUrl: esim.qrCodeUrl,
    shortUrl: esim.shortUrl,
    smdpStatus: esim.smdpStatus,
    eid: esim.eid,
    activeType: esim.activeType,
    dataType: esim.dataType,
    smsStatus: esim.smsStatus,
    activateTime: isoTimeOf(esim.activateTime),
    expiredTime: isoTimeOf(esim.expiredTime),
    totalVolumeBytes: totalVolume,
    totalDuration,
    durationUnit: esim.durationUnit,
    orderUsageBytes: esim.orderUsage,
    status: esimStatusOf(esim.esimStatus),
    supplierStatus: esim.esimStatus,
    pin: orNull(esim.pin),
    puk: orNull(esim.puk),
    apn: esim.apn,
  };
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}

export function topUpTotalsOf(wire: WireTopUp): TopUpTotals {
  return {
    iccid: wire.iccid,
    totalVolumeBytes: wire.totalVolume,
    orderUsageBytes: wire.orderUsage,
    totalDuration: wire.totalDuration,
    expiredTime: isoTimeOf(wire.expiredTime),
  };
}

export function usageOf(wire: WireUsage): EsimUsage {
  return {
    esimTranNo: wire.esimTranNo,
    usedBytes: wire.dataUsage,
    totalBytes: wire.totalData,
    observedAt: isoTimeOf(wire.lastUpdateTime),
  };
}
