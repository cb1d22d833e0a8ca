/** What two people of finance may do to a wallet by hand. */

/**
 * FUNDING: money that reached us outside the gateway, such as a bank transfer. CREDIT: given by us. The
 * others take back what one of these was wrong about.
 */
export const ADJUSTMENT_KINDS = ['FUNDING', 'CREDIT', 'FUNDING_CORRECTION', 'CREDIT_CORRECTION'] as const;
export type AdjustmentKind = (typeof ADJUSTMENT_KINDS)[number];

/** WAITS: for a second person. EXPIRED: its time to be decided is over. */
export const ADJUSTMENT_STATUSES = ['WAITS', 'BOOKED', 'DECLINED', 'EXPIRED'] as const;
export type AdjustmentStatus = (typeof ADJUSTMENT_STATUSES)[number];

/** One transfer is written in several ways: blanks, widths and kinds of hyphens do not tell two apart. */
export const plainReference = (typed: string): string =>
  typed
    .normalize('NFKC')
    .replaceAll(/\p{Pd}/gu, '-')
    .replaceAll(/\s+/g, ' ')
    .trim();
