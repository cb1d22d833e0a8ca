/**
 * The names of the gateway's operations, in statistics and in faults. Guarantee: pure.
 */
export const OPERATION_NAMES = [
  'transaction/initialize',
  'transaction/verify',
  'transaction/list',
  'transaction/fetch',
  'transaction/timeline',
  'charge',
  'charge/submit_otp',
  'charge/check',
  'refund',
  'refund/list',
  'refund/fetch',
  'refund/retry',
  'dispute/list',
  'apple-pay/register',
  'apple-pay/list',
  'apple-pay/unregister',
  'timeout/fetch',
  'timeout/update',
] as const;
export type OperationName = (typeof OPERATION_NAMES)[number];
