/** Code → the vendor's meaning: the part of its error table that the simulator uses. */
const ERROR_MESSAGES = {
  '000001': 'server error',
  '000101': 'mandatory request header is null',
  '000102': 'request header format is wrong',
  '000103': 'HTTP request method is not supported',
  '000104': 'request body is not valid JSON',
  '000105': 'mandatory request parameter is absent',
  '000106': 'mandatory request parameter is null',
  '000107': 'length of a request parameter is wrong',
  '101001': 'request timestamp expired',
  '101003': 'request signature does not match',
  '200002': 'operation is not allowed in the present order status',
  '200005': 'package price is wrong',
  '200006': 'order total is wrong',
  '200007': 'account balance is insufficient',
  '200008': 'order parameters are wrong',
  '200010': 'profiles are still being allocated',
  '200011': 'not enough profiles in stock',
  '310211': 'location does not exist',
  '310241': 'packageCode does not exist',
  '310243': 'package does not exist',
  '310272': 'orderNo does not exist',
  '310403': 'ICCID is not in the order',
  '900001': 'system busy, please try again later',
} as const;

/** In no table of the vendor: callers must not take an unknown code for a refusal. */
export const UNSEEN_CODE = '209999';

export type ErrorCode = keyof typeof ERROR_MESSAGES | typeof UNSEEN_CODE;

/**
 * A refusal by the supplier; `code` goes out as `errorCode`, the message, without secrets or activation
 * codes, as `errorMsg`.
 */
export class SupplierError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, detail?: string) {
    super(detail ?? (code === UNSEEN_CODE ? 'reason unknown' : ERROR_MESSAGES[code]));
    this.name = 'SupplierError';
    this.code = code;
  }
}
