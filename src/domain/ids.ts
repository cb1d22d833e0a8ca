const PREFIXES = {
  transaction: 'txn-',
  esim: 'esim-',
  account: 'acc-',
  key: 'key-',
  endpoint: 'ep-',
  message: 'msg-',
  event: 'evt-',
  action: 'action-',
  repair: 'repair-',
  batch: 'batch-',
  quote: 'quote-',
  checkout: 'checkout-',
  return: 'return-',
  replacement: 'replacement-',
  mandate: 'mandate-',
  user: 'user-',
  invitation: 'inv-',
  channel: 'channel-',
  adjustment: 'adjust-',
} as const;

export type IdKind = keyof typeof PREFIXES;

const HEX_32 = /^[0-9a-f]{32}$/;

/**
 * Makes an id from 32 lowercase hexadecimal digits of randomness or of an HMAC: callers see ids and must not
 * guess them. Payment gateways refuse `_` in references.
 */
export function makeId(kind: IdKind, hex32: string): string {
  if (!HEX_32.test(hex32)) throw new RangeError(`no ${kind} id can be made of that`);
  return PREFIXES[kind] + hex32;
}

/** Whether a text can be one of our ids. Any other text is answered "not found" before any query. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = PREFIXES[kind];
  return text.startsWith(prefix) && HEX_32.test(text.slice(prefix.length));
}
