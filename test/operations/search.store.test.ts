/**
 * The operators' search, and accounts as operators see them: what each id leads to, in one environment, and
 * for which role.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/domain/callers.ts';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { insertRates, type NewRate } from '../../src/catalogue/store/rates.ts';
import { createKey } from '../../src/accounts/keys/manage-keys.ts';
import { createAccount } from '../../src/accounts/manage-accounts.ts';
import { insertPerson } from '../../src/accounts/store/people.ts';
import { insertMember, beginUserAnew } from '../../src/accounts/store/users.ts';
import { changeAccount, listAccounts, readAccount } from '../../src/operations/accounts.ts';
import { MAX_FOUND, search } from '../../src/operations/search.ts';
import { insertAdjustment } from '../../src/operations/store/wallet-adjustments.ts';
import { findOtherRecords, findTransactions } from '../../src/operations/store/search.ts';
import { stuckLimits } from '../../src/operations/stuck-rules.ts';
import { purchaseTimeline } from '../../src/operations/timeline.ts';
import { UNMATCHED_EVENT } from '../../src/payments/store/gateway-events.ts';
import { createOverview } from '../../src/reconciliation/overview.ts';
import type { Role } from '../../src/domain/operator-roles.ts';
import { openBooks } from '../support/world/books.ts';
import { basePackage, region } from '../support/money/facts.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { ago, fillClosed, HOUR, NOW, rowsOf } from './stuck.support.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
const rows = rowsOf(books.owner);

const stuck = {
  db: books.world,
  workflows: {
    findUncarried: () => Promise.resolve(new Set<string>()),
    ofTransaction: () => Promise.resolve([]),
  },
  clock: { now: () => NOW },
  limits: stuckLimits({ attentionAfterMs: 600_000, openChargeForMs: 600_000 }),
};
const noActions = { listFor: () => Promise.resolve([]), preview: () => Promise.resolve(undefined) };
const events = { accessRemoved: () => undefined };
const deps = { accounts: books.accounts, environment: 'test' as const, db: books.world, stuck, events };
const session = { person: { email: 'finance@operator.example' } } as Session;
const hex = () => randomBytes(16).toString('hex');
const ICCID = '8944300000000000017';

const newAccount = (name: string, email: string) =>
  createAccount(
    books.accounts,
    { type: 'MERCHANT', name, email, currency: 'NGN', plan: 'STANDARD' },
    'a test',
  );

const accountId = await newAccount('Merchant 100% Travel', 'shop@merchant.example');
const other = await newAccount('Other Ltd', 'other@else.example');
const passwordHash = 'scrypt$1$1$1$x$x';
const owner = { email: 'ada.owner@private.example', name: 'Ada', passwordHash };
const user = await beginUserAnew(books.accounts, owner);
await insertMember(books.accounts, { account_id: accountId, user_id: user, role: 'OWNER' });
const person = await insertPerson(books.accounts, {
  ...{ email: 'support@operator.example', name: 'Sam', role: 'SUPPORT', passwordHash, oneTimeUntil: null },
});
const company = { companyName: 'Merchant', websiteUrl: 'https://merchant.example', expiresAt: null };
const key = await createKey(
  books.accounts,
  {
    ...{ accountId, environment: 'test', brand: 'simway', ...company },
    ...{ scopes: ['read'], allowedAddresses: ['127.0.0.1'] },
  },
  'a test',
);
const own = { account_id: accountId };
const esim = `esim-${hex()}`;
const both = { ...own, esim_id: esim };
const purchase = await rows.purchase({ ...both, request_id: 'request-1', created_at: ago(3) });
const topUp = await rows.purchase({ ...both, package_type: 'TOPUP', created_at: ago(2) });
for (const [id, orderNo] of [
  [purchase, 'B2611'],
  [topUp, 'T2611'],
] as const)
  await sql`
      insert into supplier_orders (id, transaction_id, kind, supplier, package_code, volume_bytes, cost_usd_e4, in_flight_grace_ms, state,
                                   attempts, last_sent_at, order_no)
      values (${id}, ${id}, 'BASE', 'esim-access', 'P', 1, 1, 0, 'accepted', 1, now(), ${orderNo})`.execute(
    books.owner,
  );
const funding = await rows.funding({ ...own, request_id: 'request-1' });
await rows.payment(purchase, { reference: 'pay-1', account_id: accountId, gateway_id: '4099260516' });
const refund = { reference: 'pay-1', refund_key: 'pay-1-back', gateway_refund_id: '7001' };
await rows.refund(purchase, { ...refund, status: 'DONE' });
const applied = { applied_at: ago(1) };
const event = await rows.event({ reference: 'pay-1', ...applied });
const stranger = await rows.event({ reference: 'of-a-stranger', ...applied, note: UNMATCHED_EVENT });
const endpoint = await rows.endpoint({ ...own, url: 'https://shop.example/hooks/s3cret?key=s3cret' });
const removed = await rows.endpoint({ ...own, deleted_at: ago(1) });
const message = await rows.message(endpoint, { ...own, subject: purchase });
const loose = await rows.message(endpoint, own);
await rows.action(purchase, { action: 'cancel', status: 'BEGUN', created_at: ago(1) });
await sql`
    insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier, iccid,
                       order_no, esim_tran_no, total_volume_bytes, total_duration, duration_unit, data_type, created_at)
    values (${esim}, ${accountId}, ${purchase}, 'P', 'P', 'ACTIVE', 1, 'USD', '{}', 's', ${ICCID}, 'B2611', 'TRAN-1', 1, 30, 'DAY', 1, now())`.execute(
  books.owner,
);
const { id: action } = await books.owner
  .selectFrom('operator_actions')
  .select('id')
  .executeTakeFirstOrThrow();
await sql`
    insert into accounts.api_requests (account_id, environment, request_id, at, method, path, status, duration_ms, key_id)
    values (${accountId}, 'test', 'request-1', now(), 'POST', '/api/esim/buy', 200, 5, ${key.keyId}),
           (${accountId}, 'live', 'request-1', now(), 'POST', '/api/esim/buy', 200, 5, ${key.keyId})`.execute(
  books.owner,
);
const ids = {
  ...{ purchase, topUp, funding, esim, message, loose, endpoint, removed, key: key.keyId, user, action },
  ...{ event, stranger, ...(await plantOthers(purchase)) },
};

/**
 * A batch and a quote that led to the purchase, a quote that nothing was bought with, a batch repair, a
 * dispute, and differences.
 */
async function plantOthers(purchase: string) {
  const [batch, repair] = [`batch-${hex()}`, `repair-${hex()}`];
  const [quote, unused] = [`quote-${hex()}`, `quote-${hex()}`];
  await sql`insert into disputes (reference, dispute_id, transaction_id, gateway, amount_minor, currency, outcome, settled_at) values ('pay-1', '881', ${purchase}, 'paystack', 1, 'USD', 'LOST', now())`.execute(
    books.owner,
  );
  await sql`
    insert into jobs (kind, status, id, account_id, sender_name, row_count, email_count, total_minor, currency, next_check_at, created_at)
    values ('order', 'RUNNING', ${batch}, ${accountId}, 'Merchant', 1, 0, 230, 'USD', now(), now())`.execute(
    books.owner,
  );
  await sql`
    insert into job_rows (kind, status, job_id, row_number, reference, package_code, transaction_id, closed_at)
    values ('order', 'DONE', ${batch}, 0, 'booking-4711', 'P', ${purchase}, now())`.execute(books.owner);
  const { packageCode } = basePackage();
  const catalogue = { supplier: 'esim-access', regions: [region()], packages: [basePackage()] };
  await replaceCatalogue(books.world, catalogue, NOW);
  await sql`
    insert into quotes (id, account_id, package_type, package_code, package_name, price_minor, currency, price_usd_minor, cost_usd_e4,
                        settings_id, created_at, expires_at, used_by, used_at)
    values (${quote}, ${accountId}, 'BASE', ${packageCode}, 'A package', 230, 'USD', 230, 1, 'initial', now(), now() + interval '1 hour', ${purchase}, now()),
           (${unused}, ${accountId}, 'BASE', ${packageCode}, 'A package', 230, 'USD', 230, 1, 'initial', now() - interval '1 hour', now() - interval '1 min', null, null)`.execute(
    books.owner,
  );
  await sql`
    insert into jobs (kind, id, repair_key, action, filter, reason, by_person, status, row_count, expires_at, created_at, closed_at, done, refused, unknown, skipped)
    values ('repair', ${repair}, ${repair}, 'replay', '{}', 'a test', 'ada', 'EXPIRED', 1, now(), now(), now(), 0, 0, 0, 1)`.execute(
    books.owner,
  );
  await sql`
    insert into reconciliation_runs (id, run_key, asked_by, is_regular, from_at, to_at, new_from_at, settled_before, slices)
    overriding system value values (7, 'run-7', 'ada', true, now(), now(), now(), now(), '[]')`.execute(
    books.owner,
  );
  await sql`
    insert into reconciliation_differences (id, kind, subject, transaction_id, currency, amount_minor, dated_from, dated_to,
                                            first_run_id, last_run_id, first_seen_at, last_seen_at, closed_at, closed_how)
    overriding system value
    values (900041, 'amount-differs', 'pay-1', ${purchase}, 'NGN', 5, now(), now(), 7, 7, now(), now(), now(), 'GONE'),
           (900042, 'missing-in-ledger', 'pay-unknown', null, 'NGN', 5, now(), now(), 7, 7, now(), now(), now(), 'GONE')`.execute(
    books.owner,
  );
  return { batch, quote, unused, repair };
}

/** `<kind> <id> by <how>` of each result. */
async function found(text: string, role: Role = 'SUPPORT'): Promise<string[]> {
  const { items } = await search(deps, text, role);
  return items.map(({ kind, id, foundBy }) => `${kind} ${id} by ${foundBy}`);
}

describe('the search', () => {
  it('finds purchases and fundings by each of their ids', async () => {
    expect(await found(ids.purchase)).toEqual([`purchase ${ids.purchase} by id`]);
    expect(await found(ids.funding)).toEqual([`funding ${ids.funding} by id`]);
    expect(await found('pay-1')).toEqual([`purchase ${ids.purchase} by reference`]);
    expect(await found(ids.message)).toEqual([`purchase ${ids.purchase} by message`]);
    expect(await found(ids.action)).toEqual([`purchase ${ids.purchase} by operator action`]);
    const both = [ids.topUp, ids.purchase].map((id) => `purchase ${id}`);
    expect(await found(ids.esim)).toEqual(both.map((one) => `${one} by esim`));
    expect(await found(ICCID)).toEqual(both.map((one) => `${one} by iccid`));
  });

  it('finds a purchase by the ids of the gateway and the supplier, and by its batch or quote', async () => {
    for (const [text, by] of [
      ['4099260516', 'gateway id'],
      ['pay-1-back', 'refund'],
      ['7001', 'refund'],
      ['881', 'dispute'],
      ['B2611', 'order number'],
      ['TRAN-1', 'esim'],
      [ids.quote, 'quote'],
      [ids.event, 'gateway event'],
    ] as const)
      expect(await found(text), text).toEqual([`purchase ${ids.purchase} by ${by}`]);
    expect(await found('T2611')).toEqual([`purchase ${ids.topUp} by order number`]);
    expect(await found(ids.batch)).toEqual([`batch ${ids.batch} by id`, `purchase ${ids.purchase} by batch`]);
  });

  it('leads from a purchase to the batch that it belongs to', async () => {
    const batchOf = async (id: string) =>
      (await purchaseTimeline({ ...stuck, actions: noActions }, id))?.batchId;
    expect(await batchOf(ids.purchase)).toBe(ids.batch);
    expect(await batchOf(ids.topUp)).toBeNull();
  });

  it('shows for a top-up neither the order number nor the check of its eSIM', async () => {
    const unanswered = await rows.purchase({
      ...own,
      package_type: 'TOPUP',
      esim_id: esim,
      created_at: ago(1),
    });
    const shown = async (id: string) =>
      (await purchaseTimeline({ ...stuck, actions: noActions }, id))?.supplier;
    expect(await shown(purchase)).toMatchObject({ orderNo: 'B2611' });
    expect(await shown(unanswered)).toMatchObject({ orderNo: null, checkedAt: null, iccid: ICCID });
    await books.owner.deleteFrom('purchases').where('transaction_id', '=', unanswered).execute();
  });

  it('finds an event that matches no payment by its reference', async () => {
    expect(await found('of-a-stranger')).toEqual([`gateway event ${ids.stranger} by reference`]);
  });

  it('finds endpoints, unused quotes, batch repairs, members and unmatched events', async () => {
    const titled = async (text: string) => {
      const { items } = await search(deps, text, 'SUPPORT');
      return items.map(({ kind, title, account }) => [kind, title, account?.accountId ?? null]);
    };
    expect(await titled(ids.endpoint)).toEqual([['endpoint', 'shop.example', accountId]]);
    expect(await titled(ids.removed)).toEqual([['endpoint', 'merchant.example, deleted', accountId]]);
    expect(await titled(ids.unused)).toEqual([['quote', 'Quote for A package, expired', accountId]]);
    expect(await titled(ids.repair)).toEqual([['repair', 'replay, EXPIRED', null]]);
    expect(await titled(ids.stranger)).toEqual([
      ['gateway event', `charge.success, ${UNMATCHED_EVENT}`, null],
    ]);
    expect(await titled(ids.user)).toEqual([['member', 'Ada, ada.owner@private.example, OWNER', accountId]]);
  });

  it('finds differences for roles that may see them, and for no other', async () => {
    expect(await found('900041', 'FINANCE')).toEqual(['difference 900041 by id']);
    expect(await found('pay-unknown', 'FINANCE')).toEqual(['difference 900042 by subject']);
    // A difference with a purchase leads to the purchase.
    expect(await found('pay-1', 'FINANCE')).toEqual([`purchase ${ids.purchase} by reference`]);
    for (const role of ['SUPPORT', 'OPERATIONS', 'ADMIN'] as const)
      for (const text of ['900041', 'pay-unknown']) expect(await found(text, role), role).toEqual([]);
  });

  it('finds messages without a purchase, keys, requests and accounts, each with its account', async () => {
    expect(await found(ids.loose)).toEqual([`message ${ids.loose} by id`]);
    expect(await found(ids.key)).toEqual([`key ${ids.key} by id`]);
    expect(await found('request-1')).toEqual([
      'request request-1 by id',
      `funding ${ids.funding} by request`,
      `purchase ${ids.purchase} by request`,
    ]);
    expect(await found(accountId)).toEqual([`account ${accountId} by id`]);
    for (const text of ['100% trav', 'SHOP@merchant', 'ada.owner@private.example'])
      expect(await found(text), text).toEqual([`account ${accountId} by name or e-mail`]);
    const { items } = await search(deps, ids.key, 'SUPPORT');
    expect(items[0]).toMatchObject({
      account: { accountId, name: 'Merchant 100% Travel' },
      title: expect.stringMatching(/^simway_test_….{4}, Merchant$/) as string,
    });
    expect((await search(deps, ids.purchase, 'SUPPORT')).items[0]?.title).toBe(
      'A package, USD 2.30, PROCESSING',
    );
  });

  it('finds people for roles that manage people, and for no other', async () => {
    expect(await found(person ?? '', 'ADMIN')).toEqual([`person ${person} by id`]);
    expect(await found('Support@operator.example', 'ADMIN')).toEqual([`person ${person} by name or e-mail`]);
    for (const role of ['SUPPORT', 'OPERATIONS', 'FINANCE'] as const)
      expect(await found('support@operator.example', role)).toEqual([]);
  });

  it('keeps the environments apart', async () => {
    const live = { ...deps, environment: 'live' as const };
    expect((await search(live, ids.key, 'SUPPORT')).items).toEqual([]);
  });

  it('shows a batch even if it has more purchases than are shown', async () => {
    const owner = `acc-${hex()}`;
    const batch = `batch-${hex()}`;
    await sql`
      insert into jobs (kind, status, id, account_id, sender_name, row_count, email_count, total_minor, currency, next_check_at, created_at)
      values ('order', 'RUNNING', ${batch}, ${owner}, 'Merchant', ${MAX_FOUND + 5}, 0, 230, 'USD', now(), now())`.execute(
      books.owner,
    );
    for (let row = 0; row < MAX_FOUND + 5; row += 1) {
      const bought = await rows.purchase({ account_id: owner });
      await sql`
        insert into job_rows (kind, status, job_id, row_number, reference, package_code, transaction_id, closed_at)
        values ('order', 'DONE', ${batch}, ${row}, ${`row-${row}`}, 'P', ${bought}, now())`.execute(
        books.owner,
      );
    }
    const { items, isCut } = await search(deps, batch, 'SUPPORT');
    expect(items[0]).toMatchObject({ kind: 'batch', id: batch });
    expect([items.length, isCut]).toEqual([MAX_FOUND, true]);
  });

  it.each(['', '%', '_', "'; drop table accounts", '\\', 'txn-', 'nothing'])(
    'accepts any text: %j',
    async (text) => {
      const { items, isCut } = await search(deps, text, 'ADMIN');
      expect([items.length <= MAX_FOUND, isCut]).toEqual([true, false]);
    },
  );

  it('reads no large table completely', async () => {
    await fillClosed(books.owner, 20_000);
    await sql`
      insert into reconciliation_differences (kind, subject, transaction_id, currency, amount_minor, dated_from, dated_to, first_run_id, last_run_id,
                                              first_seen_at, last_seen_at, closed_at, closed_how)
      select 'amount-differs', 'p' || i, 't' || i, 'USD', 1, now(), now(), 7, 7, now(), now(), now(), 'GONE'
        from generate_series(1, 20000) i`.execute(books.owner);
    await sql`analyze`.execute(books.owner);
    for (const text of ['r77', 'g77', 'b77', 'd77', 'o77', 'm77', `event-77`, '77']) {
      const { scans } = await explain(books, async (db) => {
        await findTransactions(db, text, 21);
        await findOtherRecords(db, text, { withDifferences: true, limit: 21 });
      });
      const whole = scans.filter(
        (scan) => scan['Node Type'] === 'Seq Scan' && MANY.has(scan['Relation Name']),
      );
      expect(whole, text).toEqual([]);
      expect(rowsReadBy(scans), text).toBeLessThan(200);
    }
    for (const [text, by] of [
      ['r77', 'request'],
      ['g77', 'gateway id'],
      ['b77', 'refund'],
      ['d77', 'dispute'],
      ['o77', 'order number'],
    ] as const)
      expect(await findTransactions(books.world, text, 21)).toMatchObject([
        { transactionId: 't77', foundBy: by },
      ]);
  });
});

const MANY: ReadonlySet<string | undefined> = new Set([
  ...['purchases', 'esims', 'payments', 'refunds', 'disputes', 'gateway_events'],
  'reconciliation_differences',
]);

describe('accounts', () => {
  it('are listed newest first, and found by a part of their name', async () => {
    const all = await listAccounts(deps, { page: 1, limit: 10 });
    expect(all.items.map(({ id }) => id)).toEqual([other, accountId]);
    expect(all.items[0]).toMatchObject({ balance: { amountMinor: 0n, currency: 'NGN' }, disabledAt: null });
    const second = await listAccounts(deps, { page: 2, limit: 1 });
    expect([second.total, second.items.map(({ id }) => id)]).toEqual([2, [accountId]]);
    const found = await listAccounts(deps, { text: 'else.example', page: 1, limit: 10 });
    expect(found.items.map(({ id }) => id)).toEqual([other]);
  });

  it('show what they have in this environment', async () => {
    const overview = await readAccount(deps, accountId);
    expect(overview).toMatchObject({
      ...{ keys: 1, members: 1, endpoints: 1, openPurchases: 2, openFundings: 1 },
      ...{ onHoldMinor: 0n, owedMinor: 0n },
    });
    const attention = { attention_reason: 'UNDO_FAILED', needs_attention_since: ago(5) };
    await rows.purchase({ account_id: accountId, ...attention });
    expect((await readAccount(deps, accountId)).stuck).toBe(overview.stuck + 1);
    expect((await readAccount(deps, other)).stuck).toBe(0);
    await expect(readAccount(deps, `acc-${hex()}`)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('are changed once, with a recorded reason', async () => {
    const change = {
      plan: 'ENTERPRISE',
      requestsPerMinute: 2_000,
      disabled: true,
      reason: 'a test',
    } as const;
    const changed = await changeAccount(deps, session, other, change);
    expect(changed).toMatchObject({ plan: 'ENTERPRISE', requestsPerMinute: 2_000, disabledAt: NOW });
    await changeAccount(deps, session, other, change);
    const undo = { plan: 'PREMIUM', disabled: false, reason: 'back' } as const;
    const back = await changeAccount(deps, session, other, undo);
    expect(back).toMatchObject({ plan: 'PREMIUM', requestsPerMinute: 500, disabledAt: null });
    const audit = await books.accounts
      .selectFrom('audit_log')
      .select(['actor', 'detail'])
      .where('action', '=', 'account.change')
      .orderBy('id')
      .execute();
    const changes = [
      ['STANDARD → ENTERPRISE', 'none → 2000', 'false → true', 'a test'],
      ['ENTERPRISE → PREMIUM', '2000 → none', 'true → false', 'back'],
    ] as const;
    expect(audit).toEqual(
      changes.map(([plan, requestsPerMinute, disabled, reason]) => ({
        actor: 'finance@operator.example',
        detail: { plan, requestsPerMinute, disabled, reason },
      })),
    );
    await expect(changeAccount(deps, session, `acc-${hex()}`, change)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('the overview', () => {
  it('counts all stuck items, with the oldest of each class, and leaves out what the role may not see', async () => {
    for (let i = 0; i < 150; i += 1)
      await rows.purchase({
        attention_reason: 'SUPPLIER_OUTCOME_UNKNOWN',
        needs_attention_since: ago(HOUR + i),
      });
    let asked = 0;
    const waiting = () => {
      asked += 1;
      return Promise.resolve({ report: 'waiting' as const, lines: [] });
    };
    const overview = createOverview({ stuck, waiting });
    const seen = await overview('FINANCE');
    expect(seen.stuck.count).toBeGreaterThanOrEqual(150);
    expect(seen.stuck.classes).toContainEqual({
      ...{ class: 'supplier-unknown', count: 150, oldestAgeSeconds: (HOUR + 149) * 60 },
    });
    expect(seen.stuck.oldestAgeSeconds).toBe((HOUR + 149) * 60);
    expect(seen).toMatchObject({
      approvals: { count: 0, oldestAgeSeconds: null },
      rates: { count: 0, oldestAgeSeconds: null },
      differences: { count: 0, oldestAgeSeconds: null },
      waiting: { asOf: NOW, lines: [] },
    });
    await overview('ADMIN');
    expect(asked).toBe(1);
    expect(await overview('SUPPORT')).toMatchObject({ rates: null, differences: null, waiting: null });
    expect((await overview('ADMIN')).differences).toBeNull();
  });

  it('counts exchange rates that await confirmation, of the last 24 hours, for those who may confirm them', async () => {
    const observed = (hoursAgo: number, status: NewRate['status']) => ({
      ...{ currency: 'NGN', micros: 1_700_000_000n, source: 'open.er-api.com', status },
      observedAt: new Date(NOW.getTime() - hoursAgo * 3_600_000),
    });
    await insertRates(books.world, [
      ...[observed(2, 'QUARANTINED'), observed(5, 'QUARANTINED'), observed(25, 'QUARANTINED')],
      observed(1, 'GOOD'),
    ]);
    const waiting = () => Promise.resolve({ report: 'waiting' as const, lines: [] });
    const overview = createOverview({ stuck, waiting });
    expect(await overview('FINANCE')).toMatchObject({
      approvals: { count: 0 },
      rates: { count: 2, oldestAgeSeconds: 5 * 3_600 },
    });
    expect((await overview('OPERATIONS')).rates).toBeNull();
  });

  it('counts changes of wallets by hand that await a second person, and not those whose time is over', async () => {
    const asked = (reference: string, expiresAt: Date) => ({
      ...{ id: `adjust-${reference.repeat(32)}`, account_id: 'a-1', kind: 'CREDIT' as const },
      ...{ amount_minor: 500n, currency: 'USD' as const, reference, reason: 'goodwill', asked_by: 'ada' },
      expires_at: expiresAt,
    });
    await insertAdjustment(books.world, asked('1', new Date(Date.now() + 3_600_000)));
    await insertAdjustment(books.world, asked('2', new Date(Date.now() - 1_000)));
    const overview = createOverview({ stuck });
    expect(await overview('SUPPORT')).toMatchObject({ approvals: { count: 1 } });
  });

  it('queries the waiting money again after a failed query', async () => {
    let asked = 0;
    const waiting = () => {
      asked += 1;
      return Promise.reject(new Error('too slow'));
    };
    const overview = createOverview({ stuck, waiting });
    await expect(overview('FINANCE')).rejects.toThrow('too slow');
    await expect(overview('FINANCE')).rejects.toThrow('too slow');
    expect(asked).toBe(2);
  });
});
