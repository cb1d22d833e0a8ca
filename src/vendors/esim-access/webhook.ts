/**
 * The vendor's events. They are unsigned: what is read here finds the eSIM to ask about, and is believed in
 * nothing else.
 */
import type { SupplierEvent, SupplierEventSubject } from '../../esims/rules.ts';
import { esimStatusOf } from './map.ts';
import { readEventBody } from './wire.ts';

/** Longer than any number or id of the vendor's or ours. */
const MAX_TEXT = 100;

/** The vendor's types of events, by what they are about. */
const SUBJECTS = new Map<string, SupplierEventSubject>([
  ['ORDER_STATUS', 'order'],
  ['ESIM_STATUS', 'esim'],
  ['SMDP_EVENT', 'esim'],
  ['DATA_USAGE', 'esim'],
  ['VALIDITY_USAGE', 'esim'],
  ['CHECK_HEALTH', 'health'],
]);

/**
 * The event in these bytes; undefined if they are not an event: no JSON, no id, no type, or a text that
 * cannot be stored as it is.
 */
export function readEvent(rawBody: Uint8Array): SupplierEvent | undefined {
  try {
    const body = readEventBody(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody)));
    const { notifyId, notifyType: type, content } = body;
    if (!isStorable(notifyId) || !isStorable(type)) return undefined;
    const { esimTranNo, orderNo, transactionId, esimStatus } = content;
    return {
      notifyId,
      type,
      about: SUBJECTS.get(type) ?? 'unknown',
      esimTranNo: storableOrNull(esimTranNo),
      orderNo: storableOrNull(orderNo),
      transactionId: storableOrNull(transactionId),
      supplierStatus: storableOrNull(esimStatus ?? ''),
      isStatusKnown: esimStatus === null || esimStatusOf(esimStatus) !== null,
      generatedAt: body.eventGenerateTime === null ? null : new Date(body.eventGenerateTime),
    };
  } catch {
    return undefined;
  }
}

/** Postgres cannot hold NUL, and refuses half of a surrogate pair. */
function isStorable(text: string): boolean {
  return text.length <= MAX_TEXT && !text.includes('\0') && text.isWellFormed();
}

const storableOrNull = (text: string): string | null => (text !== '' && isStorable(text) ? text : null);
