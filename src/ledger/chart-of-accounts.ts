/**
 * What each kind of ledger account is to an accountant, and on which side its entries and its balance stand. Every report asks this page, so that
 * none has a sign of its own.
 */

/** What an account is: assets and expenses grow by debits, all others by credits. */
export type AccountClass = 'asset' | 'liability' | 'equity' | 'income' | 'expense';

const CLASS_OF = {
  wallet: 'liability',
  held: 'liability',
  /** Owed to buyers, or at risk with us; a claim is its other side. */
  suspense: 'liability',
  'gateway-clearing': 'asset',
  'supplier-prepaid': 'asset',
  /** Money that reached us beside the gateway. */
  funding: 'asset',
  evidence: 'asset',
  revenue: 'income',
  'supplier-cost': 'expense',
  /** Our position in each currency, from money that was changed at a locked rate. */
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

/** The side on which an account of this kind grows. */
export function normalSideOf(kind: LedgerKind): 'debit' | 'credit' {
  const accountClass = classOf(kind);
  return accountClass === 'asset' || accountClass === 'expense' ? 'debit' : 'credit';
}

/**
 * A stored amount as a credit (above zero) or a debit (below zero). In USD4 a positive amount debits: that is how costs were stored from
 * the first release on, and entries never change (docs/decisions/0035-accounts-have-a-normal-side.md).
 */
export function creditOf(storedMinor: bigint, currency: string): bigint {
  return currency === 'USD4' ? -storedMinor : storedMinor;
}

/** A credit (above zero) or a debit (below zero) in its column. */
export function sidesOf(creditMinor: bigint): { readonly debitMinor: bigint; readonly creditMinor: bigint } {
  return {
    debitMinor: creditMinor < 0n ? -creditMinor : 0n,
    creditMinor: creditMinor > 0n ? creditMinor : 0n,
  };
}

/** A balance as its account counts: above zero on the normal side. */
export function balanceOn(kind: LedgerKind, creditMinor: bigint): bigint {
  return normalSideOf(kind) === 'debit' ? -creditMinor : creditMinor;
}
