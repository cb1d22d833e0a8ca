/** Lists about automatic top-ups that were agreed to in advance. */
export const MANDATE_STATES = ['ACTIVE', 'ENDED'] as const;
export type MandateState = (typeof MANDATE_STATES)[number];

export const MANDATE_AGREED_BY = ['TRAVELLER', 'MERCHANT'] as const;
export type MandateAgreedBy = (typeof MANDATE_AGREED_BY)[number];

/** Nobody asked for it, so the shop is told. */
export const MANDATE_ENDS_BY_ITSELF = [
  'EXPIRED',
  'LIMIT_REACHED',
  'ESIM_ENDED',
  /** The key or member that agreed may not buy any more, or the shop has taken its offer back. */
  'NOT_ALLOWED',
] as const;

export const MANDATE_END_REASONS = [
  'ENDED_BY_TRAVELLER',
  'ENDED_BY_MERCHANT',
  /** Other terms were agreed to in its place. */
  'SUPERSEDED',
  ...MANDATE_ENDS_BY_ITSELF,
] as const;
export type MandateEndReason = (typeof MANDATE_END_REASONS)[number];
