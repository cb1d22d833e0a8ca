// Faults in what shops say for themselves about a purchase, and in where their buyers are sent back to.
import { type Fault, faultsIn } from './fault.ts';

const OWN = 'test/purchases/own-details.http.test.ts';

export const OWN_FAULTS: readonly Fault[] = [
  ...faultsIn('migrations/world/baseline/opening-functions.ts', OWN, {
    'a unique reference is bought with twice': ['if terms.is_reference_unique then', 'if false then'],
    'a purchase loses its reference': ['terms.request_id, terms.reference,', 'terms.request_id, null,'],
  }),
  ...faultsIn('migrations/world/baseline/payments.ts', OWN, {
    'two that ask for one reference at once do not see each other': [
      "        current_schema() || ' reference of ' || buyer || ' ' || wanted, 0));",
      "        current_schema() || ' reference of ' || own_id, 0));",
    ],
    'a reference of another account counts': [
      "           where reference = wanted and account_id = buyer and status <> 'FAILED'\n          union all",
      "           where reference = wanted and status <> 'FAILED'\n          union all",
    ],
    'a funding does not have its reference': [
      'select transaction_id from fundings\n',
      'select transaction_id from fundings f\n          join purchases using (transaction_id)\n',
    ],
  }),
  ...faultsIn('src/payments/store/opening.ts', OWN, {
    'a funding takes a reference that is taken': [
      'if (!uniqueReference || reference === undefined) return undefined;',
      'if (!uniqueReference || reference !== undefined) return undefined;',
    ],
  }),
  ...faultsIn('src/accounts/return-urls.ts', OWN, {
    'buyers are sent to any host': ['url && hosts.includes(url.host) ?', 'url ?'],
    'buyers are sent to any port of a host': ['hosts.includes(url.host)', 'hosts.includes(url.hostname)'],
    'buyers are sent over plain http': [
      "url.protocol === 'https:' || isLocal",
      "url.protocol.startsWith('http') || isLocal",
    ],
  }),
  ...faultsIn('src/purchases/transactions.ts', OWN, {
    'whoever has a transaction id installs its eSIM': ['isPayer && purchase ?', 'purchase ?'],
    'the page offers to install for ever': ['return isOver ? undefined : installUrl(', 'return installUrl('],
    'a failed payment leads to the page of success': ['isPaid ? successUrl : cancelUrl', 'successUrl'],
  }),
  ...faultsIn('src/payments/own-details.ts', OWN, {
    'what a purchase is asked with is kept for wallets too': [
      "paymentMethod === 'WALLET' ? { reference, uniqueReference, metadata } : ownDetails",
      'ownDetails',
    ],
    'a return address is not looked at before': [
      'if (successUrl === undefined && cancelUrl === undefined) return;',
      'if (successUrl === undefined || cancelUrl !== undefined) return;',
    ],
  }),
  ...faultsIn('src/payments/store/buyer-details.ts', OWN, {
    'the account gets the receipt of its buyer': [
      'coalesce(buyer.customer_email, account.email)',
      'account.email',
    ],
    'addresses of buyers are kept for ever': [
      'set customer_email = null',
      'set customer_email = customer_email',
    ],
  }),
];
