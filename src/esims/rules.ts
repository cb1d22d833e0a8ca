/** What is known of a delivered eSIM, in our words: the supplier's facts plus the parts of its activation code. */
import { parseLpa } from './lpa.ts';
import type { EsimStatus } from '../domain/states.ts';

/** The supplier's word on one eSIM; times are ISO 8601 UTC or null, volumes bytes. `ac`, PIN and PUK are secrets. */
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
  /** null: a state never seen before, which changes nothing. */
  readonly status: EsimStatus | null;
}

/** What an eSIM holds after a top-up, in all. A supplier may name no new end of validity. */
export interface TopUpTotals {
  readonly iccid: string;
  readonly totalVolumeBytes: number;
  readonly orderUsageBytes: number;
  readonly totalDuration: number;
  readonly expiredTime: string | null;
}

export interface EsimFacts extends ProfileFacts {
  readonly smdpAddress: string;
  readonly matchingId: string;
}

/** Adds the SM-DP+ address and the matching id, taken out of the LPA string. */
export function esimFactsOf(profile: ProfileFacts): EsimFacts {
  const lpa = parseLpa(profile.ac);
  return { ...profile, smdpAddress: lpa?.smdpAddress ?? '', matchingId: lpa?.matchingId ?? '' };
}
