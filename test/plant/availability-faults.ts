// Faults in what keeps us from selling what the supplier would refuse, and from silence about it.
import { type Fault, faultsIn } from './fault.ts';

const AVAILABILITY = 'test/operations/supplier-availability.store.test.ts';
const ALERTS = 'test/operations/alerts.store.test.ts';
const HTTP = 'test/purchases/availability.http.test.ts';

export const AVAILABILITY_FAULTS: readonly Fault[] = [
  ...faultsIn('migrations/world/baseline/availability.ts', AVAILABILITY, {
    'unpaid purchases do not count against the balance': [
      "p.status in ('PENDING', 'PROCESSING')",
      "p.status in ('PROCESSING')",
    ],
    'two purchases may have the same of the balance': [
      "perform pg_advisory_xact_lock(hashtextextended(current_schema() || ' balance at ' || may_sell.supplier, 0));",
      '',
    ],
    'one account’s unpaid checkouts end the sales of all': [
      'then least(cost, greatest(most_of_another, largest)) else cost end',
      'then cost else cost end',
    ],
    'what was delivered since the read does not count': [
      'and id > supplier_uncharged.booked_until and amount_minor < 0',
      'and false',
    ],
    'a buyer at a gateway tries as soon as a wallet': [
      "(case when payment_method = 'WALLET' then short.probe_at else short.paid_probe_at end)",
      'short.probe_at',
    ],
    'a refused try is tried again at once': [
      'probe_at = clock_timestamp() + probe_wait(kept.refusals + 1),',
      'probe_at = clock_timestamp(),',
    ],
    'two probes at once': [
      'package_code = may_sell.package_code for update;',
      'package_code = may_sell.package_code;',
    ],
    'a refusal for balance tells nothing about other packages': [
      "if keep_shortage.reason = 'BALANCE_TOO_LOW' then",
      'if false then',
    ],
  }),
  ...faultsIn('migrations/world/baseline/opening-functions.ts', AVAILABILITY, {
    'a purchase is opened that the supplier refuses': [
      'if is_being_replaced or is_unavailable or is_beyond_mandate then',
      'if is_beyond_mandate then',
    ],
  }),
  ...faultsIn('activities/purchases/delivery-attempt.ts', AVAILABILITY, {
    'a refusal is forgotten': ['  await rememberShortage(deps, order, no.reason);\n', ''],
  }),
  ...faultsIn('src/purchases/terms.ts', HTTP, {
    'a quote is made of what cannot be delivered': ['  requireDeliverable(deps, command, item);\n', ''],
  }),
  ...faultsIn('src/operations/alerts/raise.ts', ALERTS, {
    'a channel gets what it does not want': [
      'channels.filter((channel) => wants(channel, about.kind))',
      'channels',
    ],
  }),
];
