// What must always be true of outside money: payments, holds and refunds agree with the ledger on each account, for each
// purchase and each funding. Reads only, as the owner; reports violations as text.
import { sql, type Kysely } from 'kysely';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';

/** One purchase's or funding's own part of an account: `suspense:NGN` → minor units. */
type Balances = Map<string, bigint>;

/** As text: the owner's connection reads int8 as text, the service's as bigint. */
type Minor = string | bigint;

interface PaymentFacts {
  readonly reference: string;
  readonly transaction_id: string;
  readonly account_id: string;
  readonly purpose: string;
  readonly charge_minor: Minor;
  readonly charge_currency: string;
  readonly price_minor: Minor;
  readonly price_currency: string;
  readonly booked_minor: Minor;
  readonly booked_currency: string | null;
  readonly reversed_minor: Minor;
  /** Confirmed by evidence, and not yet by the gateway. */
  readonly evidence_minor: Minor;
  readonly paid_hold: boolean;
  readonly hold_status: string | null;
  readonly status: string | null;
}

interface RefundFacts {
  readonly refund_key: string;
  readonly reference: string;
  readonly transaction_id: string;
  readonly amount_minor: Minor;
  readonly currency: string;
  readonly reason: string;
  readonly status: string;
  /** A person saw it sent, or sent it. */
  readonly by_hand: boolean;
  /** What an operator credited for money in a currency without a locked rate, in the price's currency. */
  readonly worth_minor: Minor | null;
}

interface MovedFacts {
  readonly transaction_id: string;
  readonly account: string;
  readonly moved: Minor;
  readonly bookings: Minor;
}

/** Refunds by operator actions out of the wallet or of earned money. */
const BY_MOVES = '(wallet|goodwill)-[0-9a-f]{12}';

/** Every contradiction between the rows of payments from outside and the ledger. */
export async function paymentViolations(owner: Kysely<WorldDatabase>): Promise<string[]> {
  // One snapshot for all of them, since money may arrive meanwhile.
  const { payments, refunds, moved } = await owner
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => ({
      payments: await readPayments(trx),
      refunds: await readRefunds(trx),
      moved: await readMoved(trx),
    }));
  const refundsOf = Map.groupBy(refunds, (refund) => refund.transaction_id);
  const movedOf = Map.groupBy(moved, (one) => one.transaction_id);
  return [
    ...[...Map.groupBy(payments, (payment) => payment.transaction_id)].flatMap(([id, tries]) => [
      ...stateViolations(id, tries),
      ...ledgerViolations(id, tries, refundsOf.get(id) ?? [], movedOf.get(id) ?? []),
    ]),
    ...payments.flatMap((payment) => refundViolations(payment, refundsOf.get(payment.transaction_id) ?? [])),
    ...(await disputeViolations(owner)),
    ...(await moveViolations(owner)),
  ];
}

async function readPayments(owner: Kysely<WorldDatabase>): Promise<PaymentFacts[]> {
  const { rows } = await sql<PaymentFacts>`
    select y.reference, y.transaction_id, y.account_id, y.purpose, y.charge_minor, y.charge_currency, y.price_minor, y.price_currency,
           y.booked_minor, y.booked_currency, y.reversed_minor, y.evidence_minor, y.paid_hold, h.status as hold_status, coalesce(p.status, f.status) as status
      from payments y
      left join purchases p on p.transaction_id = y.transaction_id
      left join fundings f on f.transaction_id = y.transaction_id
      left join holds h on h.id = y.transaction_id`.execute(owner);
  return rows;
}

async function readRefunds(owner: Kysely<WorldDatabase>): Promise<RefundFacts[]> {
  const { rows } = await sql<RefundFacts>`
    select refund_key, reference, transaction_id, amount_minor, currency, reason, status,
           exists (select from ledger_transactions t where t.operation_key = refund_key || ':by-hand') as by_hand,
           (select m.amount_minor from operator_moves m where m.transaction_id = refunds.transaction_id
               and m.move = 'credit-wallet' and m.status = 'DONE' and m.currency <> refunds.currency limit 1) as worth_minor
      from refunds where reason !~ ${BY_MOVES}`.execute(owner);
  return rows;
}

/** What each purchase moved on each account; disputes and goodwill are checked separately, the supplier's cost elsewhere. */
async function readMoved(owner: Kysely<WorldDatabase>): Promise<MovedFacts[]> {
  const { rows } = await sql<MovedFacts>`
    select t.transaction_id, e.ledger_account_id as account, sum(e.amount_minor) as moved, count(*) as bookings
      from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
     where t.transaction_id in (select transaction_id from payments) and t.kind not in ('disputed', 'dispute-settled', 'claim-settled') and e.currency <> 'USD4'
       and not exists (select from operator_moves m where m.id = t.operation_key and m.move in ('refund-to-source', 'credit-wallet'))
       and t.operation_key !~ ${BY_MOVES}
     group by 1, 2`.execute(owner);
  return rows;
}

/** A paid purchase is delivered, held or refunded; an unpaid one is not. */
function stateViolations(id: string, tries: readonly PaymentFacts[]): string[] {
  const found: string[] = [];
  const [first] = tries;
  if (!first) return found;
  if (first.status === null) return [`payment ${first.reference} is for nothing that is there`];
  const payers = tries.filter((payment) => payment.paid_hold);
  if (payers.length > 1) found.push(`${id} is paid by ${payers.length} payments`);
  if ((payers.length === 1) !== (first.hold_status !== null))
    found.push(`${id} has the hold ${first.hold_status ?? 'absent'}, paid by ${payers.length} payments`);
  if (first.purpose === 'purchase' && first.status === 'PENDING' && payers.length > 0)
    found.push(`${id} is PENDING, but paid`);
  const came = tries.some((payment) => payment.booked_currency === payment.charge_currency);
  if (first.purpose === 'funding' && first.status === 'PENDING' && came)
    found.push(`funding ${id} is PENDING, but money came`);
  for (const { reference, booked_minor, reversed_minor } of tries) {
    if (BigInt(reversed_minor) > BigInt(booked_minor))
      found.push(`payment ${reference} came as ${booked_minor}, and ${reversed_minor} were taken back`);
  }
  return found;
}

/** Money that is not ours is refunded or was reversed, and nothing is refunded twice. */
function refundViolations(payment: PaymentFacts, refunds: readonly RefundFacts[]): string[] {
  // Money reversed first counts as reversed with the payment.
  const own = refunds.filter(
    (refund) => refund.reference === payment.reference && refund.status !== 'TAKEN_BACK',
  );
  const backMinor = sumOf(own, (refund) => refund.amount_minor);
  const wantedMinor = toSuspense(payment);
  const found: string[] = [];
  if (backMinor > wantedMinor)
    found.push(`of payment ${payment.reference} ${wantedMinor} should go back, and ${backMinor} do`);
  if (backMinor + BigInt(payment.reversed_minor) < wantedMinor)
    found.push(`of payment ${payment.reference} ${wantedMinor} should go back, and only ${backMinor} do`);
  return found;
}

/** The part of a payment in suspense for a refund: in an unexpected currency, or for an undeliverable purchase. */
function toSuspense(payment: PaymentFacts): bigint {
  if (payment.booked_currency !== null && payment.booked_currency !== payment.charge_currency)
    return BigInt(payment.booked_minor);
  return payment.paid_hold && payment.hold_status === 'VOIDED' ? BigInt(payment.charge_minor) : 0n;
}

function ledgerViolations(
  id: string,
  tries: readonly PaymentFacts[],
  refunds: readonly RefundFacts[],
  moved: readonly MovedFacts[],
): string[] {
  const wanted = wantedOf(tries, refunds);
  const booked: Balances = new Map(moved.map((one) => [one.account, BigInt(one.moved)]));
  const bookings = new Map(moved.map((one) => [one.account, BigInt(one.bookings)]));
  const [{ price_currency: price, charge_currency: charge }] = tries as [PaymentFacts];
  const found: string[] = [];
  for (const account of new Set([...wanted.keys(), ...booked.keys()])) {
    const [says, has] = [wanted.get(account) ?? 0n, booked.get(account) ?? 0n];
    // Money credited at the locked rate is rounded each time it arrives.
    const isRounded = charge !== price && (account.startsWith('wallet:') || account === `exchange:${price}`);
    const off = says > has ? says - has : has - says;
    if (off > (isRounded ? (bookings.get(account) ?? 0n) : 0n))
      found.push(`${id} should have ${says} on ${account}, booked are ${has}`);
  }
  return found;
}

/** The balance of each account according to the rows. */
function wantedOf(tries: readonly PaymentFacts[], refunds: readonly RefundFacts[]): Balances {
  const wanted: Balances = new Map();
  const add = (account: string, amountMinor: bigint): void => {
    wanted.set(account, (wanted.get(account) ?? 0n) + amountMinor);
  };
  for (const payment of tries) {
    const own = refunds.filter((refund) => refund.reference === payment.reference);
    addPayment(add, payment, own);
    for (const refund of own) {
      const amountMinor = BigInt(refund.amount_minor);
      const gone = refund.by_hand ? 'evidence' : 'gateway-clearing';
      if (refund.status === 'DONE') add(`${gone}:${refund.currency}`, amountMinor);
      if (['DONE', 'CREDITED'].includes(refund.status)) add(`suspense:${refund.currency}`, -amountMinor);
    }
  }
  return wanted;
}

function addPayment(
  add: (account: string, amountMinor: bigint) => void,
  payment: PaymentFacts,
  refunds: readonly RefundFacts[],
): void {
  const { charge_currency: charge, price_currency: price, hold_status: hold } = payment;
  const [chargeMinor, priceMinor] = [BigInt(payment.charge_minor), BigInt(payment.price_minor)];
  const bookedMinor = BigInt(payment.booked_minor);
  const currency = payment.booked_currency ?? charge;
  const evidenceMinor = BigInt(payment.evidence_minor);
  add(`gateway-clearing:${currency}`, BigInt(payment.reversed_minor) - bookedMinor + evidenceMinor);
  add(`evidence:${currency}`, -evidenceMinor);
  add(`suspense:${currency}`, toSuspense(payment) - BigInt(payment.reversed_minor));
  const heldMinor = payment.paid_hold && hold !== 'VOIDED' ? priceMinor : 0n;
  if (payment.paid_hold && hold === 'HELD') add(`held:${price}`, priceMinor);
  if (payment.paid_hold && hold === 'POSTED') add(`revenue:${price}`, priceMinor);
  const credited = refunds.filter((refund) => refund.status === 'CREDITED');
  const creditedMinor = sumOf(
    credited.filter((refund) => refund.currency === charge),
    (refund) => refund.amount_minor,
  );
  for (const refund of credited.filter((one) => one.currency !== charge)) {
    const worthMinor = BigInt(refund.worth_minor ?? 0);
    add(`exchange:${refund.currency}`, BigInt(refund.amount_minor));
    add(`exchange:${price}`, -worthMinor);
    add(`wallet:${payment.account_id}`, worthMinor);
  }
  const keptMinor = currency === charge ? bookedMinor : 0n;
  const toWalletMinor = keptMinor - (payment.paid_hold ? chargeMinor : 0n) + creditedMinor;
  const creditMinor =
    charge === price ? toWalletMinor : (2n * toWalletMinor * priceMinor + chargeMinor) / (2n * chargeMinor);
  add(`wallet:${payment.account_id}`, creditMinor);
  if (charge === price) return;
  const isVoided = payment.paid_hold && hold === 'VOIDED';
  add(`exchange:${charge}`, keptMinor - (isVoided ? chargeMinor : 0n) + creditedMinor);
  add(`exchange:${price}`, -heldMinor - creditMinor);
}

function sumOf<T>(items: readonly T[], amountOf: (item: T) => Minor): bigint {
  return items.reduce((sum, item) => sum + BigInt(amountOf(item)), 0n);
}

/** Each refund by an action has its money in suspense until it is sent, and no action has ended without its effect, or twice. */
async function moveViolations(owner: Kysely<WorldDatabase>): Promise<string[]> {
  const { rows } = await sql<{ violation: string }>`
    select 'refund ' || r.refund_key || ' is ' || r.status || ' with ' || coalesce(sum(e.amount_minor), 0) || ' in suspense' as violation
      from refunds r
      left join ledger_transactions t on t.transaction_id = r.transaction_id
       and (t.operation_key in (select m.id from operator_moves m where m.id like '%' || right(r.refund_key, 12))
            or t.operation_key like r.refund_key || ':%')
      left join ledger_entries e on e.ledger_transaction_id = t.id and e.ledger_account_id = 'suspense:' || r.currency
     where r.refund_key ~ ${BY_MOVES}
     group by r.refund_key, r.status, r.amount_minor, r.closed_at
    having coalesce(sum(e.amount_minor), 0) <> case when r.closed_at is null then r.amount_minor else 0 end
    union all
    select 'move ' || m.id || ' is ' || m.status || ' and has booked' from operator_moves m
     where m.status <> 'DONE' and exists (select from ledger_transactions t where t.operation_key = m.id)
    union all
    select 'the key ' || move_key || ' was used for ' || count(*) || ' moves' from operator_moves
     where status in ('BEGUN', 'WAITS_FOR_APPROVAL', 'APPROVED', 'DONE') group by move_key having count(*) > 1
    union all
    select m.transaction_id || ' was given back ' || -sum(e.amount_minor) || ' of the ' || max(p.price_minor) || ' that it earned'
      from operator_moves m
      join purchases p on p.transaction_id = m.transaction_id
      join ledger_transactions t on t.operation_key = m.id
      join ledger_entries e on e.ledger_transaction_id = t.id and e.ledger_account_id like 'revenue:%'
     where m.move in ('refund-to-source', 'credit-wallet')
     group by m.transaction_id having -sum(e.amount_minor) > max(p.price_minor)`.execute(owner);
  return rows.map((row) => row.violation);
}

/** A dispute puts the payment's money at risk, once at a time, and nothing if the payment brought nothing. */
async function disputeViolations(owner: Kysely<WorldDatabase>): Promise<string[]> {
  const { rows } = await sql<{ violation: string }>`
    select 'dispute ' || t.operation_key || ' is about no payment of ours' as violation
      from ledger_transactions t
     where t.kind = 'disputed' and not exists (
       select from payments y where split_part(t.operation_key, ':', 1) = y.reference and split_part(t.operation_key, ':', 2) = 'disputed' and t.transaction_id = y.transaction_id)
    union all
    select 'dispute ' || t.operation_key || ' is about a payment that brought nothing'
      from ledger_transactions t join payments y on split_part(t.operation_key, ':', 1) = y.reference and t.kind = 'disputed' where y.booked_minor = 0
    union all
    select 'dispute ' || t.operation_key || ' puts ' || e.amount_minor || ' ' || e.currency || ' at risk'
      from ledger_transactions t
      join payments y on split_part(t.operation_key, ':', 1) = y.reference and t.kind = 'disputed'
      join ledger_entries e on e.ledger_transaction_id = t.id and e.ledger_account_id = 'suspense:' || e.currency
     where (e.currency, e.amount_minor) is distinct from (y.price_currency, y.price_minor)
       and (e.currency <> y.booked_currency or e.amount_minor <= 0 or e.amount_minor > y.booked_minor)`.execute(
    owner,
  );
  return rows.map((row) => row.violation);
}

/** Rows of every kind that an event, a confirmation or a check may write: the same before and after means that nothing happened. */
export async function countRows(owner: Kysely<WorldDatabase>): Promise<Record<string, string>> {
  const { rows } = await sql<{ name: string; rows: string }>`
    select 'purchases' as name, count(*) || ' ' || coalesce(md5(string_agg(concat_ws(' ', transaction_id, status, reason, closed_at, attention_reason), ',' order by transaction_id)), '') as rows from purchases p
    union all
    select 'fundings', count(*) || ' ' || coalesce(md5(string_agg(f::text, ',' order by transaction_id)), '') from fundings f
    union all
    select 'esims', count(*) || ' ' || coalesce(md5(string_agg(e.status, ',' order by id)), '') from esims e
    union all
    select 'payments', count(*) || ' ' || coalesce(
        md5(string_agg(concat_ws(' ', reference, status, booked_minor, booked_currency, paid_hold, reversed_minor), ',' order by reference)), '')
      from payments
    union all select 'purchase_events', count(*)::text from purchase_events
    union all select 'ledger_transactions', count(*)::text from ledger_transactions
    union all select 'ledger_entries', count(*)::text from ledger_entries
    union all select 'ledger_accounts', count(*)::text from ledger_accounts
    union all select 'wallets', coalesce(string_agg(account_id || ' ' || balance_minor, ',' order by account_id), '') from wallets
    union all select 'holds', coalesce(string_agg(id || ' ' || status, ',' order by id), '') from holds
    union all select 'refunds', coalesce(string_agg(refund_key || ' ' || status, ',' order by refund_key), '') from refunds`.execute(
    owner,
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.rows]));
}

/** The bookings of a purchase or a funding, oldest first, each as `kind: account amount, …`; its own wallet is called wallet. */
export async function entriesOf(
  owner: Kysely<WorldDatabase>,
  of: { readonly transactionId: string; readonly accountId: string },
): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select t.kind || ': ' || string_agg(
        case e.ledger_account_id when ${`wallet:${of.accountId}`} then 'wallet' else e.ledger_account_id end || ' ' || e.amount_minor,
        ', ' order by e.id) as line
      from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
     where t.transaction_id = ${of.transactionId} group by t.id order by t.id`.execute(owner);
  return rows.map((row) => row.line);
}
