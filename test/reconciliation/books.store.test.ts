// The books: the trial balance nets to zero and names every account, a day's lines add up to it, costs are
// converted at the rate of each sale with one rounding per line, and all waiting money is listed. The
// service's own verbs write the ledger entries.
import { sql } from 'kysely';
import { readDaily, readTrialBalance, readWaiting, toCsv } from '../../src/reconciliation/books.ts';
import { describe, expect, it } from 'vitest';
import type { AccountCurrency } from '../../src/domain/money.ts';
import { divideHalfUp } from '../../src/domain/money.ts';
import { transfer } from '../../src/ledger/store/ledger.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { newWallet } from '../support/money/stock.ts';
import { EVER, NOW, openSales, type Sale } from './sales.support.ts';
import { failPurchase } from '../support/money/give-back.ts';

const FUNDS_MINOR = 100_000_000n;

const books = await openSales();
const walletOf = (currency: AccountCurrency) => newWallet(books.world, { fundsMinor: FUNDS_MINOR, currency });
const wallets = { NGN: await walletOf('NGN'), USD: await walletOf('USD') };

const open = (sale: Sale) => books.open(wallets[sale.currency], sale);

async function lineOf(account: string) {
  const { lines } = await readTrialBalance({ db: books.world });
  return lines.find((line) => line.account === account);
}

describe('the books', () => {
  it('name every account before the first sale, and net to zero', async () => {
    const { lines, totals } = await readTrialBalance({ db: books.world });
    expect(lines.map((line) => line.account)).toEqual(
      expect.arrayContaining(['held:NGN', 'revenue:USD', 'supplier-cost:USD4', 'wallet:NGN', 'wallet:USD']),
    );
    expect(totals).toEqual([
      { currency: 'NGN', debitMinor: FUNDS_MINOR, creditMinor: FUNDS_MINOR, isBalanced: true },
      { currency: 'USD', debitMinor: FUNDS_MINOR, creditMinor: FUNDS_MINOR, isBalanced: true },
      { currency: 'USD4', debitMinor: 0n, creditMinor: 0n, isBalanced: true },
    ]);
    expect((await readDaily({ db: books.world }, EVER)).lines).toEqual([]);
  });

  it('have each day’s sales, corrections and costs, converted at the rate of each sale and rounded once', async () => {
    const sales: Sale[] = [
      { currency: 'USD', priceMinor: 230n, costUsdE4: 20_001n },
      { currency: 'USD', priceMinor: 115n, costUsdE4: 10_050n },
      { currency: 'NGN', priceMinor: 379_040n, costUsdE4: 20_001n },
      { currency: 'NGN', priceMinor: 391_675n, costUsdE4: 20_003n, rate: 1 },
      { currency: 'NGN', priceMinor: 391_675n, costUsdE4: 7n, rate: 1 },
    ];
    let disputed = '';
    for (const sale of sales) {
      disputed = await open(sale);
      await settlePurchase(books.world, disputed);
    }
    const gone = await open({ currency: 'USD', priceMinor: 999n, costUsdE4: 50_000n });
    await failPurchase(books.world, gone, { reason: 'OUT_OF_STOCK', detail: 'a test' });
    await transfer(books.world, {
      operationKey: `${disputed}:disputed`,
      kind: 'disputed',
      transactionId: disputed,
      entries: [
        { account: 'revenue:NGN', currency: 'NGN', amountMinor: -391_675n },
        { account: 'suspense:NGN', currency: 'NGN', amountMinor: 391_675n },
      ],
    });
    // A reversal in the charge's own currency.
    const account = { currency: 'GHS', account_id: null };
    await books.owner
      .insertInto('ledger_accounts')
      .values(['revenue', 'suspense'].map((kind) => ({ id: `${kind}:GHS`, kind, ...account })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await transfer(books.world, {
      operationKey: 'action-dispute',
      kind: 'reversal-settled',
      transactionId: disputed,
      entries: [
        { account: 'revenue:GHS', currency: 'GHS', amountMinor: -77n },
        { account: 'suspense:GHS', currency: 'GHS', amountMinor: 77n },
      ],
    });
    const { lines } = await readDaily({ db: books.world }, EVER);
    const ngnCostMinor = divideHalfUp(
      20_001n * 1_600_000_000n + 20_003n * 1_653_333_333n + 7n * 1_653_333_333n,
      100_000_000n,
    );
    const today = new Date().toISOString().slice(0, 10);
    expect(lines).toEqual([
      {
        day: today,
        currency: 'GHS',
        packageType: 'BASE',
        deliveries: 0,
        soldMinor: 0n,
        ...{ correctedMinor: -77n, revenueMinor: -77n, marginMinor: -77n },
        ...{ costUsdE4: 0n, costMinor: 0n, marginBps: null },
      },
      {
        day: today,
        currency: 'NGN',
        packageType: 'BASE',
        deliveries: 3,
        soldMinor: 1_162_390n,
        correctedMinor: -391_675n,
        revenueMinor: 770_715n,
        costUsdE4: 40_011n,
        costMinor: ngnCostMinor,
        marginMinor: 770_715n - ngnCostMinor,
        marginBps: 1_555,
      },
      {
        day: today,
        currency: 'USD',
        packageType: 'BASE',
        deliveries: 2,
        soldMinor: 345n,
        correctedMinor: 0n,
        revenueMinor: 345n,
        costUsdE4: 30_051n,
        // 3.0051 dollars.
        costMinor: 301n,
        marginMinor: 44n,
        marginBps: 1_275,
      },
    ]);
    expect(await lineOf('revenue:NGN')).toMatchObject({ creditMinor: 770_715n, debitMinor: 0n });
    expect(await lineOf('supplier-cost:USD4')).toMatchObject({ debitMinor: 70_062n, creditMinor: 0n });
    expect(await lineOf('supplier-prepaid:esim-access:USD4')).toMatchObject({
      debitMinor: 0n,
      creditMinor: 70_062n,
    });
    const { totals } = await readTrialBalance({ db: books.world });
    expect(totals.every((total) => total.isBalanced)).toBe(true);
  });

  it('select a range by time, including its start and excluding its end', async () => {
    const { rows } = await sql<{
      at: Date;
    }>`select max(created_at) as at from ledger_transactions where kind = 'post'`.execute(books.owner);
    const last = rows[0]?.at ?? NOW;
    const before = await readDaily({ db: books.world }, { from: EVER.from, to: last });
    const after = await readDaily({ db: books.world }, { from: new Date(last.getTime() + 1), to: EVER.to });
    const count = (daily: typeof before) => daily.lines.reduce((sum, line) => sum + line.deliveries, 0);
    expect(count(before)).toBe(4);
    expect(count(after)).toBe(0);
    expect(after.lines.map((line) => line.correctedMinor)).toEqual([-77n, -391_675n]);
  });

  it('list all waiting money', async () => {
    await open({ currency: 'USD', priceMinor: 500n, costUsdE4: 1n });
    await open({ currency: 'USD', priceMinor: 250n, costUsdE4: 1n });
    await transfer(books.world, {
      operationKey: 'txn-gateway:received:NGN:1000',
      kind: 'payment-received',
      entries: [
        { account: 'gateway-clearing:paystack:NGN', currency: 'NGN', amountMinor: -1_000n },
        { account: 'suspense:NGN', currency: 'NGN', amountMinor: 1_000n },
      ],
    });
    const { lines } = await readWaiting({ db: books.world });
    const one = { items: 1, oldestAt: expect.any(Date) as Date };
    expect(lines).toEqual([
      { waitsFor: 'delivery', currency: 'USD', amountMinor: 750n, ...one, items: 2 },
      { waitsFor: 'dispute', currency: 'GHS', amountMinor: 77n, ...one },
      { waitsFor: 'dispute', currency: 'NGN', amountMinor: 392_675n, ...one, items: 2 },
      { waitsFor: 'payout-by-gateway', currency: 'NGN', amountMinor: 1_000n, ...one },
    ]);
  });

  it('can be sent as comma-separated values, amounts exact and without totals', async () => {
    const today = new Date().toISOString().slice(0, 10);
    expect(toCsv(await readDaily({ db: books.world }, EVER))).toBe(
      'day,currency,package_type,deliveries,sold,corrected,revenue,cost_usd,cost,margin,margin_percent\r\n' +
        `${today},GHS,BASE,0,0.00,-0.77,-0.77,0.0000,0.00,-0.77,\r\n` +
        `${today},NGN,BASE,3,11623.90,-3916.75,7707.15,4.0011,6508.48,1198.67,15.55\r\n` +
        `${today},USD,BASE,2,3.45,0.00,3.45,3.0051,3.01,0.44,12.75\r\n`,
    );
    const balance = toCsv(await readTrialBalance({ db: books.world }));
    expect(balance.startsWith('account,kind,class,currency,accounts,debit,credit\r\n')).toBe(true);
    expect(balance).toContain('supplier-cost:USD4,supplier-cost,expense,USD4,1,7.0062,0.0000\r\n');
    // A spreadsheet that sums a column would count totals again.
    expect(balance).not.toContain('total');
    expect(toCsv(await readWaiting({ db: books.world }))).toMatch(/^payout-by-gateway,NGN,10.00,1,20/m);
  });

  it('can be read by a role that may write, and write nothing themselves', async () => {
    const count = async () =>
      (await sql<{ n: string }>`select count(*)::text as n from ledger_entries`.execute(books.owner)).rows[0]
        ?.n;
    const before = await count();
    await Promise.all([
      readTrialBalance({ db: books.world }),
      readDaily({ db: books.world }, EVER),
      readWaiting({ db: books.world }),
    ]);
    expect(await count()).toBe(before);
  });

  it('count what is booked exactly at a limit on the day that begins there', async () => {
    const limit = new Date('2021-06-02T00:00:00.000Z');
    await sql`
      with booked as (
        insert into ledger_transactions (operation_key, kind, created_at) values ('limit', 'credit-wallet', ${limit}) returning id
      )
      insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
      select id, account, 'USD', minor from booked, (values ('revenue:USD', -5), ('funding:USD', 5)) entry (account, minor)`.execute(
      books.owner,
    );
    const dayMs = 24 * 3_600_000;
    const linesOf = async (from: number, to: number) =>
      (await readDaily({ db: books.world }, { from: new Date(from), to: new Date(to) })).lines;
    expect(await linesOf(limit.getTime() - dayMs, limit.getTime())).toEqual([]);
    expect(await linesOf(limit.getTime(), limit.getTime() + dayMs)).toMatchObject([{ day: '2021-06-02' }]);
  });
});
