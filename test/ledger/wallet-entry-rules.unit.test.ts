import { describe, expect, it } from 'vitest';
import { explainEntry } from '../../src/ledger/wallet-entry-rules.ts';

type Entry = Parameters<typeof explainEntry>[0];
const entry: Entry = {
  kind: 'HOLD',
  ledgerKind: 'hold',
  holdStatus: null,
  packageName: 'Nigeria 5GB',
  isTopUp: false,
  isFunding: false,
  isGain: false,
};

describe('the name of an entry', () => {
  it.each<[Partial<Entry>, string]>([
    [{ holdStatus: 'HELD' }, 'On hold for Nigeria 5GB'],
    [{ holdStatus: 'CHARGED' }, 'Paid for Nigeria 5GB'],
    [{ holdStatus: 'RELEASED' }, 'Was on hold for Nigeria 5GB'],
    [{}, 'On hold for Nigeria 5GB'],
    [{ isTopUp: true, holdStatus: 'CHARGED' }, 'Paid for the top-up Nigeria 5GB'],
    [
      { isTopUp: true, kind: 'RELEASE', ledgerKind: 'void' },
      'Given back: the top-up Nigeria 5GB was not delivered',
    ],
    [
      { isTopUp: true, kind: 'CREDIT', ledgerKind: 'credit-wallet' },
      'Credit from us for the top-up Nigeria 5GB',
    ],
    [{ packageName: null, holdStatus: 'CHARGED' }, 'Paid for a purchase'],
    [{ kind: 'RELEASE', ledgerKind: 'void' }, 'Given back: Nigeria 5GB was not delivered'],
    [{ kind: 'FUNDING', ledgerKind: 'fund', packageName: null }, 'Wallet funded by command'],
    [
      { kind: 'FUNDING', ledgerKind: 'payment-received', packageName: null, isFunding: true },
      'Wallet funded',
    ],
    [{ kind: 'FUNDING', ledgerKind: 'marked-paid', packageName: null, isFunding: true }, 'Wallet funded'],
    [
      { kind: 'FUNDING', ledgerKind: 'payment-received-over' },
      'Overpayment for Nigeria 5GB, kept in the wallet',
    ],
    [
      { kind: 'FUNDING', ledgerKind: 'payment-received-short' },
      'Payment that was too low for Nigeria 5GB, kept in the wallet',
    ],
    [
      { kind: 'FUNDING', ledgerKind: 'payment-received-late' },
      'Late payment for Nigeria 5GB, kept in the wallet',
    ],
    [
      { kind: 'FUNDING', ledgerKind: 'payment-received-again' },
      'Second payment for Nigeria 5GB, kept in the wallet',
    ],
    [{ kind: 'FUNDING', ledgerKind: 'marked-paid' }, 'Payment for Nigeria 5GB, kept in the wallet'],
    [
      { kind: 'DISPUTE', ledgerKind: 'disputed', packageName: null, isFunding: true },
      'Frozen: a bank disputes a funding of the wallet',
    ],
    [{ kind: 'DISPUTE', ledgerKind: 'payment-reversed' }, 'Taken back by a bank: a payment for Nigeria 5GB'],
    [
      { kind: 'DISPUTE', ledgerKind: 'dispute-settled', isGain: true },
      'Free again after a dispute of a payment for Nigeria 5GB',
    ],
    [{ kind: 'REFUND' }, 'Refund for Nigeria 5GB, credited to the wallet'],
    [{ kind: 'CREDIT' }, 'Credit from us for Nigeria 5GB'],
    [{ kind: 'CREDIT', packageName: null }, 'Credit from us'],
    [{ kind: 'WITHDRAWAL' }, 'Sent back to where it was paid from: Nigeria 5GB'],
    [
      { kind: 'WITHDRAWAL', packageName: null, isFunding: true },
      'Sent back to where it was paid from: a funding of the wallet',
    ],
    [{ kind: 'ADJUSTMENT' }, 'Adjustment of the balance'],
  ])('%j', (given, expected) => {
    expect(explainEntry({ ...entry, ...given })).toBe(expected);
  });
});
