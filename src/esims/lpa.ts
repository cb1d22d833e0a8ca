/**
 * The activation code of an eSIM: the text behind its QR code, as GSMA SGP.22 section 4.1 writes it. Pure; the text and its parts
 * are secrets and must never be logged.
 */
export interface LpaParts {
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
