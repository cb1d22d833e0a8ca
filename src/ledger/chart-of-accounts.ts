/** Assets and expenses grow by debits, all others by credits. */
export type AccountClass = 'asset' | 'liability' | 'equity' | 'income' | 'expense';

/** Every report takes its signs from here. */
const CLASS_OF = {
  wallet: 'liability',
  /** Taken back by a bank after the wallet had spent it. */
  owed: 'asset',
  held: 'liability',
  /** Money owed to buyers, or at risk in a dispute; `evidence` is its other side. */
  suspense: 'liability',
  'gateway-clearing': 'asset',
  'supplier-prepaid': 'asset',
  /** Money that reached us outside the gateway. */
  funding: 'asset',
  evidence: 'asset',
  revenue: 'income',
  'supplier-cost': 'expense',
  /** Our position in each currency, from money converted at a locked rate. */
  exchange: 'equity',
} as const satisfies Record<string, AccountClass>;

export type LedgerKind = keyof typeof CLASS_OF;
export const LEDGER_KINDS = Object.keys(CLASS_OF) as LedgerKind[];

export function isLedgerKind(text: string): text is LedgerKind {
  return Object.hasOwn(CLASS_OF, text);
}

export function classOf(kind: LedgerKind): AccountClass {
  return CLASS_OF[kind];
}

/**
 * A stored amount as a credit (above zero) or a debit (below zero). In USD4 a positive amount is a debit:
 * costs were stored so from the first release, and entries never change
 * (docs/decisions/0035-accounts-have-a-normal-side.md).
 */
export function creditOf(storedMinor: bigint, currency: string): bigint {
  return currency === 'USD4' ? -storedMinor : storedMinor;
}

/** Splits a credit (above zero) or a debit (below zero) into its column. */
export function sidesOf(creditMinor: bigint): { readonly debitMinor: bigint; readonly creditMinor: bigint } {
  return {
    debitMinor: creditMinor < 0n ? -creditMinor : 0n,
    creditMinor: creditMinor > 0n ? creditMinor : 0n,
  };
}

/** A balance that is above zero on the account's normal side: the one that increases it. */
export function balanceOn(kind: LedgerKind, creditMinor: bigint): bigint {
  return ['asset', 'expense'].includes(classOf(kind)) ? -creditMinor : creditMinor;
}
