import type { EsimStatus } from '../domain/states.ts';

/** Suppliers with an adapter. The names stand in rows, ledger accounts, queues and paths. */
export const SUPPLIER_NAMES = ['esim-access'] as const;
export type SupplierName = (typeof SUPPLIER_NAMES)[number];

/**
 * What the supplier says about one eSIM, in our words; times are ISO 8601 UTC or null, volumes bytes. `ac`,
 * PIN and PUK are secrets.
 */
export interface ProfileFacts {
  readonly orderNo: string;
  readonly esimTranNo: string;
  readonly iccid: string;
  readonly imsi: string;
  readonly msisdn: string | null;
  readonly ac: string;
  readonly qrCodeUrl: string;
  readonly shortUrl: string;
  readonly pin: string | null;
  readonly puk: string | null;
  readonly eid: string;
  readonly smdpStatus: string;
  readonly activeType: string;
  readonly activateTime: string | null;
  readonly expiredTime: string | null;
  readonly totalVolumeBytes: number;
  readonly orderUsageBytes: number;
  readonly totalDuration: number;
  readonly durationUnit: string;
  readonly apn: string;
  readonly smsStatus: number;
  readonly dataType: number;
  /** null: a status never seen before: ours stays. */
  readonly status: EsimStatus | null;
}

/** What a supplier's event is about; `unknown`: a kind never seen before. */
export const SUPPLIER_EVENT_SUBJECTS = ['esim', 'order', 'health', 'unknown'] as const;
export type SupplierEventSubject = (typeof SUPPLIER_EVENT_SUBJECTS)[number];

/**
 * A supplier's event, as far as it says what to ask about. It is unsigned: it proves nothing. Texts are at
 * most 100 characters.
 */
export interface SupplierEvent {
  /** The same for every repeat. */
  readonly notifyId: string;
  /** The supplier's own word. */
  readonly type: string;
  readonly about: SupplierEventSubject;
  readonly esimTranNo: string | null;
  readonly orderNo: string | null;
  /** Ours, of the order. */
  readonly transactionId: string | null;
  /** The supplier's own word for the state, and whether it was ever seen before. */
  readonly supplierStatus: string | null;
  readonly isStatusKnown: boolean;
  readonly generatedAt: Date | null;
}

/** Usage of one eSIM as a list says it; `observedAt` is ISO 8601, null where the supplier does not say. */
export interface UsageFacts {
  readonly esimTranNo: string;
  readonly usedBytes: number;
  readonly observedAt: string | null;
}

/** What an eSIM holds after a top-up, in all. A supplier may name no new end of validity. */
export type TopUpTotals = Pick<
  ProfileFacts,
  'iccid' | 'totalVolumeBytes' | 'orderUsageBytes' | 'totalDuration' | 'expiredTime'
>;

/**
 * `LPA:1$<SM-DP+ host>$<matching id>`; an object identifier and a confirmation mark may follow, which
 * installing by hand never needs.
 */
const LPA = /^LPA:1\$([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)\$([A-Za-z0-9-]*)(?:\$[^$\s]*){0,2}$/;

/**
 * `LPA:1$rsp.example.com$K2-1A` → host name of the SM-DP+ that holds the profile, and the profile's name
 * there, which is empty where the SM-DP+ knows the device by other means. Both are empty when the text is no
 * activation code (GSMA SGP.22, section 4.1). Secret: never logged.
 */
export function parseLpa(ac: string): { readonly smdpAddress: string; readonly matchingId: string } {
  const [, smdpAddress = '', matchingId = ''] = LPA.exec(ac) ?? [];
  return { smdpAddress, matchingId };
}
