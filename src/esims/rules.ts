/** What is known of a delivered eSIM, in our words: the supplier's facts plus the parts of its activation code. */
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

/** The parts of an activation code (GSMA SGP.22, section 4.1). Secret: never logged. */
interface LpaParts {
  /** Host name of the SM-DP+ that holds the profile. */
  readonly smdpAddress: string;
  /** Names the profile there; empty where the SM-DP+ knows the device by other means. */
  readonly matchingId: string;
}

/** `LPA:1$<SM-DP+ host>$<matching id>`; an object identifier and a confirmation mark may follow, which installing by hand never needs. */
const LPA = /^LPA:1\$([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)\$([A-Za-z0-9-]*)(?:\$[^$\s]*){0,2}$/;

/** `LPA:1$rsp.example.com$K2-1A` → its parts; null when the text is no activation code. */
export function parseLpa(ac: string): LpaParts | null {
  const match = LPA.exec(ac);
  if (match?.[1] === undefined) return null;
  // Stryker disable next-line StringLiteral: whatever has an address has the second group, if an empty one
  return { smdpAddress: match[1], matchingId: match[2] ?? '' };
}
