/**
 * The shapes of our ids. Letters, digits and `-` only, since payment gateways refuse `_`; unguessable, since they are shown to callers.
 * An id that does not fit is answered "not found" before any query (decisions.md).
 */
const HEX_32 = '[0-9a-f]{32}';

const PATTERNS = {
  transaction: new RegExp(`^txn-${HEX_32}$`),
  esim: new RegExp(`^esim-${HEX_32}$`),
  account: new RegExp(`^acc-${HEX_32}$`),
  key: new RegExp(`^key-${HEX_32}$`),
  endpoint: new RegExp(`^ep-${HEX_32}$`),
  message: new RegExp(`^msg-${HEX_32}$`),
  move: new RegExp(`^move-${HEX_32}$`),
  person: new RegExp(`^person-${HEX_32}$`),
} as const;

export type IdKind = keyof typeof PATTERNS;

const PREFIXES: Record<IdKind, string> = {
  transaction: 'txn',
  esim: 'esim',
  account: 'acc',
  key: 'key',
  endpoint: 'ep',
  message: 'msg',
  move: 'move',
  person: 'person',
};

/** Makes an id from 32 lowercase hexadecimal digits of randomness or of an HMAC. */
export function makeId(kind: IdKind, hex32: string): string {
  const id = `${PREFIXES[kind]}-${hex32}`;
  if (!PATTERNS[kind].test(id)) throw new RangeError(`no ${kind} id can be made of that`);
  return id;
}

/** Whether a text from outside can be one of our ids of that kind. */
export function isId(kind: IdKind, text: string): boolean {
  return PATTERNS[kind].test(text);
}
