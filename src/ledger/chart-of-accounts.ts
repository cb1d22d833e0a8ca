/** Assets and expenses grow by debits, all others by credits. */
export type AccountClass = 'asset' | 'liability' | 'equity' | 'income' | 'expense';

interface Described {
  readonly class: AccountClass;
  /** In journals for accountants: by class, with room between them. */
  readonly code: string;
  readonly name: string;
}

/** Every report takes its signs from here, and every journal its codes and names. */
const CHART = {
  wallet: { class: 'liability', code: '2100', name: 'Wallets of accounts' },
  /** Taken back by a bank after the wallet had spent it. */
  owed: { class: 'asset', code: '1400', name: 'Owed by accounts' },
  held: { class: 'liability', code: '2200', name: 'On hold for open purchases' },
  /** Money owed to buyers, or at risk in a dispute; `evidence` is its other side. */
  suspense: { class: 'liability', code: '2300', name: 'Suspense' },
  'gateway-clearing': { class: 'asset', code: '1100', name: 'Clearing' },
  'supplier-prepaid': { class: 'asset', code: '1200', name: 'Prepaid at supplier' },
  /** Money that reached us outside the gateway. */
  funding: { class: 'asset', code: '1300', name: 'Funding outside the gateway' },
  evidence: { class: 'asset', code: '1310', name: 'Recorded by hand, to be confirmed' },
  revenue: { class: 'income', code: '4000', name: 'Sales of data packages' },
  'supplier-cost': { class: 'expense', code: '5000', name: 'Cost of data packages' },
  /** Our position in each currency, from money converted at a locked rate. */
  exchange: { class: 'equity', code: '3100', name: 'Exchange position' },
} as const satisfies Record<string, Described>;

export type LedgerKind = keyof typeof CHART;
export const LEDGER_KINDS = Object.keys(CHART) as LedgerKind[];

export function isLedgerKind(text: string): text is LedgerKind {
  return Object.hasOwn(CHART, text);
}

export function classOf(kind: LedgerKind): AccountClass {
  return CHART[kind].class;
}

/** As an accountant's program knows it: all wallets of a currency are one account. */
export function describeAccount(
  kind: LedgerKind,
  { account, currency }: { readonly account: string; readonly currency: string },
): { readonly code: string; readonly name: string } {
  const { code, name } = CHART[kind];
  const [, whose] = account.split(':');
  const vendor = account.split(':').length === 3 ? ` ${whose}` : '';
  return { code, name: `${name}${vendor} ${currency === 'USD4' ? 'USD' : currency}` };
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
