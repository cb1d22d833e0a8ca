// Faults in money that a bank disputes or takes back.
import { type Fault, faultsIn } from './fault.ts';

const EVENTS = 'test/payments/payments-events.store.test.ts';
const CHANGED = 'test/payments/disputes-changed.store.test.ts';

export const DISPUTE_FAULTS: readonly Fault[] = [
  ...faultsIn('src/payments/store/disputes.ts', CHANGED, {
    'a dispute does not follow its amount': [
      "if (known.money !== 'AT_RISK' || amount === null || amount.amountMinor <= 0n) return;",
      'if (known) return;',
    ],
    'a lost dispute in another currency takes a refund in wrong units': [
      'currency === charge_currency ? amount_minor : 0n',
      'currency === charge_currency ? amount_minor : amount_minor',
    ],
  }),
  ...faultsIn('src/payments/store/disputes.ts', EVENTS, {
    'a dispute of a part disputes all': [
      'putAtRisk(trx, payment, dispute, wantedMinorOf(payment, dispute))',
      'putAtRisk(trx, payment, dispute, atGatewayMinor)',
    ],
    'an older answer about a dispute counts': ['if (known && known.check_number >= checkNumber) return;', ''],
    'a lost dispute leaves a refund that was not sent': ['await takeFromRefund(trx, refund, minor);', ''],
  }),
  ...faultsIn('src/payments/store/reversals.ts', EVENTS, {
    'what a lost dispute takes from a spent wallet is not owed': [
      'worthMinor > taken.frozen ? worthMinor - taken.frozen : 0n',
      '0n',
    ],
  }),
];
