// What must always be true of money through the gateway: payments, holds and refunds agree with the ledger on
// each account, for each purchase and each funding. Reads only, as the owner; reports violations as text.
import { sql, type Kysely } from 'kysely';
import type { WorldDatabase } from '../../../src/platform/database/tables.ts';

/** As text: the owner's connection reads int8 as text, the service's as bigint. */
type Minor = string | bigint;

interface Facts {
  readonly transaction_id: string;
  readonly what: string;
  readonly wanted: Minor;
  readonly found: Minor;
  /** How far they may be apart: amounts at a locked rate are rounded each time. */
  readonly slack: Minor;
}

/** Every contradiction between the rows of payments at a gateway and the ledger. */
export async function paymentViolations(owner: Kysely<WorldDatabase>): Promise<string[]> {
  // One snapshot for all of them, since money may arrive meanwhile.
  return owner
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => [
      ...(await stateViolations(trx)),
      ...(await accountViolations(trx)),
      ...(await disputeViolations(trx)),
      ...(await actionViolations(trx)),
    ]);
}

/**
 * A paid purchase is delivered, held or given back; an unpaid one is not. What is closed has no money without
 * an owner.
 */
async function stateViolations(owner: Kysely<WorldDatabase>): Promise<string[]> {
  const { rows } = await sql<{ violation: string }>`
    with paid as (
      select y.*, h.status as hold, coalesce(p.status, f.status) as order_status
        from payments y
        left join purchases p on p.transaction_id = y.transaction_id
        left join fundings f on f.transaction_id = y.transaction_id
        left join holds h on h.id = y.transaction_id
    )
    select 'payment ' || reference || ' is for nothing that is there' as violation from paid where order_status is null
    union all
    select transaction_id || ' has the hold ' || coalesce(max(hold), 'absent') || ', paid by ' || count(*) filter (where paid_hold) || ' payments'
      from paid group by transaction_id having (count(*) filter (where paid_hold) = 1) <> (max(hold) is not null)
    union all
    select transaction_id || ' is PENDING, but paid' from paid where purpose = 'purchase' and order_status = 'PENDING' and paid_hold
    union all
    select 'funding ' || transaction_id || ' is PENDING, but money came' from paid
     where purpose = 'funding' and order_status = 'PENDING' and received_minor + vouched_minor > reversed_minor
    union all
    select 'payment ' || reference || ' has ' || free_minor || ' that nobody has' from paid
     where free_minor <> 0 and hold is distinct from 'HELD'
    union all
    select 'payment ' || reference || ' came as ' || received_minor || ', and ' || reversed_minor + refunded_minor || ' went back' from paid
     where reversed_minor + refunded_minor > received_minor
    union all
    select 'payment ' || reference || ' is used for a delivery, and its hold is ' || coalesce(hold, 'absent') from paid
     where used_minor > 0 and hold is distinct from 'POSTED'`.execute(owner);
  return rows.map((row) => row.violation);
}

/** Each place of a payment's account is what refunds, disputes and the ledger say. */
async function accountViolations(owner: Kysely<WorldDatabase>): Promise<string[]> {
  const { rows } = await sql<Facts>`
    with booked as (
      select t.transaction_id, e.ledger_account_id as account, a.kind, e.currency, sum(e.amount_minor) as minor, count(*) as bookings
        from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id join ledger_accounts a on a.id = e.ledger_account_id
       where t.transaction_id in (select transaction_id from payments) group by 1, 2, 3, 4
    ), sent as (
      select r.*, exists (select from ledger_transactions t where t.operation_key = r.refund_key || ':by-hand') as by_hand from refunds r
    ), places as (
      select y.transaction_id, y.charge_currency as currency, y.price_currency, sum(y.received_minor) as received, sum(y.vouched_minor) as vouched,
             sum(y.reversed_minor) as reversed, sum(y.refunding_minor) as refunding, sum(y.refunded_minor) as refunded,
             sum(y.disputed_minor) as disputed, bool_or(h.status = 'HELD') as is_held,
             sum(round(y.credited_minor * y.price_minor / y.charge_minor::numeric)) as credited, min(y.gateway) as gateway, min(y.account_id) as account_id,
             bool_or(coalesce(p.attention_reason, f.attention_reason) in ('PAYMENT_DISPUTED', 'PAYMENT_REVERSED')) as is_leased
        from payments y left join holds h on h.id = y.transaction_id
        left join purchases p on p.transaction_id = y.transaction_id left join fundings f on f.transaction_id = y.transaction_id
       group by 1, 2, 3
    ), own as (
      select places.*, coalesce((select sum(amount_minor) from sent r where r.transaction_id = places.transaction_id and r.currency = places.currency and by_hand), 0) as by_hand,
             coalesce((select sum(amount_minor) from sent r where r.transaction_id = places.transaction_id and r.currency = places.currency and closed_at is null), 0) as open,
             coalesce((select sum(amount_minor) from sent r where r.transaction_id = places.transaction_id and r.currency = places.currency and status = 'DONE'), 0) as done,
             (select coalesce(sum(free_minor + used_minor + credited_minor), 0) from disputes d where d.transaction_id = places.transaction_id and money = 'AT_RISK') as risk,
             (select count(*) from disputes d where d.transaction_id = places.transaction_id and credited_minor > 0) as frozen
        from places
    )
    select transaction_id, 'on its way back' as what, open as wanted, refunding as found, 0 as slack from own
    union all select transaction_id, 'sent back', done, refunded, 0 from own
    union all select transaction_id, 'disputed', risk, disputed, 0 from own
    union all
    select own.transaction_id, 'gateway-clearing:' || own.currency, reversed + refunded - by_hand - received, coalesce(minor, 0), 0
      from own left join booked on booked.transaction_id = own.transaction_id and account = 'gateway-clearing:' || gateway || ':' || own.currency
    union all
    select own.transaction_id, 'evidence:' || own.currency, by_hand - vouched, coalesce(minor, 0), 0
      from own left join booked on booked.transaction_id = own.transaction_id and account = 'evidence:' || own.currency
    union all
    select own.transaction_id, 'wallet:' || account_id, credited, coalesce(sum(minor), 0), coalesce(sum(bookings), 0) + 1
      from own left join booked on booked.transaction_id = own.transaction_id and kind in ('wallet', 'owed')
       and account in ('wallet:' || account_id, 'owed:' || account_id)
     where frozen = 0 and not exists (select from sent r where r.transaction_id = own.transaction_id and r.status = 'CREDITED' and r.currency <> own.currency)
     group by 1, 2, 3
    union all
    select own.transaction_id, 'suspense:' || booked.currency, (select coalesce(sum(amount_minor), 0) from sent r
              where r.transaction_id = own.transaction_id and r.currency = booked.currency and closed_at is null), minor, 0
      from own join booked on booked.transaction_id = own.transaction_id and kind = 'suspense'
     where is_leased is not true and risk = 0 and is_held is not true
    union all
    select h.id, 'held:' || h.currency, case h.status when 'HELD' then h.amount_minor else 0 end, coalesce(minor, 0), 0
      from holds h join own on own.transaction_id = h.id
      left join booked on booked.transaction_id = h.id and account = 'held:' || h.currency`.execute(owner);
  return rows
    .map((row) => ({ ...row, off: BigInt(row.wanted) - BigInt(row.found) }))
    .filter(({ off, slack }) => (off < 0n ? -off : off) > BigInt(slack))
    .map(
      ({ transaction_id, what, wanted, found }) =>
        `${transaction_id} should have ${wanted} as ${what}, found are ${found}`,
    );
}

/** Refunds by operator actions out of the wallet or of earned money. */
const BY_ACTIONS = '(wallet|goodwill)-[0-9a-f]{12}';

/**
 * Each refund by an action has its money in suspense until it is sent, and no action has ended without its
 * effect, or twice. What a bank has taken of a refund is booked for its payment: `accountViolations` sees it.
 */
async function actionViolations(owner: Kysely<WorldDatabase>): Promise<string[]> {
  const { rows } = await sql<{ violation: string }>`
    select 'refund ' || r.refund_key || ' is ' || r.status || ' with ' || coalesce(sum(e.amount_minor), 0) || ' in suspense' as violation
      from refunds r join payments y on y.reference = r.reference
      left join ledger_transactions t on t.transaction_id = r.transaction_id
       and (t.operation_key in (select m.id from operator_actions m where m.id like '%' || right(r.refund_key, 12))
            or t.operation_key like r.refund_key || ':%')
      left join ledger_entries e on e.ledger_transaction_id = t.id and e.ledger_account_id = 'suspense:' || r.currency
     where r.refund_key ~ ${BY_ACTIONS} and y.reversed_minor = 0
     group by r.refund_key, r.status, r.amount_minor, r.closed_at
    having coalesce(sum(e.amount_minor), 0) <> case when r.closed_at is null then r.amount_minor else 0 end
    union all
    select 'action ' || m.id || ' is ' || m.status || ' and has booked' from operator_actions m
     where m.status <> 'DONE' and exists (select from ledger_transactions t where t.operation_key = m.id)
    union all
    select 'the key ' || action_key || ' was used for ' || count(*) || ' actions' from operator_actions
     where status in ('BEGUN', 'WAITS_FOR_APPROVAL', 'APPROVED', 'DONE') group by action_key having count(*) > 1
    union all
    select m.transaction_id || ' was given back ' || -sum(e.amount_minor) || ' of the ' || max(p.price_minor) || ' that it earned'
      from operator_actions m
      join purchases p on p.transaction_id = m.transaction_id
      join ledger_transactions t on t.operation_key = m.id
      join ledger_entries e on e.ledger_transaction_id = t.id and e.ledger_account_id like 'revenue:%'
     where m.action in ('refund-to-source', 'credit-wallet')
     group by m.transaction_id having -sum(e.amount_minor) > max(p.price_minor)`.execute(owner);
  return rows.map((row) => row.violation);
}

/** A dispute is about a payment that brought money, and has put at risk no more than it asks for. */
async function disputeViolations(owner: Kysely<WorldDatabase>): Promise<string[]> {
  const { rows } = await sql<{ violation: string }>`
    select 'dispute ' || dispute_id || ' is about a payment that brought nothing' as violation
      from disputes d left join payments y on y.reference = d.reference and y.transaction_id = d.transaction_id
     where coalesce(y.received_minor, 0) = 0
    union all
    select 'dispute ' || dispute_id || ' of ' || amount_minor || ' puts more at risk' from disputes
     where free_minor + used_minor + credited_minor > amount_minor`.execute(owner);
  return rows.map((row) => row.violation);
}

/**
 * Rows of every kind that an event, a confirmation or a check may write: the same before and after means that
 * nothing happened.
 */
export async function countRows(owner: Kysely<WorldDatabase>): Promise<Record<string, string>> {
  const { rows } = await sql<{ name: string; rows: string }>`
    select 'purchases' as name, count(*) || ' ' || coalesce(md5(string_agg(concat_ws(' ', transaction_id, status, reason, closed_at, attention_reason), ',' order by transaction_id)), '') as rows from purchases p
    union all
    select 'fundings', count(*) || ' ' || coalesce(md5(string_agg(f::text, ',' order by transaction_id)), '') from fundings f
    union all
    select 'esims', count(*) || ' ' || coalesce(md5(string_agg(e.status, ',' order by id)), '') from esims e
    union all
    select 'payments', count(*) || ' ' || coalesce(
        md5(string_agg(concat_ws(' ', reference, status, received_minor, other_currency, paid_hold, reversed_minor, disputed_minor), ',' order by reference)), '')
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

/**
 * The bookings of a purchase or a funding, oldest first, each as `kind: account amount, …`; its own wallet is
 * called wallet.
 */
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
