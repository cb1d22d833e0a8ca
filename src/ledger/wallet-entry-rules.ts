/** What a change of a wallet's balance is called, and how it is explained to the wallet's owner. Pure. */

/** As in migrations/world/baseline/wallet-entries.ts, which says which transfer of the ledger is which. */
export const WALLET_ENTRY_KINDS = [
  'HOLD',
  'RELEASE',
  'FUNDING',
  'REFUND',
  'RETURN',
  'CREDIT',
  'WITHDRAWAL',
  'DISPUTE',
  'ADJUSTMENT',
] as const;
export type WalletEntryKind = (typeof WALLET_ENTRY_KINDS)[number];

/**
 * HELD: reserved for an open purchase. CHARGED: the purchase was delivered. RELEASED: given back, by a
 * RELEASE.
 */
export const HOLD_STATUSES = ['HELD', 'CHARGED', 'RELEASED'] as const;
export type HoldStatus = (typeof HOLD_STATUSES)[number];

/** What an explanation is made of. */
interface ExplainedEntry {
  readonly kind: WalletEntryKind;
  /** The ledger's own word for the transfer. */
  readonly ledgerKind: string;
  readonly holdStatus: HoldStatus | null;
  /** Whether the balance grew. */
  readonly isGain: boolean;
  readonly packageName: string | null;
  /** Whether the package is data for an eSIM that there was before. */
  readonly isTopUp: boolean;
  /** Whether the transaction is a funding of the wallet. */
  readonly isFunding: boolean;
}

/** One plain sentence. Names nothing that only operators may know. */
export function explainEntry(given: ExplainedEntry): string {
  const isNamedTopUp = given.isTopUp && given.packageName !== null;
  const entry = isNamedTopUp ? { ...given, packageName: `the top-up ${given.packageName}` } : given;
  const { kind, holdStatus, packageName } = entry;
  const what = packageName ?? 'a purchase';
  switch (kind) {
    case 'HOLD':
      return `${HOLD_WORDS[holdStatus ?? 'HELD']} ${what}`;
    case 'RELEASE':
      return `Given back: ${what} was not delivered`;
    case 'FUNDING':
      return explainFunding(entry);
    case 'REFUND':
      return `Refund for ${what}, credited to the wallet`;
    case 'RETURN':
      return `Returned: ${what}`;
    case 'CREDIT':
      return packageName === null ? 'Credit from us' : `Credit from us for ${packageName}`;
    case 'WITHDRAWAL':
      return `Sent back to where it was paid from: ${entry.isFunding ? 'a funding of the wallet' : what}`;
    case 'DISPUTE':
      return explainDispute(entry);
    case 'ADJUSTMENT':
      return CORRECTION_WORDS[entry.ledgerKind] ?? 'Adjustment of the balance';
  }
}

const CORRECTION_WORDS: Readonly<Record<string, string | undefined>> = {
  'funding-corrected': 'Correction of a funding that we recorded',
  'credit-corrected': 'Correction of a credit from us',
};

const HOLD_WORDS: Readonly<Record<HoldStatus, string>> = {
  HELD: 'On hold for',
  CHARGED: 'Paid for',
  RELEASED: 'Was on hold for',
};

/** What a bank asks for leaves the balance until the dispute has ended. */
function explainDispute({ ledgerKind, isGain, packageName, isFunding }: ExplainedEntry): string {
  const what = packageName === null || isFunding ? 'a funding of the wallet' : `a payment for ${packageName}`;
  if (isGain) return `Free again after a dispute of ${what}`;
  return ledgerKind === 'disputed' ? `Frozen: a bank disputes ${what}` : `Taken back by a bank: ${what}`;
}

/** Payments for a purchase that could not use them stay in the wallet. */
function explainFunding({ ledgerKind, packageName, isFunding }: ExplainedEntry): string {
  if (ledgerKind === 'fund') return 'Wallet funded by command';
  if (ledgerKind === 'funded-by-hand') return 'Wallet funded outside the gateway';
  if (isFunding || packageName === null) return 'Wallet funded';
  return `${PAYMENT_WORDS[ledgerKind] ?? 'Payment'} for ${packageName}, kept in the wallet`;
}

const PAYMENT_WORDS: Readonly<Record<string, string | undefined>> = {
  'payment-received-over': 'Overpayment',
  'payment-received-short': 'Payment that was too low',
  'payment-received-late': 'Late payment',
  'payment-received-again': 'Second payment',
};
