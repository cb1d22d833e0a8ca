/**
 * Papers are the ledger: for months of random purchases, refunds, credits and disputes, from wallets and by
 * card, the statements, invoices, receipts and journals of every month add up to the ledger's entries of that
 * month, to the minor unit.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { exportJournal } from '../../src/billing/journal.ts';
import { getReceipt } from '../../src/billing/receipts.ts';
import { exportStatement, getStatement } from '../../src/billing/statement.ts';
import type { Principal } from '../../src/domain/account.ts';
import type { AccountCurrency } from '../../src/domain/money.ts';
import { parseMinor } from '../../src/domain/money.ts';
import { rangeOf, type Month } from '../../src/domain/papers.ts';
import { transfer } from '../../src/ledger/store/ledger.ts';
import { saveDisputes } from '../../src/payments/store/disputes.ts';
import { bookSeen } from '../../src/purchases/store/payment-bookings.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { momentIn, monthAgo, openMonths } from './months.support.ts';

const DEEDS = size({ ci: 120, prove: 2_000 });
const MOST_MINOR = 90_000;
/** Enough for all of them at their dearest. */
const FUNDS_MINOR = BigInt(DEEDS * (MOST_MINOR + 100));
const MONTHS = [monthAgo(3), monthAgo(2), monthAgo(1)];
const CLOCK = { now: () => new Date() };

const books = await openMonths();
const { world } = books;
let checkNumber = 1n;

const principal = (id: string, currency: AccountCurrency) =>
  ({ account: { id, currency } }) as unknown as Principal;

async function deed(accountId: string, currency: AccountCurrency, random: Random): Promise<void> {
  const priceMinor = BigInt(100 + random.below(MOST_MINOR));
  const paidBy = currency === 'USD' && random.below(2) === 0 ? 'CARD' : 'WALLET';
  const sale = { priceMinor, currency, costUsdE4: BigInt(1 + random.below(50_000)), paidBy } as const;
  const id = await books.open(accountId, sale);
  if (paidBy === 'CARD')
    await bookSeen(
      world,
      id,
      { currency, state: 'paid', netMinor: priceMinor, gatewayId: '1', gatewayStatus: 'success' },
      (checkNumber += 1n),
    );
  if (random.below(5) === 0) {
    await failPurchase(world, id, { reason: 'OUT_OF_STOCK', detail: 'a test' });
    return;
  }
  if (random.below(10) === 0) return;
  await settlePurchase(world, id);
  if (paidBy === 'CARD' && random.below(3) === 0) {
    const dispute = { disputeId: '1', gatewayStatus: 'pending', amount: null } as const;
    await saveDisputes(world, id, [{ ...dispute, state: 'open' }], (checkNumber += 1n));
  }
  if (paidBy === 'WALLET' && random.below(4) === 0) {
    const amountMinor = 1n + BigInt(random.below(Number(priceMinor)));
    await transfer(world, {
      operationKey: `act-${randomUUID()}`,
      kind: random.pick(['credit-wallet', 'a-kind-of-tomorrow']),
      transactionId: id,
      entries: [
        { account: `revenue:${currency}`, currency, amountMinor: -amountMinor },
        { account: `wallet:${accountId}`, currency, amountMinor },
      ],
    });
  }
}

async function booked(kind: string, month: Month, accountId?: string): Promise<Record<string, bigint>> {
  const { from, to } = rangeOf(month);
  const { rows } = await sql<{ currency: string; minor: bigint }>`
    select e.currency, sum(e.amount_minor)::int8 as minor
      from ledger_entries e join ledger_transactions t on t.id = e.ledger_transaction_id
      join ledger_accounts a on a.id = e.ledger_account_id
      left join purchases p on p.transaction_id = t.transaction_id
     where a.kind = ${kind} and t.created_at >= ${from} and t.created_at < ${to}
       and (${accountId ?? null}::text is null or coalesce(a.account_id, p.account_id) = ${accountId ?? null})
     group by 1 having sum(e.amount_minor) <> 0`.execute(world);
  return Object.fromEntries(rows.map(({ currency, minor }) => [currency, minor]));
}

const csvRows = (csv: string): string[][] =>
  csv
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(','));

async function expectStatements(accountId: string, currency: AccountCurrency): Promise<void> {
  let openingMinor = 0n;
  for (const month of MONTHS) {
    const who = principal(accountId, currency);
    const statement = await getStatement({ db: world, clock: CLOCK }, who, { month, limit: 1_000 });
    const moved = (await booked('wallet', month, accountId))[currency] ?? 0n;
    expect(statement.openingMinor).toBe(openingMinor);
    expect(statement.closingMinor - statement.openingMinor).toBe(moved);
    expect(statement.kinds.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)).toBe(moved);
    expect(statement.entries.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)).toBe(moved);
    expect(statement.entries.at(-1)?.balanceAfterMinor ?? openingMinor).toBe(statement.closingMinor);
    const { csv } = await exportStatement({ db: world, clock: CLOCK }, who, { month });
    const rows = csvRows(csv);
    expect(rows.reduce((sum, row) => sum + (parseMinor(row[4] ?? '') ?? 0n), 0n)).toBe(moved);
    openingMinor = statement.closingMinor;
  }
}

async function expectJournals(month: Month): Promise<void> {
  const journals = Map.groupBy(csvRows(await exportJournal({ db: world }, month)), ([number]) => number);
  const sums = new Map<string, bigint>();
  for (const lines of journals.values()) {
    let balance = 0n;
    for (const [, , code = '', , debit = '', credit = '', , currency = ''] of lines) {
      const minor = (parseMinor(credit) ?? 0n) - (parseMinor(debit) ?? 0n);
      balance += minor;
      sums.set(`${code} ${currency}`, (sums.get(`${code} ${currency}`) ?? 0n) + minor);
    }
    expect(balance).toBe(0n);
  }
  for (const [kind, code] of [
    ['revenue', '4000'],
    ['wallet', '2100'],
    ['held', '2200'],
    ['suspense', '2300'],
  ] as const)
    for (const [currency, minor] of Object.entries(await booked(kind, month)))
      expect(sums.get(`${code} ${currency}`), `${kind} in ${month}`).toBe(minor);
}

it(
  'papers of random months are their ledger, to the minor unit',
  () =>
    withSeed(async (seed) => {
      const random = createRandom(seed);
      await books.setCompany();
      const accounts = [
        { id: await books.account('NGN', FUNDS_MINOR), currency: 'NGN' },
        { id: await books.account('USD', FUNDS_MINOR), currency: 'USD' },
        { id: await books.account('USD', FUNDS_MINOR), currency: 'USD' },
      ] as const;
      for (let nth = 0; nth < DEEDS; nth += 1) {
        const { id, currency } = random.pick(accounts);
        await deed(id, currency, random);
      }
      await books.moveTo((nth) =>
        momentIn(nth === 0 ? MONTHS[0]! : random.pick(MONTHS), random.below(1_000_000) / 1_000_000),
      );
      for (const month of MONTHS) await books.close(month);
      for (const { id, currency } of accounts) await expectStatements(id, currency);
      for (const month of MONTHS) {
        for (const { id } of accounts) {
          const papers = await world
            .selectFrom('invoices')
            .selectAll()
            .where('account_id', '=', id)
            .where('month', '=', month)
            .execute();
          const invoiced = papers.filter(({ gross_minor: gross }) => gross !== 0n);
          const sums = Object.fromEntries(
            invoiced.map(({ currency, gross_minor: gross }) => [currency, gross]),
          );
          expect(sums).toEqual(await booked('revenue', month, id));
          for (const { gross_minor: gross, net_minor: net, tax_minor: tax, lines } of papers) {
            expect(net + tax).toBe(gross);
            expect(lines.reduce((sum, line) => sum + BigInt(line.grossMinor), 0n)).toBe(gross);
          }
        }
        await expectJournals(month);
      }
      const purchases = await world
        .selectFrom('purchases')
        .select(['transaction_id', 'account_id'])
        .execute();
      for (const { id, currency } of accounts) {
        const own = purchases.filter(({ account_id: of }) => of === id);
        const receipts = await Promise.all(
          own.map(({ transaction_id: of }) => getReceipt({ db: world }, principal(id, currency), of)),
        );
        let earned = 0n;
        for (const month of MONTHS) earned += (await booked('revenue', month, id))[currency] ?? 0n;
        expect(receipts.reduce((sum, { totalMinor }) => sum + totalMinor, 0n)).toBe(earned);
      }
    }),
  600_000,
);
