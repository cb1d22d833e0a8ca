// One of everything that operators work on, as rows of the test environment, and the ids for requests about
// them.
import { draftOf } from '../../../src/billing/invoice-rules.ts';
import { insertCompany } from '../../../src/billing/store/details.ts';
import { issueInvoice } from '../../../src/billing/store/invoices.ts';
import { sql } from 'kysely';
import { insertAccount } from '../../../src/accounts/store/accounts.ts';
import { replaceCatalogue } from '../../../src/catalogue/store/catalogue.ts';
import { ensureWallet, fundWallet, transfer } from '../../../src/ledger/store/ledger.ts';
import { askForAction } from '../../../src/operations/store/actions.ts';
import { recordDecision, insertBatchRepair } from '../../../src/operations/store/batch-repairs.ts';
import { UNMATCHED_EVENT } from '../../../src/payments/store/gateway-events.ts';
import { openPurchase } from '../../../src/purchases/store/opening.ts';
import { settlePurchase } from '../../../src/purchases/store/purchases.ts';
import { rowsOf } from '../../operations/stuck.support.ts';
import type { Books } from '../world/books.ts';
import { basePackage, NO_LIMITS, purchaseInput, region } from '../money/facts.ts';

const idOf = (kind: string, nth: number): string => `${kind}-${String(nth).padStart(32, '0')}`;

/** Paid by card and never delivered: USD 50.00. */
export const TXN = idOf('txn', 1);
/** Delivered, from a wallet: USD 1,000.00. */
export const SOLD = idOf('txn', 2);
/** Delivered, from a wallet: NGN 2,000.00, of which NGN 0.05 is in dispute. */
const SOLD_IN_NAIRA = idOf('txn', 3);
export const NO_TXN = `txn-${'f'.repeat(32)}`;
export const ACCOUNT = idOf('acc', 1);
const NAIRA_ACCOUNT = idOf('acc', 2);
export const NO_ACCOUNT = `acc-${'f'.repeat(32)}`;
/** Waits for a second person; requested by a person outside of the test. */
export const ACTION = idOf('action', 1);
/** Waits for a second person; requested by FINANCE. */
export const OWN_ACTION = idOf('action', 2);
export const NO_ACTION = `action-${'f'.repeat(32)}`;
/** Waits for a second person. */
export const CHANNEL = `channel-${'6f'.repeat(16)}`;
export const REPAIR = idOf('repair', 1);
export const RUNNING_REPAIR = idOf('repair', 2);
/** Closed, with an invoice; and the one after it, which a second person may sign off. */
export const MONTH = '2026-01';
export const ASKED_MONTH = '2026-02';
export const INVOICE = `${new Date().getUTCFullYear()}-000001`;
/** Waits for a second person; asked for by a person outside of the test, and by FINANCE. */
export const ADJUSTMENT = idOf('adjust', 1);
export const OWN_ADJUSTMENT = idOf('adjust', 2);
export const NO_REPAIR = `repair-${'f'.repeat(32)}`;

const ASKER = 'asker@operator.example';
const LONG_AGO = new Date('2026-01-31T09:30:00.000Z');
const ALWAYS_TWO = { ...NO_LIMITS, perAction: { USD: 0n } };

/** Rows that no test changes. */
export async function plantSales({ world, accounts, owner }: Books): Promise<void> {
  await replaceCatalogue(
    world,
    { supplier: 'esim-access', regions: [region()], packages: [basePackage()] },
    new Date(),
  );
  for (const [id, currency] of [
    [ACCOUNT, 'USD'],
    [NAIRA_ACCOUNT, 'NGN'],
  ] as const) {
    const account = { id, type: 'MERCHANT', name: `Merchant ${currency}`, plan: 'STANDARD' } as const;
    const email = `${currency.toLowerCase()}@merchant.example`;
    await insertAccount(accounts, { ...account, email, currency, enterpriseRequestsPerMinute: null });
    await ensureWallet(world, id, currency);
    const amount = { amountMinor: 100_000_000n, currency };
    await fundWallet(world, { operationKey: `fund:${id}`, accountId: id, amount, reason: 'a test' });
  }
  await plantRates(owner);
  // Rates that tests set do not come upon the planted ids.
  await sql`select setval(pg_get_serial_sequence('exchange_rates', 'id'), 1000)`.execute(owner);
  const { quote } = purchaseInput({ transactionId: '' });
  const naira = { priceMinor: '200000', currency: 'NGN', costUsdE4: '9999', rateId: '6' } as const;
  for (const [transactionId, accountId, price] of [
    [SOLD, ACCOUNT, { priceMinor: '100000', currency: 'USD' }],
    [SOLD_IN_NAIRA, NAIRA_ACCOUNT, naira],
  ] as const) {
    const input = purchaseInput({ transactionId, accountId, quote: { ...quote, ...price } });
    const given = { now: new Date(), gateway: 'paystack', keepRefusal: () => false };
    const opened = await openPurchase(world, input, given);
    if (opened.stage === 'failed') throw new Error(opened.refusal.detail);
    await settlePurchase(world, transactionId);
  }
  await transfer(world, {
    operationKey: `${SOLD_IN_NAIRA}:disputed`,
    kind: 'disputed',
    transactionId: SOLD_IN_NAIRA,
    entries: [
      { account: 'revenue:NGN', currency: 'NGN', amountMinor: -5n },
      { account: 'suspense:NGN', currency: 'NGN', amountMinor: 5n },
    ],
  });
  await plantPapers(owner, world);
  const rows = rowsOf(owner);
  const open = { account_id: ACCOUNT, currency: 'USD' } as const;
  const attention = { attention_reason: 'SUPPLIER_NEVER_ALLOCATED' } as const;
  const price = { price_minor: 5_000n, price_usd_minor: 5_000n };
  await rows.purchase({
    ...{ transaction_id: TXN, payment_method: 'CARD', ...open, ...price, ...attention },
  });
  await rows.hold(TXN, { ...open, amount_minor: 5_000n });
  await rows.payment(TXN, {
    ...{ account_id: ACCOUNT, status: 'CLOSED', paid_hold: true, charge_minor: 8_000_000n },
    ...{ price_minor: 5_000n, received_minor: 8_000_000n, used_minor: 8_000_000n, gateway_status: 'success' },
  });
  await sql`
    insert into disputes (reference, dispute_id, transaction_id, gateway, amount_minor, currency, opened_at)
    select reference, '4711', transaction_id, gateway, charge_minor, charge_currency, ${LONG_AGO} from payments where transaction_id = ${TXN}`.execute(
    owner,
  );
  await sql`
    insert into reconciliation_runs (id, run_key, asked_by, is_regular, from_at, to_at, new_from_at, settled_before, slices)
    overriding system value
    values (7, 'run-7', ${ASKER}, true, ${LONG_AGO}, ${LONG_AGO}, ${LONG_AGO}, ${LONG_AGO}, '[]')`.execute(
    owner,
  );
}

async function plantPapers(owner: Books['owner'], world: Books['world']): Promise<void> {
  await sql`
    insert into month_closings (month, asked_by, closed_by, closed_at) values (${MONTH}, ${ASKER}, 'ada@operator.example', now())`.execute(
    owner,
  );
  const details = {
    legalName: 'Simway Ltd',
    addressLines: ['1 Marina Road'],
    country: 'NG',
    taxNumber: null,
  };
  const tax = { taxName: 'VAT', taxRateBps: 750 };
  await insertCompany(world, { ...details, ...tax }, { by: ASKER, reason: 'a test' });
  const line = { kind: 'PACKAGE', packageName: 'Nigeria 5GB', quantity: 1, grossMinor: 100_000n } as const;
  const of = { accountId: ACCOUNT, month: MONTH, currency: 'USD', lines: [line], ...tax };
  const nobody = { corrects: null, reason: null, issuedBy: null, revision: 0 };
  await issueInvoice(
    world,
    draftOf({ ...of, ...nobody, seller: details, buyer: { ...details, email: null } }),
  );
}

/** An open alert with who is told of it, and what is behind it. */
async function plantAlerts(owner: Books['owner']): Promise<void> {
  await sql`
    insert into operator_alerts (kind, subject, severity, detail)
    values ('packages-unavailable', '', 'warning', '1 package is not sold: SHORT.')`.execute(owner);
  await sql`
    insert into alert_channels (id, kind, shown, min_severity, kinds, created_by)
    values (${CHANNEL}, 'MAIL', 'admin@operator.example', 'warning', '{}', 'admin@operator.example')`.execute(
    owner,
  );
  await sql`
    insert into package_shortages (package_code, supplier, reason, cost_usd_e4, order_id, probe_at, paid_probe_at)
    values ('SHORT', 'esim-access', 'OUT_OF_STOCK', 10000, ${TXN}, now(), now())`.execute(owner);
  await sql`
    insert into supplier_balances (check_number, supplier, balance_usd_e4, uncharged_usd_e4, booked_until,
      is_bound, is_tight, asked_at)
    select nextval('supplier_balance_checks'), 'esim-access', 12505000, 0, 0, false, false, now()`.execute(
    owner,
  );
}

async function plantRates(owner: Books['owner']): Promise<void> {
  await sql`
    insert into exchange_rates (id, currency, rate_micros, source, observed_at, status, proposed_by, proposed_reason)
    overriding system value
    values (6, 'NGN', 1534250000, 'config', now(), 'GOOD', null, null),
           (42, 'NGN', 16000000000, 'operator', now(), 'QUARANTINED', 'ada', 'a test')`.execute(owner);
}

/** Rows that tests change, in their original state. */
export async function plantWork({ world, owner }: Books): Promise<void> {
  for (const table of [
    ...['operator_actions', 'job_rows', 'jobs', 'reconciliation_differences'],
    ...['gateway_events', 'set_rates', 'exchange_rates', 'price_rules', 'operator_alerts', 'alert_channels'],
    ...['package_shortages', 'supplier_balances'],
  ])
    await sql`delete from ${sql.table(table)}`.execute(owner);
  await sql`alter table wallet_adjustments disable trigger wallet_adjustment_keeps_its_word`.execute(owner);
  await sql`delete from wallet_adjustments`.execute(owner);
  await sql`alter table wallet_adjustments enable trigger wallet_adjustment_keeps_its_word`.execute(owner);
  await sql`
    insert into wallet_adjustments (id, account_id, kind, amount_minor, currency, reference, reason, asked_by, expires_at)
    select id, ${ACCOUNT}, 'CREDIT', 1250, 'USD', id || gen_random_uuid(), 'a test', by, now() + interval '7 days'
      from (values (${ADJUSTMENT}, ${ASKER}), (${OWN_ADJUSTMENT}, 'finance@operator.example')) asked (id, by)`.execute(
    owner,
  );
  await sql`alter table month_closings disable trigger closed_month_stays`.execute(owner);
  await sql`delete from month_closings where month <> ${MONTH}`.execute(owner);
  await sql`alter table month_closings enable trigger closed_month_stays`.execute(owner);
  await sql`insert into month_closings (month, asked_by) values (${ASKED_MONTH}, ${ASKER})`.execute(owner);
  await sql`delete from pricing_settings where id <> 'initial'`.execute(owner);
  await plantRates(owner);
  await plantAlerts(owner);
  const now = new Date();
  for (const [actionId, by, amountMinor] of [
    [ACTION, ASKER, '3000'],
    [OWN_ACTION, 'finance@operator.example', '3001'],
  ] as const) {
    const request = {
      ...{
        actionId,
        actionKey: actionId,
        transactionId: SOLD,
        action: 'credit-wallet' as const,
        by,
        reason: 'a test',
      },
      ...{ amountMinor, currency: 'USD', goodwill: true },
    } as const;
    await askForAction(world, request, { limits: ALWAYS_TWO, now });
  }
  for (const [id, transactionId] of [
    [REPAIR, SOLD],
    [RUNNING_REPAIR, SOLD_IN_NAIRA],
  ] as const)
    await insertBatchRepair(world, {
      ...{ id, repairKey: id, action: 'credit-wallet', filter: { class: 'paid-not-delivered' } },
      ...{ reason: 'a test', evidence: null, by: ASKER, now },
      rows: [
        {
          ...{ transactionId, class: 'paid-not-delivered', preview: 'credits the wallet' },
          amount: { amountMinor: 1_250n, currency: 'USD' },
        },
      ],
    });
  await recordDecision(world, RUNNING_REPAIR, 'approve', {
    ...{ by: 'second@operator.example', reason: 'a test', now },
  });
  await sql`
    insert into reconciliation_differences (id, kind, subject, transaction_id, currency, amount_minor, ours, theirs, dated_from, dated_to,
                                            first_run_id, last_run_id, first_seen_at, last_seen_at)
    overriding system value
    values (42, 'amount-differs', ${TXN}, ${TXN}, 'USD4', -12345, '{"amountMinor":"1"}', null, ${LONG_AGO}, ${LONG_AGO},
            7, 7, ${LONG_AGO}, ${LONG_AGO})`.execute(owner);
  await sql`
    insert into gateway_events (id, gateway, event_key, type, about, reference, received_at, applied_at, note)
    overriding system value
    values (42, 'paystack', 'event-42', 'charge.success', 'charge', 'of-a-stranger', ${LONG_AGO}, ${LONG_AGO}, ${UNMATCHED_EVENT})`.execute(
    owner,
  );
}
