// Single-line faults in code about money that Stryker does not reach: workflows, activities, stores, vendors. Each must be seen by a test that names
// the behaviour. Keep the list with the code: test/repository/faults.test.ts says which fault no longer fits.

export interface Fault {
  /** What the fault does, in words. */
  readonly name: string;
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The files of tests that could see it. */
  readonly tests: readonly string[];
  /** For a fault that no test can tell from the right code. */
  readonly whyItMaySurvive?: string;
}

const CARRIER = ['test/purchases/carrier.workflow.test.ts'];
const ATTEMPTS = ['test/purchases/delivery-attempts.store.test.ts'];
const SUPPLIER_ORDERS = ['test/purchases/supplier-orders.store.test.ts'];
const PAYMENTS = ['test/payments/payments.store.test.ts'];
const CHECKS = ['test/payments/payment-checks.store.test.ts'];
const COLLECT = ['test/payments/collect-payment.store.test.ts'];
const EVENTS = ['test/payments/payments-events.store.test.ts'];
const REFUNDS = ['test/payments/payments-refunds.store.test.ts'];
const REFUND_REQUESTS = ['test/payments/refund-requests.store.test.ts'];
const REFUND_AND_BANK = ['test/payments/refund-and-bank.store.test.ts'];
const RACES = ['test/payments/payments-races.store.test.ts'];
const EVENT_AND_CHECK = ['test/sequences/18-event-and-check.store.test.ts'];
const PURCHASES = ['test/purchases/purchases.store.test.ts'];
const SUPPLIER_CLIENT = ['test/vendors/esim-access-answers.contract.test.ts'];
const SUPPLIER_TRANSPORT = ['test/vendors/esim-access-transport.contract.test.ts'];
const STATEMENT = ['test/vendors/paystack-statement.contract.test.ts'];

export const FAULTS: readonly Fault[] = [
  {
    name: 'a paid purchase asks the gateway again before it is delivered',
    file: 'workflows/purchases/purchase.ts',
    find: "opened.stage === 'awaiting-payment' ?",
    replace: "opened.stage !== 'delivered' ?",
    tests: CARRIER,
  },
  {
    name: 'refunds of a failed purchase are not followed',
    file: 'workflows/purchases/purchase.ts',
    find: "ended.stage === 'failed' || opened.stage === 'delivered'",
    replace: "opened.stage === 'delivered'",
    tests: CARRIER,
  },
  {
    name: 'refunds of a delivered purchase are not followed by a later run',
    file: 'workflows/purchases/purchase.ts',
    find: "ended.stage === 'failed' || opened.stage === 'delivered'",
    replace: "ended.stage === 'failed'",
    tests: CARRIER,
  },
  {
    name: 'a later run tries the inline attempt for a buyer who is gone',
    file: 'workflows/purchases/purchase.ts',
    find: 'let hasBuyer = !isContinued();',
    replace: 'let hasBuyer = true;',
    tests: CARRIER,
  },
  {
    name: 'a lost step is asked again after a minute at the earliest',
    file: 'workflows/carrier.ts',
    find: 'const LOST_FIRST_MS = 1_000;',
    replace: 'const LOST_FIRST_MS = 60_000;',
    tests: CARRIER,
  },
  {
    name: 'a check that the gateway does not answer ends the wait for money',
    file: 'workflows/payments/collect.ts',
    find: "state === 'paid' || state === 'ended'",
    replace: "state !== 'waiting'",
    tests: CARRIER,
  },
  {
    name: 'a paid check does not end the wait for money',
    file: 'workflows/payments/collect.ts',
    find: "state === 'paid' || state === 'ended'",
    replace: "state === 'ended'",
    tests: CARRIER,
  },
  {
    name: 'the supplier’s announcement is not heard',
    file: 'workflows/requests.ts',
    find: 'let wakes = isAnnounced;',
    replace: 'let wakes = false;',
    tests: CARRIER,
  },
  {
    name: 'a message without an action on record asks the supplier again',
    file: 'workflows/requests.ts',
    find: 'wakes ||= performed > 0 || isLost;',
    replace: 'wakes = true;',
    tests: CARRIER,
  },
  {
    name: 'an action whose step is lost is forgotten',
    file: 'workflows/requests.ts',
    find: 'hasActions ||= isActionLost;',
    replace: '',
    tests: CARRIER,
  },
  {
    name: 'a caller gets the answer of a check that began before it asked',
    file: 'workflows/requests.ts',
    find: 'checksServed = upTo;',
    replace: 'checksServed = checksAsked;',
    tests: CARRIER,
  },
  {
    name: 'the time for delivery is counted from the start of a purchase, not from its payment',
    file: 'src/purchases/store/supplier-orders.ts',
    find: 'holds.created_at as held_at',
    replace: 'purchases.created_at as held_at',
    tests: PAYMENTS,
  },
  {
    name: 'an order that the supplier has cancelled is delivered',
    file: 'activities/purchases/delivery-attempt.ts',
    find: "if (answer.value.profile.status === 'CANCELLED') {",
    replace: "if (answer.value.profile.status === 'EXPIRED') {",
    tests: ATTEMPTS,
  },
  {
    name: 'the package that comes is not compared with the one that was ordered',
    file: 'activities/purchases/delivery-attempt.ts',
    find: "(packageCode !== '' && packageCode !== order.packageCode) ||",
    replace: '',
    tests: ATTEMPTS,
  },
  {
    name: 'the volume that comes is not compared with the one that was ordered',
    file: 'activities/purchases/delivery-attempt.ts',
    find: '(dataType === WHOLE_VOLUME && volumeBytes !== order.volumeBytes);',
    replace: 'false;',
    tests: ATTEMPTS,
  },
  {
    name: 'an order that was not sent stays in doubt',
    file: 'activities/purchases/delivery-attempt.ts',
    find: 'if (sent.notSent) await recordNoEffect(deps.db, order);',
    replace: '',
    tests: ATTEMPTS,
  },
  {
    name: 'a cancellation without an answer counts as withdrawn',
    file: 'activities/purchases/withdraw.ts',
    find: 'return uncertain(`the supplier does not say whether it cancelled ${esimTranNo}`);',
    replace: 'return WITHDRAWN;',
    tests: ATTEMPTS,
  },
  {
    name: 'an order in doubt is sent again before what was sent has settled',
    file: 'src/purchases/store/supplier-orders.ts',
    find: '(${isSearched}::boolean and coalesce(settles_after <= tick.at, true))',
    replace: '${isSearched}::boolean',
    tests: SUPPLIER_ORDERS,
  },
  {
    name: 'an order counts as withdrawn while what was sent may still arrive',
    file: 'src/purchases/store/supplier-orders.ts',
    find: '.where(sql<boolean>`coalesce(settles_after <= clock_timestamp(), true)`)',
    replace: '',
    tests: SUPPLIER_ORDERS,
  },
  {
    name: 'an order is sent while its money is claimed back',
    file: 'src/purchases/store/supplier-orders.ts',
    find: "purchases.status = 'PROCESSING' and coalesce(purchases.attention_reason <> all(${[...DISPUTE_REASONS]}), true)",
    replace: "purchases.status = 'PROCESSING'",
    tests: SUPPLIER_ORDERS,
  },
  {
    name: 'a stalled cancellation is sent for a withdrawal that has ended',
    file: 'src/purchases/store/supplier-orders.ts',
    find: '\n              and withdrawing_since = ${withdrawingSince}',
    replace: '',
    tests: SUPPLIER_ORDERS,
  },
  {
    name: 'a delivery goes on while its cancellation may still arrive',
    file: 'src/purchases/store/supplier-orders.ts',
    find: '\n         and coalesce(cancel_settles_after <= clock_timestamp(), true)',
    replace: '',
    tests: SUPPLIER_ORDERS,
  },
  {
    name: 'the database allows a second live order',
    file: 'migrations/world/baseline/supplier-orders.ts',
    find: 'create unique index supplier_orders_live',
    replace: 'create index supplier_orders_live',
    tests: SUPPLIER_ORDERS,
  },
  {
    name: 'a replacement keeps the cost of the order that it replaces',
    file: 'src/purchases/store/supplier-orders.ts',
    find: 'coalesce(${costUsdE4}::bigint, cost_usd_e4)',
    replace: 'cost_usd_e4',
    tests: SUPPLIER_ORDERS,
  },
  {
    name: 'a refusal gives the money back while another attempt is in flight',
    file: 'src/purchases/store/purchases.ts',
    find: '\n                    and coalesce(earlier_settles_after <= last_sent_at, true)',
    replace: '',
    tests: SUPPLIER_ORDERS,
  },
  {
    name: 'a delivered purchase still needs attention',
    file: 'src/purchases/store/purchases.ts',
    find: 'needs_attention_since = case when ${isOther} then now() end,\n             attention_reason = case when ${isOther} then ${OTHER_PACKAGE}::text end',
    replace: 'reason = null',
    tests: PURCHASES,
  },
  {
    name: 'the cost of a replacement is not read again when it is ordered',
    file: 'src/operations/store/replacement.ts',
    find: 'if (row.cost_usd_e4 > max)',
    replace: 'if (max < 0n)',
    tests: ['test/sequences/16-deliver-other-after-a-week.workflow.test.ts'],
  },
  {
    name: 'closed payments are no longer checked',
    file: 'src/payments/store/payments.ts',
    find: ".where('status', '<>', 'REFUSED')",
    replace: ".where('status', 'in', ['ASKED', 'OPEN'])",
    tests: CHECKS,
  },
  {
    name: 'an outdated answer of the gateway is booked',
    file: 'src/purchases/store/payment-bookings.ts',
    find: 'if (payment.check_number >= checkNumber) return { ...NO_CHANGE, isOutdated: true };',
    replace: '',
    tests: RACES,
  },
  {
    name: 'the number of a check is drawn after its answer',
    file: 'activities/payments/payments.ts',
    find: 'bookSeen(db, reference, seen, checkNumber, pending)',
    replace:
      'bookSeen(db, reference, seen, (await beginChecks(db, transactionId))[0]?.checkNumber ?? checkNumber, pending)',
    tests: EVENT_AND_CHECK,
  },
  {
    name: 'an event is done by a check that began before it',
    file: 'src/payments/store/gateway-events.ts',
    find: ' and check_number < ${checkNumber}',
    replace: '',
    tests: EVENT_AND_CHECK,
  },
  {
    name: 'a payment is closed by a check that began while it could be paid',
    file: 'activities/payments/collect.ts',
    find: 'if (checked.wasExpired) return',
    replace: 'if (found.leftMs <= 0) return',
    tests: COLLECT,
  },
  {
    name: 'a payment is closed while the gateway does not answer',
    file: 'activities/payments/collect.ts',
    find: 'if (checked.isKnown) {',
    replace: 'if (!checked.isHeldBack) {',
    tests: COLLECT,
  },
  {
    name: 'refunds that a bank took back first count as sent',
    file: 'src/payments/store/refunds.ts',
    find: "refundedTo: null, place: 'reversed'",
    replace: "refundedTo: null, place: 'refunded'",
    tests: REFUNDS,
  },
  {
    name: 'a refund is sent again as soon as its fence is over',
    file: 'src/payments/store/refunds.ts',
    find: 'else ${`${UNDER_WAY_MS} milliseconds`}::interval end',
    replace: "else interval '0' end",
    tests: REFUND_REQUESTS,
  },
  {
    name: 'a refund that the gateway would take twice is repeated while its list may miss the first',
    file: 'src/payments/store/refunds.ts',
    find: 'case when ${WOULD_BE_TAKEN_TWICE} then',
    replace: 'case when not ${WOULD_BE_TAKEN_TWICE} and false then',
    tests: REFUND_REQUESTS,
  },
  {
    name: 'a refund is sent although the bank disputes the money',
    file: 'src/payments/store/refunds.ts',
    find: '\n       and not ${IS_CONTESTED}',
    replace: '',
    tests: EVENTS,
  },
  {
    name: 'what became of one attempt of a refund ends another',
    file: 'src/payments/store/refunds.ts',
    find: "\n    .where('attempt', '=', refund.attempt)\n    .where('amount_minor', '=', refund.amount_minor)\n    .where('closed_at', 'is', null)\n    .returning(",
    replace: "\n    .where('closed_at', 'is', null)\n    .returning(",
    tests: REFUND_REQUESTS,
  },
  {
    name: 'a failed refund is credited while a bank asks for its money',
    file: 'src/payments/store/refunds.ts',
    find: "if (claims.askedMinor > 0n) return 'open';",
    replace: '',
    tests: REFUND_AND_BANK,
  },
  {
    name: 'what others sent back at the gateway is credited as well',
    file: 'src/payments/store/refunds.ts',
    find: 'larger(goneMinor, claims.takenMinor) - bookedMinor',
    replace: 'claims.takenMinor - bookedMinor',
    tests: REFUND_AND_BANK,
  },
  {
    name: 'a dispute does not follow its amount',
    file: 'src/payments/store/disputes.ts',
    find: "if (known.money !== 'AT_RISK' || amount === null || amount.amountMinor <= 0n) return;",
    replace: 'if (known) return;',
    tests: ['test/payments/disputes-changed.store.test.ts'],
  },
  {
    name: 'a refusal after a refund without an answer is believed',
    file: 'activities/payments/refunds.ts',
    find: "if (refund.status === 'ASKED') {",
    replace: "if (refund.status === 'STUCK') {",
    tests: REFUND_REQUESTS,
  },
  {
    name: 'a purchase that fails gives back what a bank disputes',
    file: 'src/purchases/store/purchases.ts',
    find: 'smaller(paid.free_minor, paid.charge_minor)',
    replace: 'paid.charge_minor',
    tests: EVENTS,
  },
  {
    name: 'a dispute of a part disputes all',
    file: 'src/payments/store/disputes.ts',
    find: 'wanted.currency === charge ? wanted.amountMinor : 0n',
    replace: 'wanted.currency === charge ? atGatewayMinor : 0n',
    tests: EVENTS,
  },
  {
    name: 'an older answer about a dispute counts',
    file: 'src/payments/store/disputes.ts',
    find: 'if (known && known.check_number >= checkNumber) return;',
    replace: '',
    tests: EVENTS,
  },
  {
    name: 'a lost dispute leaves a refund that was not sent',
    file: 'src/payments/store/disputes.ts',
    find: 'await takeFromRefund(trx, refund, minor);',
    replace: '',
    tests: EVENTS,
  },
  {
    name: 'what a lost dispute takes from a spent wallet is not owed',
    file: 'src/payments/store/reversals.ts',
    find: 'worthMinor > taken.frozen ? worthMinor - taken.frozen : 0n',
    replace: '0n',
    tests: EVENTS,
  },
  {
    name: 'a funding does not pay what its account owes',
    file: 'src/ledger/store/owed.ts',
    find: 'const paidMinor = smaller(owedMinor, credit.amountMinor);',
    replace: 'const paidMinor = owedMinor - owedMinor;',
    tests: EVENTS,
  },
  {
    name: 'disputed money counts as free',
    file: 'migrations/world/baseline/payments.ts',
    find: '- reversed_minor - disputed_minor) stored',
    replace: '- reversed_minor) stored',
    tests: EVENTS,
  },
  {
    name: 'a lost dispute of an undelivered purchase is taken from revenue',
    file: 'src/operations/store/dispute-settlement.ts',
    find: "const isLoss = outcome === 'lost' && !isOnHold(subject.hold);",
    replace: "const isLoss = outcome === 'lost';",
    tests: ['test/operations/dispute-settlement.store.test.ts'],
  },
  {
    name: 'a day’s sum of actions leaves out those that were just asked for',
    file: 'src/operations/store/second-person.ts',
    find: "status in ('ASKED', 'BEGUN', 'DONE')",
    replace: "status in ('BEGUN', 'DONE')",
    tests: ['test/operations/second-person.store.test.ts'],
  },
  {
    name: 'an action moves money before its workflow has begun it',
    file: 'src/operations/store/actions.ts',
    find: "status === 'BEGUN' || status === 'APPROVED'",
    replace: "status !== 'WAITS_FOR_APPROVAL'",
    tests: ['test/operations/asked-actions.store.test.ts'],
  },
  {
    name: 'a funding by hand is not compared again after a race',
    file: 'src/ledger/fund-by-hand.ts',
    find: "if (outcome === 'already') await refuseOtherUse(dbs.world, request);",
    replace: '',
    tests: ['test/accounts/accounts.store.test.ts'],
  },
  {
    name: 'entries of a wallet exactly at a limit move to the other side',
    file: 'src/ledger/store/wallet-entries.ts',
    find: 'at >= ${time}',
    replace: 'at > ${time}',
    tests: ['test/ledger/wallet-entries.store.test.ts'],
  },
  {
    name: 'sales exactly at a limit count on both sides',
    file: 'src/reconciliation/store/ledger.ts',
    find: 't.created_at < ${to}',
    replace: 't.created_at <= ${to}',
    tests: ['test/reconciliation/books.store.test.ts'],
  },
  {
    name: 'a difference that a person has closed is opened again',
    file: 'src/reconciliation/store/reconciliation.ts',
    find: "accepted.kind = found.kind and accepted.closed_how = 'BY_PERSON'",
    replace: "accepted.kind = found.kind and accepted.closed_how = 'GONE'",
    tests: ['test/reconciliation/reconciliation.store.test.ts'],
  },
  {
    name: 'a body is not compared while its key’s request is in flight',
    file: 'src/payments/first-answer.ts',
    find: 'if (tag && !isSameRequest(owner, tag)) throw keyReused();',
    replace: '',
    tests: ['test/payments/first-answer.store.test.ts'],
  },
  {
    name: 'the answer of a request that was refused before it began is kept',
    file: 'src/platform/idempotency/store.ts',
    find: "\n    .where('refusal_reason', 'is', null)",
    replace: '',
    tests: ['test/platform/idempotency.store.test.ts'],
  },
  {
    name: 'a package whose price rounds to zero is on sale',
    file: 'src/catalogue/prices.ts',
    find: 'return price.amountMinor > 0n;',
    replace: 'return price.amountMinor >= 0n;',
    tests: ['test/sequences/10-what-the-database-refuses.e2e.test.ts'],
  },
  {
    name: 'an effect is sent after its fence',
    file: 'src/vendors/http/transport.ts',
    find: 'if (fence.isOver()) throw new FenceOver',
    replace: 'if (!fence) throw new FenceOver',
    tests: SUPPLIER_CLIENT,
  },
  {
    name: 'a fence is open at its end',
    file: 'src/platform/fence.ts',
    find: 'now() >= endsAt',
    replace: 'now() > endsAt',
    tests: ['test/platform/fence.unit.test.ts'],
  },
  {
    name: 'an effect is repeated on a new connection',
    file: 'src/vendors/http/transport.ts',
    find: 'if (options.isIdempotent !== true || !connections.wasStale(error))',
    replace: 'if (!connections.wasStale(error))',
    tests: SUPPLIER_TRANSPORT,
  },
  {
    name: 'halves of a window of an order search go to the end',
    file: 'src/vendors/esim-access/orders.ts',
    find: 'waiting.unshift(',
    replace: 'waiting.push(',
    tests: SUPPLIER_CLIENT,
  },
  {
    name: 'orders exactly at a limit are listed on both sides',
    file: 'src/vendors/esim-access/orders.ts',
    find: 'listedAt >= to',
    replace: 'listedAt > to',
    tests: SUPPLIER_CLIENT,
  },
  {
    name: 'the first listed eSIM is taken for the one that was asked for',
    file: 'src/vendors/esim-access/supplier.ts',
    find: "'orderNo' in query ? profile.orderNo === query.orderNo : profile.esimTranNo === query.esimTranNo",
    replace: "profile.esimTranNo !== ''",
    tests: SUPPLIER_CLIENT,
  },
  {
    name: 'an answer about another order counts as ours',
    file: 'src/vendors/esim-access/supplier.ts',
    find: 'requireSameId(transactionId, order.transactionId);',
    replace: '',
    tests: SUPPLIER_TRANSPORT,
  },
  {
    name: 'a charge of the other mode counts as ours',
    file: 'src/vendors/paystack/charges.ts',
    find: '    requireMode(context, held.domain);\n',
    replace: '',
    tests: ['test/vendors/paystack-find-charge.contract.test.ts'],
  },
  {
    name: 'a failed refund hides the one that was sent',
    file: 'src/vendors/paystack/refunds.ts',
    find: "if (row.status !== 'failed') return readRefund(context, row);",
    replace: 'return readRefund(context, row);',
    tests: ['test/vendors/paystack-refund-answers.contract.test.ts'],
  },
  {
    name: 'disputes exactly at a limit are listed on both sides',
    file: 'src/vendors/paystack/refunds.ts',
    find: 'openedAt < to)',
    replace: 'openedAt <= to)',
    tests: STATEMENT,
  },
  {
    name: 'charges exactly at a limit are listed on both sides',
    file: 'src/vendors/paystack/statement.ts',
    find: 'new Date(to.getTime() - 1)',
    replace: 'new Date(to.getTime())',
    tests: STATEMENT,
  },
  {
    name: 'a reversal includes what went back by older refunds',
    file: 'src/vendors/paystack/statement.ts',
    find: '(known < charge.amount ? await refundedOf(context, charge.id) : known)',
    replace: 'known',
    tests: STATEMENT,
  },
];
