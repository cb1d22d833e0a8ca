// Books of a shop with one package and the rates of a test, for what finance reads.
import { randomUUID } from 'node:crypto';
import { insertRates } from '../../src/catalogue/store/rates.ts';
import type { AccountCurrency } from '../../src/domain/money.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { purchaseInput } from '../support/money/facts.ts';
import { stockCatalogue } from '../support/money/stock.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

export const NOW = new Date('2026-03-01T10:00:00.000Z');
export const EVER = { from: new Date('2020-01-01T00:00:00.000Z'), to: new Date('2100-01-01T00:00:00.000Z') };

export interface Sale {
  readonly currency: AccountCurrency;
  readonly priceMinor: bigint;
  readonly costUsdE4: bigint;
  /** Which of the rates; the first by default. */
  readonly rate?: 0 | 1;
  readonly paidBy?: 'WALLET' | 'CARD';
}

/** A database for the tests of one file, and the reports on it. */
export async function openSales() {
  const books = await forFile(openBooks());
  await stockCatalogue(books.world, NOW);
  const rate = { currency: 'NGN', source: 'a test', observedAt: NOW, status: 'GOOD' } as const;
  const micros = [1_600_000_000n, 1_653_333_333n];
  await insertRates(
    books.world,
    micros.map((each) => ({ ...rate, micros: each })),
  );
  const rates = await books.world.selectFrom('exchange_rates').select('id').orderBy('id').execute();
  return {
    ...books,
    /** Its money is held, or awaited. */
    open: async (accountId: string, sale: Sale): Promise<string> => {
      const { currency, priceMinor, costUsdE4, rate: nth = 0, paidBy = 'WALLET' } = sale;
      const charge = { gateway: 'paystack', amountMinor: String(priceMinor), currency, rateIds: [] };
      const input = purchaseInput({
        transactionId: `txn-${randomUUID().replaceAll('-', '')}`,
        accountId,
        paymentMethod: paidBy,
        ...(paidBy === 'CARD' ? { charge } : {}),
        quote: {
          ...purchaseInput({ transactionId: 'txn-1' }).quote,
          priceMinor: String(priceMinor),
          currency,
          costUsdE4: String(costUsdE4),
          ...(currency === 'NGN' ? { rateId: String(rates[nth]?.id) } : {}),
        },
      });
      const opened = await openPurchase(books.world, input, { now: NOW, keepRefusal: () => false });
      if (opened.stage === 'failed') throw new Error(opened.refusal.detail);
      return input.transactionId;
    },
  };
}
