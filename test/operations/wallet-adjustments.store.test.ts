// Wallets funded, credited and debited by hand: by two people, once, and with books that stay equal.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { issueMissingInvoices } from '../../src/billing/invoices.ts';
import { exportJournal } from '../../src/billing/journal.ts';
import { getStatement } from '../../src/billing/statement.ts';
import { parseMinor } from '../../src/domain/money.ts';
import type { AdjustmentKind } from '../../src/domain/wallet-adjustments.ts';
import { fund } from '../../src/ledger/fund-by-hand.ts';
import { setLowBalance } from '../../src/ledger/store/low-balance.ts';
import { findWallet, transfer } from '../../src/ledger/store/ledger.ts';
import { debitEntries } from '../../src/ledger/store/owed.ts';
import { readWalletEntries } from '../../src/ledger/store/wallet-entries.ts';
import {
  askForAdjustment,
  confirmAdjustment,
  declineAdjustment,
  listAdjustments,
} from '../../src/operations/wallet-adjustments.ts';
import { readByMerchant } from '../../src/reconciliation/books.ts';
import { monthAgo, momentIn, openMonths, person } from '../billing/months.support.ts';
import { auditBooks, refusalOf } from '../support/world/books.ts';
import { EVER } from '../reconciliation/sales.support.ts';

const books = await openMonths();
const { world, accounts, owner } = books;
let now = new Date();
const deps = { accounts, db: world, stuck: { clock: { now: () => now } } };
type Who = ReturnType<typeof person>;
const who = (name: string): Who => ({
  person: { ...person(name).person, personId: `user-${randomUUID().replaceAll('-', '')}` },
});
const [ADA, BOLA, CHIDI] = ['ada', 'bola', 'chidi'].map(who) as [Who, Who, Who];

for (const { person: one } of [ADA, BOLA, CHIDI])
  await sql`
    with made as (insert into users (id, email, name) values (${one.personId}, ${one.email}, ${one.name}))
    insert into operators (user_id, role) values (${one.personId}, 'FINANCE')`.execute(accounts);

const REASON = 'It is on the bank statement';
const ask = (
  accountId: string,
  kind: AdjustmentKind,
  amountMinor: bigint,
  more: { reference?: string; by?: Who } = {},
) =>
  askForAdjustment(deps, more.by ?? ADA, {
    ...{ accountId, kind, amountMinor, reason: REASON },
    reference: more.reference ?? randomUUID(),
  });
const confirm = (id: string, by = BOLA) => confirmAdjustment(deps, by, { id, reason: 'I saw it too' });
const balanceOf = async (accountId: string) =>
  (await findWallet(world, accountId))?.balance.amountMinor ?? 0n;
const entriesOf = (accountId: string) => readWalletEntries(world, { accountId, limit: 100 });
const newAccount = (fundsMinor = 0n) => books.account('NGN', fundsMinor);

async function done(accountId: string, kind: AdjustmentKind, amountMinor: bigint) {
  const { adjustmentId } = await ask(accountId, kind, amountMinor);
  return confirm(adjustmentId);
}

describe('two people', () => {
  it('are needed for any amount, and nothing is booked before the second one', async () => {
    const account = await newAccount();
    const asked = await ask(account, 'FUNDING', 1n);
    expect(asked).toMatchObject({ status: 'WAITS', askedBy: ADA.person.email, decidedBy: null });
    await expect(confirm(asked.adjustmentId, ADA)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await balanceOf(account)).toBe(0n);
    const booked = await confirm(asked.adjustmentId);
    expect(booked).toMatchObject({
      status: 'BOOKED',
      decidedBy: BOLA.person.email,
      decisionReason: 'I saw it too',
    });
    expect(await balanceOf(account)).toBe(1n);
  });

  it('must be independent: neither gave the other access of late', async () => {
    const { adjustmentId } = await ask(await newAccount(), 'CREDIT', 5n);
    await sql`
      insert into accounts.access_grants (user_id, email, role, given_by, given_at)
      values (${CHIDI.person.personId}, ${CHIDI.person.email}, 'FINANCE', ${ADA.person.email}, now())`.execute(
      owner,
    );
    await expect(confirm(adjustmentId, CHIDI)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(confirm(adjustmentId)).resolves.toMatchObject({ status: 'BOOKED' });
  });

  it('must both still be of finance', async () => {
    const { adjustmentId } = await ask(await newAccount(), 'CREDIT', 5n);
    const become = (role: string) =>
      sql`update operators set role = ${role} where user_id = ${ADA.person.personId}`.execute(accounts);
    await become('SUPPORT');
    await expect(confirm(adjustmentId)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await become('FINANCE');
  });

  it('are what the database itself demands, and it books in no other way', async () => {
    const { adjustmentId } = await ask(await newAccount(), 'CREDIT', 5n);
    const same = sql`select book_wallet_adjustment(${adjustmentId}, ${' ADA@operator.example'}, 'x')`;
    expect(await refusalOf(same.execute(world))).toBe('wallet_adjusted_by_two_people');
    const change = (set: string) =>
      refusalOf(sql.raw(`update wallet_adjustments set ${set} where id = '${adjustmentId}'`).execute(world));
    expect(await change(`amount_minor = 6`)).toBe('permission denied');
    expect(await change(`ledger_transaction_id = 1`)).toBe('permission denied');
    expect(await change(`status = 'BOOKED', decided_by = 'eve', decided_at = now()`)).toMatch(/check/);
    const byOwner = sql.raw(`update wallet_adjustments set amount_minor = 6 where id = '${adjustmentId}'`);
    expect(await refusalOf(byOwner.execute(owner))).toBe('wallet_adjustment_keeps_its_word');
    expect(await refusalOf(sql`delete from wallet_adjustments`.execute(owner))).toBe(
      'wallet_adjustment_keeps_its_word',
    );
  });
});

describe('once', () => {
  it('asked twice it is one, and confirmed twice it is booked once', async () => {
    const account = await newAccount();
    const reference = randomUUID();
    const both = await Promise.all([1, 2].map(() => ask(account, 'FUNDING', 700n, { reference })));
    expect(new Set(both.map(({ adjustmentId }) => adjustmentId)).size).toBe(1);
    const id = both[0]!.adjustmentId;
    await confirm(id);
    await expect(confirm(id, CHIDI)).resolves.toMatchObject({
      status: 'BOOKED',
      decidedBy: BOLA.person.email,
    });
    await expect(ask(account, 'FUNDING', 700n, { reference })).resolves.toMatchObject({ adjustmentId: id });
    expect(await balanceOf(account)).toBe(700n);
  });

  it('confirmed by two at once it is booked once', async () => {
    const account = await newAccount();
    const { adjustmentId } = await ask(account, 'CREDIT', 300n, { by: BOLA });
    await sql`delete from accounts.access_grants`.execute(owner);
    const all = await Promise.all([ADA, CHIDI, ADA, CHIDI].map((by) => confirm(adjustmentId, by)));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['BOOKED']));
    expect(await balanceOf(account)).toBe(300n);
    expect(await entriesOf(account)).toHaveLength(1);
  });

  it.each([[' TRF-7 '], ['trf-7'], ['TRF\u20117'], ['ＴＲＦ－7']])(
    'a reference is the same as %j',
    async (typed) => {
      const [account, other] = [await newAccount(), await newAccount()];
      const unique = randomUUID();
      const first = await ask(account, 'FUNDING', 100n, { reference: `TRF-7 ${unique}` });
      const again = { reference: `${typed}  ${unique}` };
      await expect(ask(account, 'FUNDING', 100n, again)).resolves.toEqual(first);
      await expect(ask(other, 'FUNDING', 100n, again)).rejects.toMatchObject({ code: 'ACTION_REFUSED' });
    },
  );

  it('a reference stands for one amount of one account', async () => {
    const [one, other] = [await newAccount(), await newAccount()];
    const reference = randomUUID();
    await ask(one, 'FUNDING', 100n, { reference });
    await expect(ask(other, 'FUNDING', 100n, { reference })).rejects.toMatchObject({
      code: 'ACTION_REFUSED',
    });
    await expect(ask(one, 'FUNDING', 101n, { reference })).rejects.toMatchObject({ code: 'ACTION_REFUSED' });
    await expect(ask(one, 'FUNDING_CORRECTION', 100n, { reference })).resolves.toMatchObject({
      status: 'WAITS',
    });
  });

  it('a transfer that the command line has funded is not funded again, whichever comes first', async () => {
    const account = await newAccount();
    const amount = { amountMinor: 900n, currency: 'NGN' };
    const byCommand = (reference: string) =>
      fund({ accounts, world }, { accountId: account, amount, reason: 'a test', reference }, 'ada');
    const [before, between] = [randomUUID(), randomUUID()];
    await byCommand(before);
    await expect(ask(account, 'FUNDING', 900n, { reference: before })).rejects.toMatchObject({
      code: 'ACTION_REFUSED',
    });
    const { adjustmentId } = await ask(account, 'FUNDING', 900n, { reference: between });
    await byCommand(between);
    await expect(confirm(adjustmentId)).rejects.toThrow(/reference was booked before/);
    expect(await balanceOf(account)).toBe(1_800n);
  });

  it('declined or too late it is never booked, and its reference is free again', async () => {
    const account = await newAccount();
    const [reference, other] = [randomUUID(), randomUUID()];
    const declined = await ask(account, 'CREDIT', 50n, { reference });
    await declineAdjustment(deps, ADA, { id: declined.adjustmentId, reason: 'It was a mistake' });
    await expect(confirm(declined.adjustmentId)).rejects.toThrow(/was declined/);
    const again = await ask(account, 'CREDIT', 60n, { reference });
    await confirm(again.adjustmentId);
    await expect(
      declineAdjustment(deps, ADA, { id: again.adjustmentId, reason: 'Too late' }),
    ).rejects.toMatchObject({ code: 'ACTION_REFUSED' });
    now = new Date(Date.now() - 8 * 24 * 3_600_000);
    const late = await ask(account, 'CREDIT', 70n, { reference: other });
    now = new Date();
    await expect(confirm(late.adjustmentId)).rejects.toThrow(/in time/);
    const declining = declineAdjustment(deps, ADA, { id: late.adjustmentId, reason: 'Too late' });
    await expect(declining).rejects.toThrow(/in time/);
    const listed = await listAdjustments(deps, { accountId: account, limit: 1 });
    expect(listed.items).toMatchObject([{ adjustmentId: late.adjustmentId, status: 'EXPIRED' }]);
    await expect(ask(account, 'CREDIT', 71n, { reference: other })).resolves.toMatchObject({
      status: 'WAITS',
    });
    expect(await balanceOf(account)).toBe(60n);
  });
});

describe('money', () => {
  it('a funding and a credit come into the wallet, corrections leave it, each under its own name', async () => {
    const account = await newAccount();
    await done(account, 'FUNDING', 1_000n);
    await done(account, 'CREDIT', 300n);
    await done(account, 'FUNDING_CORRECTION', 400n);
    await done(account, 'CREDIT_CORRECTION', 100n);
    expect(
      (await entriesOf(account)).map(({ kind, amountMinor, description }) => [
        kind,
        amountMinor,
        description,
      ]),
    ).toEqual([
      ['ADJUSTMENT', -100n, 'Correction of a credit from us'],
      ['ADJUSTMENT', -400n, 'Correction of a funding that we recorded'],
      ['CREDIT', 300n, 'Credit from us'],
      ['FUNDING', 1_000n, 'Wallet funded outside the gateway'],
    ]);
    expect(await balanceOf(account)).toBe(800n);
    const month = monthAgo(0);
    const owns = { account: { id: account, currency: 'NGN' as const } };
    const statement = await getStatement({ db: world, clock: { now: () => now } }, owns, {
      month,
      limit: 100,
    });
    expect(statement).toMatchObject({ openingMinor: 0n, closingMinor: 800n });
    expect(await auditBooks(world)).toEqual([]);
  });

  it('what the account owes is paid first', async () => {
    const account = await newAccount(100n);
    const amount = { amountMinor: 500n, currency: 'NGN' };
    await transfer(world, {
      ...{ operationKey: `taken:${account}`, kind: 'payment-reversed' },
      entries: [...(await debitEntries(world, account, amount)), { account: 'suspense:NGN', ...amount }],
    });
    await done(account, 'FUNDING', 300n);
    expect(await findWallet(world, account)).toMatchObject({ balance: { amountMinor: 0n }, owedMinor: 100n });
    await done(account, 'FUNDING', 300n);
    expect(await findWallet(world, account)).toMatchObject({ balance: { amountMinor: 200n }, owedMinor: 0n });
    expect(await auditBooks(world)).toEqual([]);
  });

  it('a correction never takes more than the wallet has', async () => {
    const account = await newAccount(100n);
    const { adjustmentId } = await ask(account, 'FUNDING_CORRECTION', 101n);
    await expect(confirm(adjustmentId)).rejects.toThrow(/too little/);
    expect(await balanceOf(account)).toBe(100n);
    await done(account, 'FUNDING_CORRECTION', 100n);
    expect(await balanceOf(account)).toBe(0n);
  });

  it('a correction that makes a wallet low tells its webhooks', async () => {
    const account = await newAccount(1_000n);
    await setLowBalance(world, { accountId: account, currency: 'NGN' }, 500n, now);
    await sql`
      insert into webhook_endpoints (id, account_id, url, secret_sealed, events, created_at, updated_at)
      values (${`ep-${randomUUID().replaceAll('-', '')}`}, ${account}, 'https://merchant.example/', '\\x00', '{wallet.low_balance}', now(), now())`.execute(
      owner,
    );
    await done(account, 'FUNDING_CORRECTION', 501n);
    const { rows } = await sql<object>`
      select event, status from webhook_messages where account_id = ${account}`.execute(world);
    expect(rows).toEqual([{ event: 'wallet.low_balance', status: 'PENDING' }]);
  });

  it('a credit is in the books of its merchant, in its invoice and in the journal', async () => {
    await books.setCompany();
    const account = await newAccount();
    await done(account, 'CREDIT', 250n);
    await done(account, 'CREDIT_CORRECTION', 50n);
    const { lines } = await readByMerchant({ db: world }, EVER);
    expect(lines.find(({ accountId }) => accountId === account)).toMatchObject({ correctedMinor: -200n });
    expect(lines.filter(({ accountId }) => accountId === null)).toEqual([]);
    const month = monthAgo(1);
    await books.moveTo(() => momentIn(month, 0.5));
    await books.close(month);
    await issueMissingInvoices({ db: world });
    const invoices = await world
      .selectFrom('invoices')
      .selectAll()
      .where('account_id', '=', account)
      .execute();
    expect(invoices.map(({ gross_minor }) => gross_minor)).toEqual([-200n]);
    const cells = (await exportJournal({ db: world }, month))
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    const [heads, ...rows] = cells;
    const sumOf = (name: string) =>
      rows.reduce((sum, row) => sum + (parseMinor(row[heads!.indexOf(name)] ?? '') ?? 0n), 0n);
    expect(sumOf('Debits')).toBe(sumOf('Credits'));
    expect(sumOf('Debits')).toBeGreaterThan(0n);
  });
});

it('each step is in the audit log of the account', async () => {
  const account = await newAccount();
  await done(account, 'CREDIT', 5n);
  const log = await accounts
    .selectFrom('audit_log')
    .selectAll()
    .where('subject', '=', account)
    .orderBy('id')
    .execute();
  expect(log.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
    'ada@operator.example wallet.ask-adjustment',
    'bola@operator.example wallet.adjust',
  ]);
  expect(log[1]!.detail).toMatchObject({ amountMinor: '5', currency: 'NGN', proposedBy: ADA.person.email });
});

it('lists go on behind their cursor, by account and status', async () => {
  const account = await newAccount();
  const made = [];
  for (let nth = 1n; nth <= 5n; nth += 1n) made.push((await ask(account, 'CREDIT', nth)).adjustmentId);
  await confirm(made[0]!);
  const first = await listAdjustments(deps, { accountId: account, limit: 3 });
  const rest = await listAdjustments(deps, { accountId: account, limit: 3, after: first.next });
  expect([...first.items, ...rest.items].map(({ adjustmentId }) => adjustmentId)).toEqual(made.toReversed());
  expect(rest.next).toBeUndefined();
  const waiting = await listAdjustments(deps, { accountId: account, status: 'WAITS', limit: 10 });
  expect(waiting.items).toHaveLength(4);
});

it('an unknown account and an unknown change are not found', async () => {
  await expect(ask('acc-nobody', 'CREDIT', 5n)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(confirm('adjust-nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
