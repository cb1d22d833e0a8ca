/**
 * The vendor's words for orders and eSIMs → ours. Pure and total: every input has an answer, and what was
 * never seen before maps to "unknown" or null, never to a guess. Catalogue words are in map-catalogue.ts.
 */
import type { EsimStatus } from '../../domain/states.ts';
import type { Outcome, SupplierProfile } from '../../esims/port.ts';
import type { TopUpTotals } from '../../esims/rules.ts';
import type { Answer } from './client.ts';
import type { NoAnswer } from '../http/transport.ts';
import { CODE_ALLOCATING, CODE_WRONG_STATE, meaningOf } from './codes.ts';
import { readEsims, type WireEsim, type WireEsimPage } from './wire.ts';

type WireProfile = WireEsim['profile'];

/** The supplier's status → ours. The supplier spells a revoked eSIM in two ways. */
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

const USED_UP = 'USED_UP';

/** Our status for the vendor's; null for a value never seen before. */
export function esimStatusOf(supplierStatus: string): EsimStatus | null {
  return ESIM_STATUSES.get(supplierStatus) ?? null;
}

type Failure = Exclude<Answer, { kind: 'answered' }>;
type NotDone = Exclude<Outcome<never>, { outcome: 'done' }>;

function unknown(detail: string, retryAfterMs?: number): NotDone {
  return { outcome: 'unknown', detail, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function lost({ detail, retryAfterMs, notSent }: NoAnswer): NotDone {
  return { ...unknown(detail, retryAfterMs), ...(notSent ? { notSent } : {}) };
}

function detailOf({ code, message }: { code: string; message: string }): string {
  const name = code === '' ? 'no code' : code;
  return message === '' ? name : `${name}: ${message}`;
}

/**
 * What a failed effect means. An order that is "not allowed in its present status" exists, so for orders that
 * is unknown, while for a change to an eSIM it is a refusal.
 */
export function effectFailure(kind: 'order' | 'change', answer: Failure): NotDone {
  if (answer.kind === 'lost') return lost(answer);
  const meaning = meaningOf(answer.code);
  if (meaning.kind === 'unseen') return unknown(`unseen ${detailOf(answer)}`);
  if (meaning.kind === 'unknown') return unknown(detailOf(answer), meaning.retryAfterMs);
  if (kind === 'order' && answer.code === CODE_WRONG_STATE) return unknown(detailOf(answer));
  return { outcome: 'refused', reason: meaning.reason, detail: detailOf(answer) };
}

/**
 * A failed lookup is always unknown. A refusal to answer says nothing about the order, so a wrong key must
 * never look like "no such order".
 */
export function readFailure(answer: Failure): NotDone {
  if (answer.kind === 'lost') return lost(answer);
  const meaning = meaningOf(answer.code);
  // Stryker disable next-line ConditionalExpression: no other meaning has a wait
  return unknown(detailOf(answer), meaning.kind === 'unknown' ? meaning.retryAfterMs : undefined);
}

export function isAllocating(answer: Answer): boolean {
  // Stryker disable next-line ConditionalExpression: no other answer has a code
  return answer.kind === 'failed' && answer.code === CODE_ALLOCATING;
}

/** Whether a listed eSIM is still without its profile. */
export function isUnallocated(esim: WireProfile): boolean {
  return esimStatusOf(esim.esimStatus) === 'PENDING' || (esim.ac === '' && esim.iccid === '');
}

/** What a listed eSIM holds in all; null when it lacks that. */
export function totalsOf(esim: WireProfile): TopUpTotals | null {
  const { iccid, totalVolume, totalDuration, orderUsage, esimStatus, expiredTime } = esim;
  if (totalVolume === null || totalDuration === null || iccid === '') return null;
  // The figure may lag behind the state.
  const orderUsageBytes = esimStatus === USED_UP ? Math.max(orderUsage, totalVolume) : orderUsage;
  return { iccid, totalVolumeBytes: totalVolume, orderUsageBytes, totalDuration, expiredTime };
}

/** A listed eSIM in our words; null when it lacks what an owner needs. */
export function profileOf({ profile: esim, packageList }: WireEsim): SupplierProfile | null {
  const { totalVolume, orderUsage, esimStatus, ...facts } = esim;
  const totals = totalsOf({ ...facts, totalVolume, orderUsage, esimStatus });
  if (totals === null || facts.esimTranNo === '' || facts.ac === '') return null;
  const ordered = packageList.find((item) => item.transactionId === facts.transactionId);
  return {
    ...facts,
    ...totals,
    packageCode: ordered?.packageCode ?? '',
    status: esimStatusOf(esimStatus),
    supplierStatus: esimStatus,
  };
}

/** A page of eSIMs; unknown where the vendor did not give a readable one. */
export function esimPageOf(answer: Answer): Outcome<WireEsimPage> {
  if (answer.kind !== 'answered') return readFailure(answer);
  try {
    return { outcome: 'done', value: readEsims(answer.obj) };
  } catch (error) {
    return { outcome: 'unknown', detail: `unreadable list: ${(error as Error).message}` };
  }
}
