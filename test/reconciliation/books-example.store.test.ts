// The worked example of docs/RECONCILIATION.md, booked by the service's own verbs: every report shows the
// figures and the signs of that page, which were written by hand.
import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  readByMerchant,
  readDaily,
  readLedger,
  readTrialBalance,
  readWaiting,
  toTable,
  type Report,
} from '../../src/reconciliation/books.ts';
import { addMoney, newWallet } from '../support/money/stock.ts';
import { EVER, NOW, openSales } from './sales.support.ts';
import { formatAmount, type AccountCurrency } from '../../src/domain/money.ts';
import { insertAccount } from '../../src/accounts/store/accounts.ts';
import { saveDisputes } from '../../src/payments/store/disputes.ts';
import { bookSeen } from '../../src/purchases/store/payment-bookings.ts';
import { openFunding } from '../../src/payments/store/opening.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { newAccount, purchaseInput } from '../support/money/facts.ts';

const PAGE = readFileSync(new URL('../../docs/RECONCILIATION.md', import.meta.url), 'utf8');

const books = await openSales();
let checkNumber = 1n;
const [ada, bola] = [await account('ada@example.com', 'NGN'), await account('bola@example.com', 'USD')];
await addMoney(books.world, ada, { amountMinor: 1_000_000n, currency: 'NGN' });
const sale = { priceMinor: 400_000n, currency: 'NGN', costUsdE4: 20_000n } as const;
await settlePurchase(books.world, await books.open(ada, sale));
await books.open(ada, { ...sale, priceMinor: 150_000n, costUsdE4: 7_000n });
await settlePurchase(books.world, await payByCard(bola, 500n, 30_000n));
const disputed = await payByCard(bola, 800n, 50_000n);
await settlePurchase(books.world, disputed);
const dispute = { disputeId: '1', state: 'open', gatewayStatus: 'pending', amount: null } as const;
await saveDisputes(books.world, disputed, [dispute], (checkNumber += 1n));
const undeliverable = await payByCard(bola, 200n, 10_000n);
await failPurchase(books.world, undeliverable, { reason: 'OUT_OF_STOCK', detail: 'a test' });
await see(await fundByCard(bola, 100n), { state: 'reversed', netMinor: 0n });

async function account(email: string, currency: AccountCurrency): Promise<string> {
  const one = newAccount({ email, currency });
  await insertAccount(books.accounts, one);
  return newWallet(books.world, { accountId: one.id, fundsMinor: 0n, currency });
}

async function payByCard(accountId: string, priceMinor: bigint, costUsdE4: bigint): Promise<string> {
  const sale = { priceMinor, currency: 'USD', costUsdE4, paidBy: 'CARD' } as const;
  const transactionId = await books.open(accountId, sale);
  await see(transactionId, { state: 'paid', netMinor: priceMinor });
  return transactionId;
}

async function fundByCard(accountId: string, amountMinor: bigint): Promise<string> {
  const input = purchaseInput({ transactionId: `txn-${randomUUID()}`, accountId });
  const charge = { gateway: 'paystack', amountMinor: String(amountMinor), currency: 'USD', rateIds: [] };
  const funding = {
    ...input,
    amountMinor: String(amountMinor),
    currency: 'USD',
    charge,
    paymentMethod: 'CARD',
  } as const;
  await openFunding(books.world, funding, NOW, {});
  await see(input.transactionId, { state: 'paid', netMinor: amountMinor });
  return input.transactionId;
}

async function see(
  reference: string,
  seen: { readonly state: 'paid' | 'reversed'; readonly netMinor: bigint },
) {
  const gateway = { gatewayId: '1', gatewayStatus: 'success' };
  await bookSeen(books.world, reference, { currency: 'USD', ...seen, ...gateway }, (checkNumber += 1n));
}

/** The page's table that begins with these columns, as rows by column. */
function onPage(...columns: readonly string[]): Record<string, string>[] {
  const blocks = PAGE.slice(PAGE.indexOf('## A worked example')).split('\n\n');
  const cellsOf = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  for (const block of blocks) {
    const [head = '', , ...lines] = block.split('\n');
    const names = cellsOf(head);
    if (columns.some((column, at) => names[at] !== column)) continue;
    return lines.map((line) => Object.fromEntries(cellsOf(line).map((cell, at) => [names[at] ?? '', cell])));
  }
  throw new Error(`the page has no table of ${columns.join(', ')}`);
}

/** A report in the columns of the page's table. */
function inColumnsOf(page: readonly Record<string, string>[], report: Report): Record<string, string>[] {
  const { columns, rows } = toTable(report);
  const wanted = Object.keys(page[0] ?? {});
  return rows.map((row) =>
    Object.fromEntries(wanted.map((name) => [name, row[columns.indexOf(name)] ?? ''])),
  );
}

const hasMoney = ({ debit = '', credit = '' }: Record<string, string>): boolean =>
  [debit, credit].some((amount) => /[1-9]/.test(amount));

it('the trial balance shows each account on its side', async () => {
  const page = onPage('account', 'class');
  expect(inColumnsOf(page, await readTrialBalance({ db: books.world })).filter(hasMoney)).toEqual(page);
});

it('the books show each day', async () => {
  const page = onPage('day', 'currency');
  const today = new Date().toISOString().slice(0, 10);
  const shown = inColumnsOf(page, await readDaily({ db: books.world }, EVER));
  expect(shown.map((line) => ({ ...line, day: line['day']?.replace(today, '2026-11-21') }))).toEqual(page);
});

it('the books show each merchant', async () => {
  const page = onPage('email', 'currency');
  expect(inColumnsOf(page, await readByMerchant({ db: books.world }, EVER)).toSorted(byEmail)).toEqual(
    page.toSorted(byEmail),
  );
});

/** Ids of accounts have no fixed order. */
const byEmail = (one: Record<string, string>, other: Record<string, string>): number =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;

it('waiting money is counted and has an age', async () => {
  const page = onPage('waits_for', 'currency');
  const waiting = await readWaiting({ db: books.world });
  expect(inColumnsOf(page, waiting)).toEqual(page);
  for (const { oldestAt } of waiting.lines) expect(Date.now() - oldestAt.getTime()).toBeLessThan(600_000);
});

it('the ledger of a kind of accounts has the balance after each entry', async () => {
  const page = onPage('kind', 'account');
  const view = await readLedger({ db: books.world }, { id: 'suspense', limit: 50 });
  const lines = view.lines.map(({ kind, account: of, currency, ...line }) => {
    const decimal = (amountMinor: bigint): string => formatAmount({ amountMinor, currency });
    const [debit, credit] = [decimal(line.debitMinor), decimal(line.creditMinor)];
    return { kind, account: of, debit, credit, balance: decimal(line.balanceMinor ?? 0n) };
  });
  expect(lines).toEqual(page);
});
