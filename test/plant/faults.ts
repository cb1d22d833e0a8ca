// Single-line faults in code about money and access that Stryker does not reach: workflows, activities,
// stores, vendors, sign-in, files of the dashboard, what lets agents buy.
// Each must be seen by a test that names the behaviour. Keep the list with the code:
// test/repository/faults.test.ts says which fault no longer fits.
import { AGENT_FAULTS } from './agent-faults.ts';
import { BATCH_FAULTS } from './batch-faults.ts';
import { BILLING_FAULTS } from './billing-faults.ts';
import { BY_HAND_FAULTS } from './by-hand-faults.ts';
import { AVAILABILITY_FAULTS } from './availability-faults.ts';
import { DASHBOARD_FAULTS } from './dashboard-faults.ts';
import { DISPATCH_FAULTS } from './dispatch-faults.ts';
import { FAIR_SHARE_FAULTS } from './fair-share-faults.ts';
import { DISPUTE_FAULTS } from './dispute-faults.ts';
import { type Fault, faultsIn } from './fault.ts';
import { MANDATE_FAULTS } from './mandate-faults.ts';
import { OWN_FAULTS } from './own-faults.ts';
import { PRICE_FAULTS } from './price-faults.ts';
import { REPLACEMENT_FAULTS } from './replacement-faults.ts';
import { RETURN_FAULTS } from './return-faults.ts';
import { SHOP_FAULTS } from './shop-faults.ts';

const CARRIER = 'test/purchases/carrier.workflow.test.ts';
const ATTEMPTS = 'test/purchases/delivery-attempts.store.test.ts';
const SUPPLIER_ORDERS = 'test/purchases/supplier-orders.store.test.ts';
const PAYMENTS = 'test/payments/payments.store.test.ts';
const CHECKS = 'test/payments/payment-checks.store.test.ts';
const COLLECT = 'test/payments/collect-payment.store.test.ts';
const EVENTS = 'test/payments/payments-events.store.test.ts';
const REFUNDS = 'test/payments/payments-refunds.store.test.ts';
const REFUND_REQUESTS = 'test/payments/refund-requests.store.test.ts';
const REFUND_AND_BANK = 'test/payments/refund-and-bank.store.test.ts';
const RACES = 'test/payments/payments-races.store.test.ts';
const EVENT_AND_CHECK = 'test/sequences/18-event-and-check.store.test.ts';
const PURCHASES = 'test/purchases/purchases.store.test.ts';
const SUPPLIER_CLIENT = 'test/vendors/esim-access-answers.contract.test.ts';
const SUPPLIER_TRANSPORT = 'test/vendors/esim-access-transport.contract.test.ts';
const REMOVALS = 'test/accounts/admin-removal.http.test.ts';
const AGREED_PRICES = 'test/catalogue/agreed-prices.http.test.ts';
const MAILS = 'test/accounts/mails-to.store.test.ts';
const BATCHES = 'test/purchases/batches.http.test.ts';
const KEY_BUDGETS = 'test/purchases/key-budgets.store.test.ts';
const STATEMENT = 'test/vendors/paystack-statement.contract.test.ts';

export const FAULTS: readonly Fault[] = [
  ...faultsIn('migrations/world/baseline/opening-functions.ts', KEY_BUDGETS, {
    'a key buys beyond its budget': ['if breach is not null then', 'if false then'],
    'a budget of a day is new at every purchase': [' - key_spent_today(budget.key_id);', ';'],
    'a budget never counts purchases': [' - key_purchases(budget.key_id);', ';'],
    'a budget takes every country': [
      'or not key_budget_breach.countries <@ budget.countries) then',
      ') then',
    ],
    'a budget takes every price': ['elsif dearest_minor > budget.max_price_minor then', 'elsif false then'],
    'a budget takes orders of any amount': [
      'elsif total_minor > budget.order_minor then',
      'elsif false then',
    ],
    'a voided purchase keeps its share of a budget': [
      "key_spent_today.key_id and status <> 'VOIDED'",
      'key_spent_today.key_id',
    ],
    'a key with a budget pays by card': [
      'elsif exists (select from key_budgets where key_id = terms.key_id) then',
      'elsif false then',
    ],
  }),
  ...faultsIn('src/platform/idempotency/store.ts', 'test/payments/first-answer.store.test.ts', {
    'a refusal that is read back has other words': [
      "refusalOf(asFailureReason(row.refusal_reason), row.refusal_detail ?? '')",
      "{ reason: asFailureReason(row.refusal_reason), detail: row.refusal_detail ?? '' }",
    ],
  }),
  ...faultsIn('workflows/purchases/purchase.ts', CARRIER, {
    'a paid purchase asks the gateway again before it is delivered': [
      "opened.stage === 'awaiting-payment' ?",
      "opened.stage !== 'delivered' ?",
    ],
    'refunds of a failed purchase are not followed': [
      "ended.stage === 'failed' || opened.stage === 'delivered'",
      "opened.stage === 'delivered'",
    ],
    'refunds of a delivered purchase are not followed by a later run': [
      "ended.stage === 'failed' || opened.stage === 'delivered'",
      "ended.stage === 'failed'",
    ],
    'what a bank did while the delivery’s answer was lost is not followed': [
      'ended.isMoneyOpen === true',
      'false',
    ],
    'a later run tries the inline attempt for a buyer who is gone': [
      'let hasBuyer = !isContinued();',
      'let hasBuyer = true;',
    ],
  }),
  ...faultsIn('workflows/payments/fund-wallet.ts', CARRIER, {
    'a dispute that was there with the money of a funding is not followed': [
      "collected?.state === 'done' && !collected.isMoneyOpen",
      "collected?.state === 'done'",
    ],
  }),
  ...faultsIn('src/purchases/store/purchases.ts', PAYMENTS, {
    'a delivery does not say that money of its payment goes back': [
      'isFirst ? settled.is_money_open : true',
      '!isFirst',
    ],
    'a repeated settling calls the money at rest': [
      'isFirst ? settled.is_money_open : true',
      'isFirst && settled.is_money_open',
    ],
  }),
  ...faultsIn('activities/payments/collect.ts', COLLECT, {
    'a collected payment hides that its money goes back': [
      '...(isMoneyOpen ? { isMoneyOpen } : {})',
      '...{}',
    ],
    'a payment is closed by a check that began while it could be paid': [
      'if (checked.wasExpired) return',
      'if (found.leftMs <= 0) return',
    ],
    'a payment is closed while the gateway does not answer': [
      'if (checked.isKnown) {',
      'if (!checked.isHeldBack) {',
    ],
  }),
  ...faultsIn('workflows/search-attributes.ts', CARRIER, {
    'what the Temporal UI shows already is written again': [
      'if (changed.length > 0) upsertSearchAttributes(changed)',
      'upsertSearchAttributes(values)',
    ],
  }),
  ...faultsIn('workflows/carrier.ts', CARRIER, {
    'a check that was lost before the end is not made again': [
      'checksServed > 0 && !latest.isKnown',
      'false',
    ],
    'the supplier’s announcement is not heard': ['let wakes = isAnnounced;', 'let wakes = false;'],
    'a message without an action on record asks the supplier again': [
      'wakes ||= performed > 0 || isLost;',
      'wakes = true;',
    ],
    'an action whose step is lost is forgotten': ['hasActions ||= isActionLost;', ''],
    'a caller gets the answer of a check that began before it asked': [
      'checksServed = upTo;',
      'checksServed = checksAsked;',
    ],
  }),
  ...faultsIn('workflows/carrier.ts', CARRIER, {
    'a lost step is asked again after a minute at the earliest': [
      'const LOST_FIRST_MS = 1_000;',
      'const LOST_FIRST_MS = 60_000;',
    ],
    'callers after the end let a history grow without end': ['        await beginAnewIfSuggested();\n', ''],
  }),
  ...faultsIn('workflows/payments/collect.ts', CARRIER, {
    'a check that the gateway does not answer ends the wait for money': [
      "state === 'paid' || state === 'ended'",
      "state !== 'waiting'",
    ],
    'a paid check does not end the wait for money': [
      "state === 'paid' || state === 'ended'",
      "state === 'ended'",
    ],
  }),
  ...faultsIn('src/purchases/store/supplier-orders.ts', PAYMENTS, {
    'the time for delivery is counted from the start of a purchase, not from its payment': [
      'holds.created_at as held_at',
      'purchases.created_at as held_at',
    ],
  }),
  ...faultsIn('activities/purchases/delivery-attempt.ts', ATTEMPTS, {
    'an order that the supplier has cancelled is delivered': [
      "if (answer.value.profile.status === 'CANCELLED') {",
      "if (answer.value.profile.status === 'EXPIRED') {",
    ],
    'the package that comes is not compared with the one that was ordered': [
      "(packageCode !== '' && packageCode !== order.packageCode) ||",
      '',
    ],
    'the volume that comes is not compared with the one that was ordered': [
      '(dataType === WHOLE_VOLUME && volumeBytes !== order.volumeBytes);',
      'false;',
    ],
    'an order that was not sent stays in doubt': [
      'if (sent.notSent) await recordNoEffect(deps.db, order);',
      '',
    ],
  }),
  ...faultsIn('activities/purchases/withdraw.ts', ATTEMPTS, {
    'a cancellation without an answer counts as withdrawn': [
      'return uncertain(`the supplier does not say whether it cancelled ${esimTranNo}`);',
      'return WITHDRAWN;',
    ],
  }),
  ...faultsIn('src/purchases/store/supplier-orders.ts', SUPPLIER_ORDERS, {
    'an order in doubt is sent again before what was sent has settled': [
      '(${isSearched}::boolean and coalesce(settles_after <= tick.at, true))',
      '${isSearched}::boolean',
    ],
    'an order counts as withdrawn while what was sent may still arrive': [
      '.where(sql<boolean>`coalesce(settles_after <= clock_timestamp(), true)`)',
      '',
    ],
    'a stalled cancellation is sent for a withdrawal that has ended': [
      `
              and withdrawing_since = \${withdrawingSince}`,
      '',
    ],
    'a delivery goes on while its cancellation may still arrive': [
      `
         and coalesce(cancel_settles_after <= clock_timestamp(), true)`,
      '',
    ],
    'a replacement keeps the cost of the order that it replaces': [
      'coalesce(${costUsdE4}::bigint, cost_usd_e4)',
      'cost_usd_e4',
    ],
  }),
  ...faultsIn('migrations/world/baseline/delivery-functions.ts', SUPPLIER_ORDERS, {
    'an order is sent while its money is claimed back': [
      "status = 'PROCESSING' and not is_contested(attention_reason)",
      "status = 'PROCESSING'",
    ],
  }),
  ...faultsIn('migrations/world/baseline/supplier-orders.ts', SUPPLIER_ORDERS, {
    'the database allows a second live order': [
      'create unique index supplier_orders_live',
      'create index supplier_orders_live',
    ],
  }),
  ...faultsIn('src/purchases/store/purchases.ts', SUPPLIER_ORDERS, {
    'a refusal gives the money back while another attempt is in flight': [
      `
                    and coalesce(earlier_settles_after <= last_sent_at, true)`,
      '',
    ],
  }),
  ...faultsIn('migrations/world/baseline/delivery-functions.ts', PURCHASES, {
    'a delivered purchase still needs attention': [
      `needs_attention_since = case when supplied.delivered_package_code is not null then now() end,
             attention_reason = case when supplied.delivered_package_code is not null
                                     then 'OTHER_PACKAGE_DELIVERED' end`,
      'reason = null',
    ],
  }),
  ...faultsIn(
    'src/operations/store/other-package.ts',
    'test/sequences/16-deliver-other-after-a-week.workflow.test.ts',
    {
      'the cost of a replacement is not read again when it is ordered': [
        'if (row.cost_usd_e4 > max)',
        'if (max < 0n)',
      ],
    },
  ),
  ...faultsIn('src/payments/store/payments.ts', CHECKS, {
    'closed payments are no longer checked': [
      ".where('status', '<>', 'REFUSED')",
      ".where('status', 'in', ['ASKED', 'OPEN'])",
    ],
  }),
  ...faultsIn('src/purchases/store/payment-bookings.ts', RACES, {
    'an outdated answer of the gateway is booked': [
      'if (payment.check_number >= checkNumber) return { ...NO_CHANGE, isOutdated: true };',
      '',
    ],
  }),
  ...faultsIn('activities/payments/payments.ts', EVENT_AND_CHECK, {
    'the number of a check is drawn after its answer': [
      'bookSeen(db, reference, seen, checkNumber)',
      'bookSeen(db, reference, seen, (await beginChecks(db, transactionId))[0]?.checkNumber ?? checkNumber)',
    ],
  }),
  ...faultsIn('src/payments/store/gateway-events.ts', EVENT_AND_CHECK, {
    'an event is done by a check that began before it': [' and check_number < ${checkNumber}', ''],
  }),
  ...faultsIn('src/payments/store/refunds.ts', REFUNDS, {
    'refunds that a bank took back first count as sent': [
      "refundedTo: null, place: 'reversed'",
      "refundedTo: null, place: 'refunded'",
    ],
  }),
  ...faultsIn('src/payments/store/refunds.ts', REFUND_REQUESTS, {
    'a refund is sent again as soon as its fence is over': [
      'else ${`${UNDER_WAY_MS} milliseconds`}::interval end',
      "else interval '0' end",
    ],
    'a refund that the gateway would take twice is repeated while its list may miss the first': [
      'case when ${WOULD_BE_TAKEN_TWICE} then',
      'case when not ${WOULD_BE_TAKEN_TWICE} and false then',
    ],
    'what became of one attempt of a refund ends another': [
      ".where('refund_key', '=', refund_key).where('attempt', '=', attempt)",
      ".where('refund_key', '=', refund_key)",
    ],
  }),
  ...faultsIn('src/payments/store/refunds.ts', EVENTS, {
    'a refund is sent although the bank disputes the money': [
      `
       and not \${IS_CONTESTED}`,
      '',
    ],
  }),
  ...faultsIn('src/payments/store/refunds.ts', REFUND_AND_BANK, {
    'a failed refund is credited while a bank asks for its money': [
      "if (claims.askedMinor > 0n) return 'open';",
      '',
    ],
    'what others sent back at the gateway is credited as well': [
      'larger(goneMinor, claims.takenMinor) - bookedMinor',
      'claims.takenMinor - bookedMinor',
    ],
  }),
  ...faultsIn('activities/payments/refunds.ts', REFUND_REQUESTS, {
    'a refusal after a refund without an answer is believed': [
      "if (refund.status === 'ASKED') {",
      "if (refund.status === 'STUCK') {",
    ],
  }),
  ...faultsIn('migrations/world/baseline/purchase-functions.ts', EVENTS, {
    'a purchase that fails gives back what a bank disputes': [
      'least(paid.free_minor, paid.charge_minor)',
      'paid.charge_minor',
    ],
  }),
  ...faultsIn('src/ledger/store/owed.ts', EVENTS, {
    'a funding does not pay what its account owes': [
      'const paidMinor = smaller(owedMinor, amountMinor);',
      'const paidMinor = owedMinor - owedMinor;',
    ],
  }),
  ...faultsIn('migrations/world/baseline/payments.ts', EVENTS, {
    'disputed money counts as free': [
      '- reversed_minor - disputed_minor) stored',
      '- reversed_minor) stored',
    ],
  }),
  ...faultsIn(
    'src/operations/store/dispute-settlement.ts',
    'test/operations/dispute-settlement.store.test.ts',
    {
      'a lost dispute of an undelivered purchase is taken from revenue': [
        "const isLoss = outcome === 'lost' && !isOnHold(subject.hold);",
        "const isLoss = outcome === 'lost';",
      ],
    },
  ),
  ...faultsIn('src/operations/store/second-person.ts', 'test/operations/second-person.store.test.ts', {
    'a day’s sum of actions leaves out those that were just asked for': [
      "status in ('ASKED', 'BEGUN', 'DONE')",
      "status in ('BEGUN', 'DONE')",
    ],
  }),
  ...faultsIn('src/operations/store/actions.ts', 'test/operations/asked-actions.store.test.ts', {
    'an action that another one has overtaken is done': ["? 'CHANGED_MEANWHILE'", '? undefined'],
    'an action moves money before its workflow has begun it': [
      "status === 'BEGUN' || status === 'APPROVED'",
      "status !== 'WAITS_FOR_APPROVAL'",
    ],
  }),
  ...faultsIn('src/ledger/fund-by-hand.ts', 'test/accounts/accounts.store.test.ts', {
    'a funding by hand is not compared again after a race': [
      "if (outcome === 'already') await refuseOtherUse(dbs.world, request);",
      '',
    ],
  }),
  ...faultsIn('src/ledger/store/wallet-entries.ts', 'test/ledger/wallet-entries.store.test.ts', {
    'entries of a wallet exactly at a limit move to the other side': ['at >= ${time}', 'at > ${time}'],
  }),
  ...faultsIn('src/reconciliation/store/ledger.ts', 'test/reconciliation/books.store.test.ts', {
    'sales exactly at a limit count on both sides': ['t.created_at < ${to}', 't.created_at <= ${to}'],
  }),
  ...faultsIn(
    'src/reconciliation/store/reconciliation.ts',
    'test/reconciliation/reconciliation.store.test.ts',
    {
      'a difference that a person has closed is opened again': [
        "accepted.kind = found.kind and accepted.closed_how = 'BY_PERSON'",
        "accepted.kind = found.kind and accepted.closed_how = 'GONE'",
      ],
    },
  ),
  ...faultsIn('src/payments/first-answer.ts', 'test/payments/first-answer.store.test.ts', {
    'a body is not compared while its key’s request is in flight': [
      'if (tag && !isSameRequest(owner, tag)) throw keyReused();',
      '',
    ],
  }),
  ...faultsIn('src/platform/idempotency/store.ts', 'test/platform/idempotency.store.test.ts', {
    'the answer of a request that was refused before it began is kept': [
      `
    .where('refusal_reason', 'is', null)`,
      '',
    ],
  }),
  ...faultsIn('src/catalogue/prices.ts', 'test/sequences/10-what-the-database-refuses.e2e.test.ts', {
    'a package whose price rounds to zero is on sale': [
      'return price.amountMinor > 0n;',
      'return price.amountMinor >= 0n;',
    ],
  }),
  ...faultsIn('src/vendors/http/transport.ts', SUPPLIER_CLIENT, {
    'an effect is sent after its fence': [
      'if (fence.isOver()) throw new FenceOver',
      'if (!fence) throw new FenceOver',
    ],
  }),
  ...faultsIn('src/platform/fence.ts', 'test/platform/fence.unit.test.ts', {
    'a fence is open at its end': ['now() >= endsAt', 'now() > endsAt'],
  }),
  ...faultsIn('src/vendors/http/transport.ts', SUPPLIER_TRANSPORT, {
    'an effect is repeated on a new connection': [
      'if (options.isIdempotent !== true || !connections.wasStale(error))',
      'if (!connections.wasStale(error))',
    ],
  }),
  ...faultsIn('src/vendors/esim-access/orders.ts', SUPPLIER_CLIENT, {
    'parts of a window of an order search go to the end': ['waiting.unshift(', 'waiting.push('],
    'a search ends where it began': ['(isFurther && isEnough())', 'isEnough()'],
    'an unanswered page loses what was searched': ['return isFurther ? soFar : page;', 'return page;'],
    'orders exactly at a limit are listed on both sides': ['listedAt >= to', 'listedAt > to'],
  }),
  ...faultsIn('src/vendors/esim-access/supplier.ts', SUPPLIER_CLIENT, {
    'the first listed eSIM is taken for the one that was asked for': [
      "'orderNo' in query ? profile.orderNo === query.orderNo : profile.esimTranNo === query.esimTranNo",
      "profile.esimTranNo !== ''",
    ],
  }),
  ...faultsIn('src/vendors/esim-access/supplier.ts', SUPPLIER_TRANSPORT, {
    'an answer about another order counts as ours': [
      'requireSameId(transactionId, order.transactionId);',
      '',
    ],
  }),
  ...faultsIn('src/vendors/paystack/charges.ts', 'test/vendors/paystack-answers.contract.test.ts', {
    'a charge of the other mode counts as ours': [
      `    requireMode(context, held.domain);
`,
      '',
    ],
  }),
  ...faultsIn('src/vendors/paystack/refunds.ts', 'test/vendors/paystack-refund-answers.contract.test.ts', {
    'a failed refund hides the one that was sent': [
      "if (row.status !== 'failed') return readRefund(context, row);",
      'return readRefund(context, row);',
    ],
  }),
  ...faultsIn('src/vendors/paystack/refunds.ts', STATEMENT, {
    'disputes exactly at a limit are listed on both sides': ['openedAt < to)', 'openedAt <= to)'],
  }),
  ...faultsIn('src/vendors/paystack/statement.ts', STATEMENT, {
    'charges exactly at a limit are listed on both sides': [
      'new Date(to.getTime() - 1)',
      'new Date(to.getTime())',
    ],
    'a reversal includes what went back by older refunds': [
      '(known < charge.amount ? await refundedOf(context, charge.id) : known)',
      'known',
    ],
  }),
  ...faultsIn('src/accounts/operators/removals.ts', REMOVALS, {
    'one administrator alone removes another': ["? 'waits' : 'not", "? 'go' : 'not"],
    'one and somebody whom they let in are two': ['!(await areTwoPeople(trx, other, by, now))', 'false'],
    'one administrator remains': ['admins.length - 1 < FEWEST_ADMINS', 'admins.length - 1 < 1'],
    'one person signs a whole company out': ['if (made < MAX_REMOVALS_A_DAY) return;', 'return;'],
  }),
  ...faultsIn('src/accounts/store/removals.ts', REMOVALS, {
    'a request to reset an administrator is taken for one to disable': [
      'eb.and({ user_id, change })',
      'eb.and({ user_id })',
    ],
  }),
  ...faultsIn('src/catalogue/price-effect.ts', AGREED_PRICES, {
    'one person sells below cost': ["if (isLoss && !limits.allowsBelowCost) return 'below-cost';", ''],
    'one person moves prices far from those agreed': [
      "return isLoss || isFar ? 'waits' : 'set';",
      "return isLoss ? 'waits' : 'set';",
    ],
  }),
  ...faultsIn('src/catalogue/agreed-prices.ts', AGREED_PRICES, {
    'one person sells below cost in a currency of the gateway alone': ['after, charged,', 'after,'],
  }),
  ...faultsIn('src/catalogue/price-settings.ts', AGREED_PRICES, {
    'a person confirms the prices that they proposed': [
      "if (!(await areTwoPeople(db, proposer, by, now))) return 'not-independent';",
      '',
    ],
    'prices are confirmed although others apply since': [
      "if (before.id !== beforeId) return 'changed-meanwhile';",
      '',
    ],
    'confirmed prices are not judged once more': [
      "if (judgePrices(judged, deps.priceLimits) === 'below-cost') return 'below-cost';",
      '',
    ],
  }),
  ...faultsIn('src/catalogue/rates.ts', AGREED_PRICES, {
    'a rate is judged without the markups': [
      `        judgePrices(
          await effectOnAgreed({ ...deps, db }, { rate: { currency, micros } }),
          deps.priceLimits,
        ) === 'set');`,
      '        true);',
    ],
  }),
  ...faultsIn('src/catalogue/store/catalogue.ts', AGREED_PRICES, {
    'a price of the supplier that jumps is sold at once': [
      'return last !== undefined && isJump(last, cost);',
      'return false;',
    ],
  }),
  ...faultsIn('src/reconciliation/supplier-rules.ts', 'test/reconciliation/supplier-rules.unit.test.ts', {
    'the first reading of the supplier’s balance is taken for right': [
      'NOTHING_PAID_IN: AgreedSum = { fromUsdE4: 0n, toUsdE4: 0n }',
      'NOTHING_PAID_IN: AgreedSum = { fromUsdE4: -(10n ** 18n), toUsdE4: 10n ** 18n }',
    ],
    'a balance that differs becomes the agreed one by itself': [
      '  return { verdict, agreed };',
      '  return { verdict, agreed: read };',
    ],
  }),
  ...faultsIn('src/accounts/store/mail-turns.ts', MAILS, {
    'a stopped address gets mail': ["if (rows[0]?.isStopped !== false) return 'stopped';", ''],
    'mails to a stranger have no limit a day': [
      '[`strangers ${address.toLowerCase()}`, MAX_STRANGER_MAILS_A_DAY],',
      '[`strangers ${address.toLowerCase()}`, MAX_INSTALLATION_MAILS_A_DAY],',
    ],
    'mails to strangers have no limit for the installation': [
      "['strangers of the installation', MAX_INSTALLATION_MAILS_A_DAY],",
      "['strangers of the installation', Number.MAX_SAFE_INTEGER],",
    ],
  }),
  ...faultsIn('activities/jobs/run-jobs.ts', BATCHES, {
    'sandbox money sends mail to strangers': [
      "if (environment === 'test' && !(await isMembersAddress(db, accountId, email))) return 'not-a-member';",
      '',
    ],
    'mail to travellers is not limited': [
      'return admitStrangerMail(db, email, clock.now());',
      'return undefined;',
    ],
  }),
  ...faultsIn('src/accounts/sender-name.ts', 'test/accounts/sender-name.unit.test.ts', {
    'a name in mail to strangers holds a link': ['!LINK.test(plain) &&', ''],
    'a name in mail to strangers is a message': ['plain.length <= MAX_SENDER_CHARACTERS &&', ''],
    'a name in mail to strangers holds a telephone number': ['digits <= MAX_SENDER_DIGITS &&', ''],
    'an account takes our name in mail to strangers': ['!letters.includes(ours.toLowerCase())', 'true'],
    'a name in mail to strangers hides its dots': [".normalize('NFKC')", ''],
  }),
  ...faultsIn('src/accounts/users/passwords.ts', 'test/accounts/password-queue.unit.test.ts', {
    'guesses keep operators and known devices waiting': [
      'lanes[lane](from, work)',
      "lanes['usual'](from, work)",
    ],
    'an address that guesses keeps its place in the round': ['      waiting.delete(from);\n', ''],
    'one address fills the queue': ['own.length >= MAX_OF_ADDRESS || ', ''],
  }),
  ...faultsIn('src/accounts/users/devices.ts', 'test/accounts/users.e2e.test.ts', {
    'a stranger locks a user out everywhere': [
      'isKnown ? `known device at ${addressBucket(clientAddress)}` : addressBucket(clientAddress)',
      "isKnown ? '' : ''",
    ],
    'any cookie is that of a known device': [
      "return timingSafeEqual(Buffer.from(signature, 'base64url'), sign(secret, user, until));",
      'return true;',
    ],
  }),
  ...DASHBOARD_FAULTS,
  ...PRICE_FAULTS,
  ...DISPATCH_FAULTS,
  ...FAIR_SHARE_FAULTS,
  ...DISPUTE_FAULTS,
  ...RETURN_FAULTS,
  ...REPLACEMENT_FAULTS,
  ...SHOP_FAULTS,
  ...AGENT_FAULTS,
  ...BATCH_FAULTS,
  ...MANDATE_FAULTS,
  ...OWN_FAULTS,
  ...BILLING_FAULTS,
  ...BY_HAND_FAULTS,
  ...AVAILABILITY_FAULTS,
];
